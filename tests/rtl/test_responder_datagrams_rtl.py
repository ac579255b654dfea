# SPDX-License-Identifier: BSD-2-Clause
"""Datagrams to the responder of rtl/ against the reference model, between requests on RC."""

from __future__ import annotations

import random
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from responder_traffic import message, request
from responder_trial import PEER, RIGHTS, Trial

from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.headers import Deth, Extension, ImmDt
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

RC = QpSpec(service=Service.RC, remote=PEER, local_qpn=0x11, remote_qpn=0x22, access=RIGHTS)
UD = replace(RC, service=Service.UD, local_qpn=0x12, qkey=0x89ABCDEF, path_mtu=512)
SEND_ONLY, SEND_ONLY_IMM = 4, 5
DATAGRAMS = 60
SLOT = 640

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(
        shutil.which("verilator") is None,
        reason="verilator is not installed: run `make setup`",
    ),
]


def datagram(rng: random.Random, number: int) -> Packet:
    """A datagram from anybody, now and then of another key, or too long."""
    size = rng.choice((0, 1, 7, 64, 511, 512, 513, rng.randrange(512)))
    key = rng.choice((*[UD.qkey] * 6, UD.qkey ^ 1 << rng.randrange(32)))
    extensions: list[Extension] = [Deth(key, rng.getrandbits(24))]
    opcode = rng.choice((SEND_ONLY, SEND_ONLY_IMM))
    if opcode == SEND_ONLY_IMM:
        extensions.append(ImmDt(rng.getrandbits(32)))
    return request(UD, opcode, number, rng.randbytes(size), *extensions, ack=rng.random() < 0.2)


@pytest.mark.parametrize(
    "stalls",
    [{}, {"mem_stall": 50, "mem_latency": 30}, {"gap": 30, "cpl_stall": 60, "tx_stall": 40}],
    ids=str,
)
def test_datagrams_end_as_in_the_model(trial: Trial, stalls: dict[str, int]) -> None:
    rng = random.Random(len(stalls))
    trial.open(RC)
    trial.open(UD)
    region = trial.register(64)
    slots = trial.register(DATAGRAMS * SLOT)  # the first 20 bytes of each stay as they were
    closed = trial.register(DATAGRAMS * SLOT, access=RIGHTS - {"local_write"})
    psn = 0
    for number in range(DATAGRAMS):
        if len(trial.model.queue_pairs[UD.local_qpn].receives) < 2:
            trial.post_receive(
                UD.local_qpn,
                closed if number == DATAGRAMS // 2 else slots,
                offset=number * SLOT,
                length=rng.choice((40, 60, 300, SLOT, SLOT, SLOT)),
            )
        trial.send(build(datagram(rng, number)))
        if number % 3 == 0:
            to = region.addr + number % 32, region.rkey
            for packet in message(RC, psn, rng.randbytes(number % 30), to=to):
                trial.send(build(packet))
            psn += 1
        if number % 10 == 9:
            trial.settle()
    trial.run(**stalls)


def test_a_datagram_names_its_sender_and_leaves_its_header(trial: Trial) -> None:
    trial.open(UD)
    region = trial.register(SLOT)
    trial.post_receive(UD.local_qpn, region, offset=3, length=100)
    packet = request(UD, SEND_ONLY, 0, bytes(range(1, 50)), Deth(UD.qkey, 0x345678))
    trial.send(build(packet))
    happened = trial.run()
    assert [record.src_qpn for _, record in happened.completions] == [0x345678]
    assert happened.frames == []
    assert region.read(23, 20) == build(packet)[14:34]
