# SPDX-License-Identifier: BSD-2-Clause
"""Unreliable datagrams: who may send them, where they go, and that nothing is answered."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import UNASKED, WRONG_LENGTHS
from roceproof.conformance.suite.pattern import UD_SEND_ONLY, UD_SEND_ONLY_IMM, Pattern
from roceproof.conformance.suite.reporting.failure import AS_CONTRACTED
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.service import Service
from roceproof.verbs.work import Region

pytestmark = [RESPONDER, needs(Capability.UD)]

SIMULATED = ["hdl", "model"]
GUARD = b"\xc3" * 64


def delivers(qp: Connection, region: Region, receive: int, datagram: Pattern) -> None:
    """This datagram takes that receive, behind room for the network header."""
    datagram = qp.filled(datagram)
    qp.send(datagram)
    data = datagram.said["payload"]
    qp.receives(
        receive,
        byte_len=GRH_BYTES + len(data),
        immediate=datagram.said.get("imm"),
        src_qpn=datagram.said.get("src_qpn", qp.spec.remote_qpn),
    )
    assert region.read(GRH_BYTES, len(data)) == data, "other bytes than those of the datagram"


@case("UD-01", smoke=True)
def test_a_datagram_may_come_from_any_queue_pair(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    region = qp.region()
    for psn, sender in enumerate((2, 0xABCDEF, 0xFFFFFE)):
        datagram = UD_SEND_ONLY(psn=psn, payload=12, src_qpn=sender)
        delivers(qp, region, qp.post_receive(region), datagram)


@case("UD-02", smoke=True)
def test_a_datagram_with_another_q_key_is_dropped(bench: Bench) -> None:
    qp = bench.connect(Service.UD, qkey=0x11223344)
    region = qp.region()
    receive = qp.post_receive(region)
    wrong = (0x11223343, 0x11223345, 0x91223344, 0x44332211, 0)
    qp.send(*(UD_SEND_ONLY(psn=n, payload=9, qkey=qkey) for n, qkey in enumerate(wrong)))
    delivers(qp, region, receive, UD_SEND_ONLY(psn=5, payload=8))


@case("UD-05", smoke=True)
def test_a_datagram_that_its_receive_cannot_hold_is_dropped_or_ends_in_a_local_error(
    bench: Bench,
) -> None:
    qp, bystander = bench.connect(Service.UD), bench.connect(Service.UD)
    region, other = qp.region(), bystander.region()
    region.write(0, GUARD * 4)
    receive = qp.post_receive(region, length=GRH_BYTES + 31)
    qp.send(UD_SEND_ONLY(psn=0, payload=32))
    delivers(bystander, other, bystander.post_receive(other), UD_SEND_ONLY(psn=0, payload=8))
    outcomes = bench.target.completions(qp.qp, count=0, timeout_ns=0)
    assert [o.status for o in outcomes if o.wr_id == receive] in ([], ["loc_len_err"])
    qp.expect_silence()
    assert region.read(GRH_BYTES + 31, 64) == GUARD, "written behind the end of the receive"


@case("UD-05", needs=[Capability.LOCKSTEP, Capability.RESET], targets=SIMULATED)
@over("length", [0, pytest.param(1, marks=pytest.mark.smoke), 32, 255])
def test_a_datagram_is_held_by_the_room_behind_its_header(bench: Bench, length: int) -> None:
    """A receive that is too short by any byte keeps what lies behind it."""
    qp, draw = bench.connect(Service.UD), bench.random
    region = qp.region(GRH_BYTES + length + 2 * len(GUARD))
    for room in range(max(0, length - 1), length + GRH_BYTES + 2):
        qp.reconnect()
        region.write(0, bytes(region.size - 2 * len(GUARD)) + GUARD * 2)
        receive = qp.post_receive(region, length=room)
        datagram = UD_SEND_ONLY(psn=0, payload=draw.randbytes(length))
        if room >= GRH_BYTES + length:
            delivers(qp, region, receive, datagram)
            continue
        qp.send(datagram)
        qp.expect_silence()
        outcomes = bench.completions(qp, count=0, within_ns=0)
        behind = region.read(room, region.size - room)
        kept = (bytes(region.size - 2 * len(GUARD)) + GUARD * 2)[room:]
        if [each.status for each in outcomes] not in ([], ["loc_len_err"]) or behind != kept:
            raise bench.failed(
                f"a datagram of {length} bytes came into a receive of {room}, where {GRH_BYTES} of"
                " network header have to fit, too",
                rules=["UD-05"],
            )


@case("UD-05", smoke=True)
def test_a_datagram_that_just_fits_is_delivered(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    region = qp.region()
    for psn, length in enumerate((0, 1, 32, qp.mtu)):
        receive = qp.post_receive(region, length=GRH_BYTES + length)
        delivers(qp, region, receive, UD_SEND_ONLY(psn=psn, payload=length))


@case(AS_CONTRACTED, smoke=True, targets=SIMULATED, breaks=WRONG_LENGTHS)
def test_a_datagram_longer_than_the_path_mtu_fills_no_receive(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    region = qp.region(GRH_BYTES + 2 * qp.mtu)
    region.write(0, GUARD * (region.size // len(GUARD)))
    held = region.read(0, region.size)
    receive = qp.post_receive(region)
    for psn, more in enumerate((1, 4, 64)):
        qp.send(UD_SEND_ONLY(psn=psn, payload=qp.mtu + more))
        qp.expect_silence()
        if bench.completions(qp, count=0, within_ns=0) or region.read(0, region.size) != held:
            text = f"a datagram of {more} bytes more than the path MTU came into a receive"
            raise bench.failed(text, rules=[AS_CONTRACTED])
    delivers(qp, region, receive, UD_SEND_ONLY(psn=3, payload=qp.mtu))


@case("UD-07", "ACK-11", smoke=True, breaks=UNASKED)
@over(
    "datagram",
    [UD_SEND_ONLY(payload=8, a=1), UD_SEND_ONLY_IMM(payload=8, a=1, imm=7)],
    ids=["ONLY", "ONLY_IMM"],
)
def test_a_datagram_is_never_answered(bench: Bench, datagram: Pattern) -> None:
    qp = bench.connect(Service.UD)
    region = qp.region()
    receive = qp.post_receive(region)
    delivers(qp, region, receive, datagram)
    qp.send(datagram, datagram.but(qkey=1))
    qp.expect_silence()
    delivers(qp, region, qp.post_receive(region), datagram)
    qp.expect_silence()


@case("IMM-02", smoke=True)
def test_immediate_data_of_a_datagram_arrive_in_their_byte_order(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    region = qp.region()
    for psn, value in enumerate((0x01020304, 0, 0xFFFFFFFF)):
        datagram = UD_SEND_ONLY_IMM(psn=psn, payload=5, imm=value)
        delivers(qp, region, qp.post_receive(region), datagram)
