# SPDX-License-Identifier: BSD-2-Clause
"""READ in the responder of rtl/: what is answered, in which order, once more, and how fast."""

from __future__ import annotations

import random
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from responder_traffic import WRAP, message, read, request
from responder_trial import PEER, RIGHTS, Trial

from roceproof.conformance.model.memory import Region
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.headers import Reth
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

RC = QpSpec(
    service=Service.RC,
    remote=PEER,
    local_qpn=0x11,
    remote_qpn=0x22,
    access=RIGHTS,
    path_mtu=256,
    max_dest_rd_atomic=16,
)
MTU = 256
READ_FIRST, READ_ONLY, ACKNOWLEDGE = 0x0D, 0x10, 0x11
OPCODE, AETH = 42, 54  # their places in a response
INVALID, ACCESS = 0x61, 0x62

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(
        shutil.which("verilator") is None,
        reason="verilator is not installed: run `make setup`",
    ),
]


def filled(trial: Trial, spec: QpSpec, size: int) -> tuple[Region, int]:
    """Memory into which the peer has written, and the PSN behind that."""
    region = trial.register(size)
    data = random.Random(size).randbytes(size)
    packets = message(spec, spec.rq_psn, data, to=(region.addr, region.rkey))
    for packet in packets:
        trial.send(build(packet))
    return region, spec.rq_psn + len(packets)


def syndromes(trial: Trial, **plusargs: int) -> list[int]:
    """Of all acknowledgements, in the order in which they came."""
    frames = [frame for _, frame in trial.run(**plusargs).frames]
    return [frame[AETH] for frame in frames if frame[OPCODE] == ACKNOWLEDGE]


@pytest.mark.parametrize("stalls", [{}, {"mem_stall": 50, "mem_latency": 30, "tx_stall": 30}])
def test_every_length_is_read_from_every_lane(trial: Trial, stalls: dict[str, int]) -> None:
    rng = random.Random(3)
    spec = trial.open(replace(RC, rq_psn=WRAP - 40))
    region, psn = filled(trial, spec, 4096)
    lanes = trial.width // 8
    lengths = [*range(lanes + 5), *(MTU * n + more for n in (1, 2, 5) for more in (-1, 0, 1))]
    for length in lengths:
        at = region.addr + rng.randrange(region.size - length + 1)
        trial.send(build(read(spec, psn, (at, region.rkey), length)))
        psn += -(-length // MTU) or 1
        trial.settle()
    trial.run(**stalls)


def test_a_read_sees_what_was_written_before_and_not_what_comes_behind(trial: Trial) -> None:
    spec = trial.open(RC)
    region = trial.register(1024)
    to = region.addr, region.rkey
    psn = 0
    for number in range(6):
        for packet in message(spec, psn, bytes([number + 1]) * 700, to=to):
            trial.send(build(packet))
        trial.send(build(read(spec, psn + 3, to, 700)))
        psn += 6
    trial.run(mem_latency=60, tx_stall=50)


def test_a_read_again_is_answered_if_it_asks_for_nothing_new(trial: Trial) -> None:
    spec = trial.open(RC)
    region, psn = filled(trial, spec, 2048)
    other = trial.register(2048)
    start, key = region.addr + 10, region.rkey
    trial.send(build(read(spec, psn, (start, key), 5 * MTU - 3)))
    for skipped, address, length, rkey in (
        (0, start, 5 * MTU - 3, key),
        (1, start + MTU, 4 * MTU - 3, key),
        (4, start + 4 * MTU, MTU - 3, key),
        (0, start, 1, key),
        (0, start, 0, key),
        (2, start + 7, 3 * MTU, key),
        (0, start, 5 * MTU - 2, key),  # new from here on
        (0, start - 1, 8, key),
        (4, start, MTU + 1, key),
        (3, start, 3 * MTU, key),
        (4, start + 5 * MTU - 10, 8, key),
        (1, start, 8, key ^ 1 << 31),
        (1, other.addr, 8, other.rkey),
        (-1, start, 8, key),
    ):
        trial.send(build(read(spec, psn + skipped, (address, rkey), length)))
    trial.run()


@pytest.mark.parametrize("limit", [1, 2, 5, 16, 200])
def test_as_many_reads_as_there_may_be_are_known_again(trial: Trial, limit: int) -> None:
    spec = trial.open(replace(RC, max_dest_rd_atomic=min(limit, 16), rq_psn=WRAP - 10))
    region, psn = filled(trial, spec, 64)
    to = region.addr, region.rkey
    for number in range(20):
        trial.send(build(read(spec, psn + number, to, 8 + number)))
        trial.settle()
    for number in range(20):
        trial.send(build(read(spec, psn + number, to, 8 + number)))
    trial.run()


def test_a_queue_pair_that_begins_again_remembers_no_read(trial: Trial) -> None:
    spec = trial.open(RC)
    region, psn = filled(trial, spec, 64)
    again = read(spec, psn, (region.addr, region.rkey), 8)
    trial.send(build(again))
    trial.open(replace(spec, rq_psn=psn + 5))
    trial.send(build(again))
    trial.run()


def test_memory_that_may_not_be_read_is_refused(trial: Trial) -> None:
    good = trial.register(64)
    bad = (
        (trial.register(64, is_foreign=True), 0, 8),
        (trial.register(64, access=RIGHTS - {"remote_read"}), 0, 8),
        (good, 57, 8),
        (good, -1, 8),
        (good, 0, 65),
    )
    for number, (region, offset, length) in enumerate(bad):
        spec = trial.open(replace(RC, local_qpn=0x11 + number))
        at = region.addr + offset, region.rkey
        trial.send(build(read(spec, 0, at, length)))
        trial.send(build(read(spec, 0, (good.addr, good.rkey), 8)))  # to a queue pair that failed
    spec = trial.open(replace(RC, local_qpn=0x1A))
    trial.send(build(read(spec, 0, (5, 0x55), 0)))  # nothing may be read anywhere
    assert syndromes(trial) == [ACCESS] * len(bad)


def test_a_read_that_the_queue_pair_does_not_allow_is_invalid(trial: Trial) -> None:
    region = trial.register(64)
    to = region.addr, region.rkey
    for number, spec in enumerate(
        (replace(RC, access=RIGHTS - {"remote_read"}), replace(RC, max_dest_rd_atomic=0), RC, RC)
    ):
        opened = trial.open(replace(spec, local_qpn=0x11 + number))
        if number == 2:
            trial.send(build(request(opened, 0x0C, 0, bytes(8), Reth(*to, 8))))  # has payload
        trial.send(build(read(opened, 0, to, 8 if number < 3 else (1 << 31) + 1)))
    assert syndromes(trial) == [INVALID] * 4


def test_a_read_amid_a_message_is_invalid_but_a_repeated_one_is_not(trial: Trial) -> None:
    spec = trial.open(RC)
    region, psn = filled(trial, spec, 1024)
    to = region.addr, region.rkey
    trial.send(build(read(spec, psn, to, 8)))
    packets = message(spec, psn + 1, bytes([3]) * 3 * MTU, to=to)
    trial.send(build(packets[0]))
    trial.send(build(read(spec, psn, to, 8)))
    trial.send(build(packets[1]))
    trial.send(build(read(spec, psn + 3, to, 8)))
    trial.run()


def test_a_repeated_read_of_memory_that_is_gone_fails(trial: Trial) -> None:
    spec = trial.open(RC)
    region, psn = filled(trial, spec, 1024)
    trial.post_receive(spec.local_qpn, region, length=64)
    trial.send(build(read(spec, psn, (region.addr, region.rkey), 600)))
    trial.deregister(region)
    trial.send(build(read(spec, psn + 1, (region.addr + MTU, region.rkey), 100)))
    happened = trial.run()
    assert happened.frames[-1][1][AETH] == ACCESS
    assert [each.status.name for _, each in happened.completions] == ["WR_FLUSH_ERR"]


def test_a_region_is_forgotten_when_what_was_asked_of_it_has_been_read(trial: Trial) -> None:
    spec = trial.open(RC)
    region, psn = filled(trial, spec, 1024)
    trial.settle()
    trial.send(build(read(spec, psn, (region.addr, region.rkey), 1024)))
    trial.pause(60)
    trial.deregister(region, settled=False)
    happened = trial.run(tx_stall=80, mem_latency=40)
    assert happened.reads[-1][0] < happened.told[-1]
    assert happened.frames[-1][0] < happened.told[-1]


def test_reads_beyond_the_limit_are_refused_behind_the_answers_to_those_before(
    trial: Trial,
) -> None:
    spec = trial.open(replace(RC, max_dest_rd_atomic=2))
    region, psn = filled(trial, spec, 2048)
    trial.settle()
    for number in range(3):
        trial.send(build(read(spec, psn + 8 * number, (region.addr, region.rkey), 2048)))
    frames = [frame for _, frame in trial.simulate(tx_stall=50).frames][-17:]
    psns = [packet.bth.psn for frame in frames if (packet := parse(frame)) is not None]
    assert psns == [*range(psn, psn + 17)]
    assert [frame[OPCODE] for frame in frames].count(READ_FIRST) == 2
    assert frames[-1][AETH] == INVALID
