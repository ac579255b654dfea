# SPDX-License-Identifier: BSD-2-Clause
"""The responder of rtl/ against the reference model: what it answers, completes and writes."""

from __future__ import annotations

import random
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from responder_traffic import SEND, WRAP, WRITE, message, request, wandering
from responder_trial import PEER, RIGHTS, Trial
from rtl_frames import replaced, roce

from roceproof.conformance.wire.codec import build
from roceproof.conformance.wire.headers import Reth
from roceproof.dpi.contract.receive_records import ReceiveFlags
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service

RC = QpSpec(service=Service.RC, remote=PEER, local_qpn=0x11, remote_qpn=0x22, access=RIGHTS)
UC = replace(RC, service=Service.UC, local_qpn=0x12)
DEPTH = 16  # receives that one queue pair holds
HALF = WRAP // 2
AETH = 54  # its place in an acknowledgement
SYNDROME_INVALID = 0x61

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(
        shutil.which("verilator") is None,
        reason="verilator is not installed: run `make setup`",
    ),
]


STALLS = (
    {},
    {"gap": 30},
    {"mem_stall": 60, "mem_latency": 40},
    {"tx_stall": 80},
    {"cpl_stall": 90, "mem_latency": 200},
    {"gap": 20, "mem_stall": 30, "tx_stall": 30, "cpl_stall": 30, "mem_latency": 7},
)


@pytest.mark.parametrize("seed", range(len(STALLS)))
def test_random_traffic_ends_as_in_the_model(trial: Trial, seed: int) -> None:
    wandering(trial, random.Random(seed), qps=5, messages=150)
    trial.run(**STALLS[seed])


def test_every_length_lands_at_every_lane(trial: Trial) -> None:
    rng = random.Random(1)
    region = trial.register(1024)
    trial.open(RC)
    trial.open(UC)
    lanes = trial.width // 8
    lengths = [*range(2 * lanes + 3), 1023, 1024]
    for psn, size in enumerate(lengths):
        at = region.addr + rng.randrange(region.size - size + 1), region.rkey
        for spec in (RC, UC):
            (packet,) = message(spec, psn, rng.randbytes(size), to=at)
            trial.send(build(packet))
    happened = trial.run()
    assert len(happened.frames) == len(lengths)


@pytest.mark.parametrize("stalls", [{"mem_latency": 300}, {"mem_stall": 90}], ids=str)
def test_nothing_is_said_of_bytes_that_are_not_in_memory(
    trial: Trial, stalls: dict[str, int]
) -> None:
    region = trial.register(4096)
    trial.open(RC)
    for _ in range(8):
        trial.post_receive(RC.local_qpn, region, length=512)
    for psn in range(16):
        to = (region.addr + 512, region.rkey) if psn % 2 else None
        (packet,) = message(RC, psn, bytes([psn + 1]) * 400, to=to)
        trial.send(build(packet))
    happened = trial.run(**stalls)
    done = [cycle for cycle, _, _ in happened.writes]
    for number, (cycle, _) in enumerate(happened.frames):
        assert done[number] < cycle
    for number, (cycle, _) in enumerate(happened.completions):
        assert done[2 * number] < cycle


def test_slow_memory_holds_the_wire_and_loses_nothing(trial: Trial) -> None:
    region = trial.register(16 * 4096)
    spec = trial.open(replace(RC, path_mtu=4096))
    data = random.Random(2).randbytes(region.size)
    for packet in message(spec, 0, data, to=(region.addr, region.rkey)):
        trial.send(build(packet))
    assert trial.run(mem_stall=85).stalled > 0


def test_short_packets_back_to_back_are_all_served(trial: Trial) -> None:
    region = trial.register(256)
    trial.open(RC)
    trial.open(UC)
    for psn in range(120):
        for spec in (RC, UC):
            (packet,) = message(spec, psn, bytes(psn % 3), to=(region.addr + psn, region.rkey))
            trial.send(build(packet))
    assert len(trial.run(tx_stall=50).frames) == 120


@pytest.mark.parametrize(
    "steps", [1, 2, 100, HALF - 1, HALF, HALF + 1, WRAP - 100, WRAP - 2, WRAP - 1]
)
@pytest.mark.parametrize("start", [0, WRAP - 2])
def test_psns_ahead_and_behind(trial: Trial, steps: int, start: int) -> None:
    region = trial.register(64)
    spec = trial.open(replace(RC, rq_psn=start))
    to = region.addr, region.rkey
    for psn in (0, 1, 2, 3 + steps, 3 + steps, 4 + steps, 3):
        for packet in message(spec, start + psn, bytes([psn % 255 + 1]), to=to):
            trial.send(build(packet))
    trial.run()


def test_a_packet_beyond_every_path_mtu_is_refused_and_forgotten(trial: Trial) -> None:
    region = trial.register(8192)
    spec = trial.open(replace(RC, path_mtu=4096))
    trial.open(UC)
    to = region.addr, region.rkey
    for size in (4097, 4100, 8192):
        large = request(spec, WRITE + 4, 0, bytes([1]) * size, Reth(*to, size))
        trial.send(build(replace(large, bth=replace(large.bth, opcode=0x2A, dest_qpn=0x12))))
    trial.send(build(request(spec, WRITE + 4, 0, bytes([2]) * 8000, Reth(*to, 8000))))
    for packet in message(UC, 7, bytes(range(200)), to=to):
        trial.send(build(packet))
    happened = trial.run()
    ((_, refusal),) = happened.frames
    assert refusal[AETH] == SYNDROME_INVALID
    assert len(happened.writes) == 1


def test_a_region_that_is_forgotten_takes_no_more(trial: Trial) -> None:
    region, other = trial.register(4096), trial.register(4096)
    spec = trial.open(replace(RC, path_mtu=256))
    packets = message(spec, 0, bytes([7]) * 1024, to=(region.addr, region.rkey))
    for packet in packets[:2]:
        trial.send(build(packet))
    trial.deregister(region)
    trial.send(build(packets[2]))
    again = trial.open(replace(spec, rq_psn=4))
    for packet in message(again, 4, bytes([9]) * 300, to=(other.addr, other.rkey)):
        trial.send(build(packet))
    trial.run()


def test_states_decide_what_is_taken(trial: Trial) -> None:
    region = trial.register(512)
    to = region.addr, region.rkey
    spec = trial.open(replace(RC, state=State.INIT))
    trial.post_receive(spec.local_qpn, region, length=100)
    trial.post_receive(spec.local_qpn, region, length=100)
    trial.post_receive(spec.local_qpn, region, offset=100, length=100)

    def write(psn: int) -> None:
        for packet in message(spec, psn, bytes([psn + 1]) * 8, to=to):
            trial.send(build(packet))

    write(0)
    trial.enter(spec.local_qpn, State.RTR)
    write(0)
    (send,) = message(spec, 1, b"to the first receive")
    trial.send(build(send))
    trial.enter(spec.local_qpn, State.ERR)
    trial.post_receive(spec.local_qpn, region, length=1)
    write(2)
    trial.open(replace(RC, state=State.RESET))
    write(2)
    trial.open(RC)
    write(0)
    happened = trial.run()
    assert [each.status.name for _, each in happened.completions] == [
        "SUCCESS",
        *["WR_FLUSH_ERR"] * 3,
    ]


@pytest.mark.parametrize("is_write", [True, False], ids=["WRITE", "SEND"])
def test_a_uc_message_with_a_gap_is_gone_and_the_next_one_lands(
    trial: Trial, is_write: bool
) -> None:
    region = trial.register(8192)
    spec = trial.open(replace(UC, path_mtu=256))
    for number in range(8):
        trial.post_receive(spec.local_qpn, region, offset=1000 * number, length=1000)
    psn = 0
    for kept in ("023", "013", "12", "0123", "01", "0123", "0123"):
        to = (region.addr + psn * 200, region.rkey) if is_write else None
        packets = message(spec, psn, bytes([psn + 1]) * 900, to=to)
        for number, packet in enumerate(packets):
            if str(number) in kept:
                trial.send(build(packet))
        psn += len(packets)
    trial.run()


def test_memory_of_another_domain_or_without_the_right_is_refused(trial: Trial) -> None:
    good = trial.register(64)
    bad = (
        trial.register(64, is_foreign=True),
        trial.register(64, access=RIGHTS - {"remote_write"}),
    )
    for number, region in enumerate((*bad, good)):
        spec = trial.open(replace(RC, local_qpn=0x11 + number))
        for packet in message(spec, 0, b"12345678", to=(region.addr, region.rkey)):
            trial.send(build(packet))
    assert len(trial.run().writes) == 1


@pytest.mark.parametrize("command", ["region", "queue pair"])
def test_what_the_host_says_waits_until_what_came_before_is_in_memory(
    trial: Trial, command: str
) -> None:
    region, other = trial.register(64), trial.register(64)
    spec = trial.open(RC)
    (packet,) = message(spec, 0, b"before", to=(region.addr, region.rkey))
    trial.send(build(packet))
    trial.pause(40)  # decided on, and on its way to memory
    if command == "region":
        trial.deregister(region, settled=False)
    else:
        trial.open(replace(RC, rq_psn=9), settled=False)
    trial.pause(1000)
    (packet,) = message(spec, 1 if command == "region" else 9, b"2", to=(other.addr, other.rkey))
    trial.send(build(packet))
    happened = trial.run(mem_latency=500)
    assert happened.writes[0][0] < happened.told[-1]


@pytest.mark.parametrize("service", [Service.RC, Service.UD])
def test_a_queue_pair_of_another_service_receives_nothing(trial: Trial, service: Service) -> None:
    region = trial.register(64)
    trial.open(replace(UC, service=service))
    for packet in message(UC, 0, b"12345678", to=(region.addr, region.rkey)):
        trial.send(build(packet))
    assert not trial.run().writes


def test_a_queue_pair_that_begins_again_has_no_receives(trial: Trial) -> None:
    region = trial.register(64)
    for _ in range(2):
        trial.open(RC)
        (send,) = message(RC, 0, b"12345678")
        trial.send(build(send))
        trial.post_receive(RC.local_qpn, region, length=8)
    assert not trial.run().writes


def test_a_wrong_header_checksum_drops_a_request(trial: Trial) -> None:
    region = trial.register(64)
    spec = trial.open(RC)
    (packet,) = message(spec, 0, b"12345678", to=(region.addr, region.rkey))
    trial.send(replaced(build(packet), 24, b"\x12\x34"))
    trial.send(replaced(build(packet), 22, b"\x10"))  # TTL changed, checksum not
    assert not trial.run().frames
    trial.send(build(packet))
    assert len(trial.run().frames) == 1


def test_lengths_that_no_message_has_are_refused(trial: Trial) -> None:
    region = trial.register(4096)
    to = region.addr, region.rkey
    full = bytes(RC.path_mtu)

    def opened(number: int) -> QpSpec:
        spec = trial.open(replace(RC, local_qpn=0x11 + number))
        trial.post_receive(spec.local_qpn, region, length=4096)
        return spec

    first = opened(0)  # a LAST without payload
    trial.send(build(request(first, WRITE, 0, full, Reth(*to, RC.path_mtu))))
    trial.send(build(request(first, WRITE + 2, 1)))
    second = opened(1)
    trial.send(build(request(second, SEND, 0, full)))
    trial.send(build(request(second, SEND + 2, 1)))
    for number, length in enumerate(((1 << 31) + 1, (1 << 32) - 1, 1 << 31), start=2):
        spec = opened(number)  # more than any message has; then as much, but more than the region
        trial.send(build(request(spec, WRITE, 0, full, Reth(*to, length))))
    happened = trial.run()
    refusals = [frame[AETH] for _, frame in happened.frames if frame[AETH] != 0x1F]
    assert refusals == [SYNDROME_INVALID] * 4 + [0x62]


def test_a_receive_without_its_memory_is_an_operational_error(trial: Trial) -> None:
    regions = [
        trial.register(64),
        trial.register(64, access=RIGHTS - {"local_write"}),
        trial.register(64),
    ]
    lengths = 64, 64, 65
    for number, (region, length) in enumerate(zip(regions, lengths, strict=True)):
        spec = trial.open(replace(RC, local_qpn=0x11 + number))
        trial.post_receive(spec.local_qpn, region, length=length)
        if number == 0:
            trial.deregister(region)
        for packet in message(spec, 0, b"12345678"):
            trial.send(build(packet))
    happened = trial.run()
    assert [frame[AETH] for _, frame in happened.frames] == [0x63] * len(regions)


def test_a_key_that_is_nearly_the_regions_is_refused(trial: Trial) -> None:
    region = trial.register(64)
    for number, flipped in enumerate((1 << 4, 1 << 8, 1 << 31, 0xA500_0000)):
        spec = trial.open(replace(RC, local_qpn=0x11 + number))
        for packet in message(spec, 0, b"12345678", to=(region.addr, region.rkey ^ flipped)):
            trial.send(build(packet))
    assert not trial.run().writes


def test_a_packet_that_does_not_fill_words_is_dropped(trial: Trial) -> None:
    region = trial.register(64)
    spec = trial.open(RC)
    opening = Reth(region.addr, region.rkey, 5).pack()
    trial.send(roce(WRITE + 4, opening + b"12345", dest_qpn=spec.local_qpn, psn=0))
    trial.send(roce(WRITE + 4, opening + b"12345", pad_count=1, dest_qpn=spec.local_qpn, psn=0))
    assert not trial.run().frames


def test_a_full_receive_queue_waits_for_a_message(trial: Trial) -> None:
    region = trial.register(4096)
    trial.open(RC)
    for number in range(DEPTH):
        trial.post_receive(RC.local_qpn, region, offset=8 * number, length=8)
    for psn in range(3):
        (send,) = message(RC, psn, bytes([psn + 1]) * 8)
        trial.send(build(send))
        trial.post_receive(RC.local_qpn, region, offset=1000, length=8, settled=False)
    (send,) = message(RC, 3, b"fourth")
    trial.send(build(send))
    assert len(trial.run().completions) == 4


def test_a_message_in_a_receive_that_fails_is_the_receives_end(trial: Trial) -> None:
    region = trial.register(4096)
    for number, size in enumerate((600, 500, 0)):
        spec = trial.open(replace(RC, local_qpn=0x11 + number, path_mtu=256))
        trial.post_receive(spec.local_qpn, region, length=size)
        trial.post_receive(spec.local_qpn, region, length=8)
        for packet in message(spec, 0, bytes(520))[:2]:
            trial.send(build(packet))
        trial.send(build(request(spec, SEND + 1, 2, bytes(256))))
    trial.run()


def test_a_completion_says_what_came_with_the_message(trial: Trial) -> None:
    region = trial.register(512)
    for spec in (RC, UC):
        trial.open(spec)
        for number in range(4):
            trial.post_receive(spec.local_qpn, region, offset=number * 64, length=64)
        psn = 0
        for solicited in (True, False):
            for to in (None, (region.addr, region.rkey)):
                (packet,) = message(spec, psn, b"x", to=to, immediate=psn, solicited=solicited)
                trial.send(build(packet))
                psn += 1
    happened = trial.run()
    wanted = [ReceiveFlags.IMMEDIATE | ReceiveFlags.SOLICITED] * 2 + [ReceiveFlags.IMMEDIATE] * 2
    assert [each.flags for _, each in happened.completions] == wanted * 2
    assert {each.src_qpn for _, each in happened.completions} == {RC.remote_qpn}
