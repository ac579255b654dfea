# SPDX-License-Identifier: BSD-2-Clause
"""What a responder refuses: with which code, at which PSN, how often, and what comes behind."""

from collections.abc import Callable

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_ORDER, OUT_OF_SEQUENCE, UNASKED, WRONG_LENGTHS
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    ACKNOWLEDGE,
    INVALID_REQUEST,
    NAK,
    OPERATIONAL_ERROR,
    READ_REQUEST,
    READ_RESP_ONLY,
    SEND_LAST,
    SEND_MIDDLE,
    SEND_ONLY,
    SEQUENCE_ERROR,
    UD_SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
)
from roceproof.conformance.suite.sweep import accepts_each
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = RESPONDER

INVALID, ACCESS, ANY_RNR = 0x61, 0x62, "RNR"
NOT_WRITABLE = FULL_ACCESS - {"remote_write"}
Fault = Callable[[Connection, int], Pattern]


def out_of_order(_qp: Connection, psn: int) -> Pattern:
    """A request that continues no message."""
    return WRITE_LAST(psn=psn, payload=8, a=1)


def wrong_key(qp: Connection, psn: int) -> Pattern:
    """A WRITE whose key nobody has given out."""
    region = qp.region()
    return WRITE_ONLY(psn=psn, payload=8, a=1, va=region.addr, rkey=region.wrong_key(0x55))


def wrong_read_key(qp: Connection, psn: int) -> Pattern:
    """A READ of three packets whose key nobody has given out."""
    region = qp.region()
    key = region.wrong_key(0x55)
    return READ_REQUEST(psn=psn, dmalen=3 * qp.mtu, va=region.addr, rkey=key)


def unusable_receive(qp: Connection, psn: int) -> Pattern:
    """A SEND whose receive has lost its memory."""
    region = qp.region()
    qp.post_receive(region)
    region.deregister()
    return SEND_ONLY(psn=psn, payload=8, a=1)


FATAL: dict[Fault, int] = {
    out_of_order: INVALID_REQUEST,
    wrong_key: ACCESS_ERROR,
    wrong_read_key: ACCESS_ERROR,
    unusable_receive: OPERATIONAL_ERROR,
}
over_faults = over("fault", FATAL, ids=lambda fault: fault.__name__)


@case("NAK-01", "NAK-02", smoke=True)
def test_a_gap_draws_one_nak_at_the_missing_psn(bench: Bench) -> None:
    qp = bench.connect()
    accepts_each(qp, [WRITE_ONLY()])
    qp.send(WRITE_ONLY(psn=2, a=1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=1, msn=1))
    qp.drops(*(WRITE_ONLY(psn=psn, a=1) for psn in range(3, 103)), fence=1, msn=2)


@case("NAK-02", smoke=True)
def test_a_burst_behind_a_gap_draws_one_nak(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(*(WRITE_ONLY(psn=psn, a=1) for psn in range(1, 101)))
    qp.expect(NAK(SEQUENCE_ERROR, psn=0))
    qp.fence(0)


@case("NAK-03", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_a_new_gap_draws_a_new_nak(bench: Bench) -> None:
    qp = bench.connect()
    for gap in (0, 1, 2):
        qp.send(WRITE_ONLY(psn=gap + 1, a=1))
        qp.expect(NAK(SEQUENCE_ERROR, psn=gap))
        qp.send(WRITE_ONLY(psn=gap, a=1))
        qp.expect(ACK(psn=gap))
    qp.fence(3)


@case("NAK-03", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_a_new_gap_inside_a_message_draws_a_new_nak(bench: Bench) -> None:
    qp = bench.connect()
    first = WRITE_FIRST(payload=qp.mtu, dmalen=3 * qp.mtu + 4, **at(qp.region()))
    packets = [first, *[WRITE_MIDDLE(payload=qp.mtu, a=1)] * 2, WRITE_LAST(payload=4, a=1)]
    packets = [packet.but(psn=psn) for psn, packet in enumerate(packets)]
    qp.send(packets[0])
    for gap in (1, 2):
        qp.send(packets[gap + 1])
        qp.expect(NAK(SEQUENCE_ERROR, psn=gap))
        qp.send(packets[gap])
        qp.expect(ACK(psn=gap))
    accepts_each(qp, packets[3:], start=3)
    qp.fence(4)


@case("NAK-04", smoke=True)
def test_a_gap_that_stays_is_filled_however_late(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=1, a=1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=0))
    again = NAK(SEQUENCE_ERROR, psn=0)
    for _ in range(3):
        qp.send(WRITE_ONLY(psn=1, a=1), WRITE_ONLY(psn=2, a=1))
        bench.settle()
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, msn=1), allowing=[again])
    accepts_each(qp, [WRITE_ONLY()] * 2, start=1)


@case("NAK-05", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_duplicates_are_served_while_a_nak_is_out(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(8, filled=True)
    number = qp.post_receive(qp.region())
    qp.send(SEND_ONLY(psn=0, payload=4, a=1))
    qp.expect(ACK(psn=0))
    qp.receives(number)
    reads = [READ_REQUEST(psn=1, dmalen=8, **at(region))] * qp.executes(Op.READ)
    data = [READ_RESP_ONLY(psn=1, payload=region.read(0, 8))] * len(reads)
    due = 1 + len(reads)
    qp.send(*reads)
    qp.expect(*data)
    qp.send(WRITE_ONLY(psn=due + 1, a=1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=due))
    qp.send(SEND_ONLY(psn=0, payload=4, a=1))
    qp.expect(ACK(psn=0, msn=due))
    qp.send(*reads)
    qp.expect(*data)
    qp.fence(due)


@case("NAK-02", "NAK-05", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_a_duplicate_behind_a_nak_brings_no_second_one(bench: Bench) -> None:
    qp = bench.connect()
    accepts_each(qp, [WRITE_ONLY()])
    qp.send(WRITE_ONLY(psn=2, a=1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=1, msn=1))
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, msn=1))
    qp.drops(WRITE_ONLY(psn=2, a=1), fence=1, msn=2)


@case("NAK-07", "MSN-05", "NAK-15", breaks=OUT_OF_ORDER)
@over_faults
def test_a_fatal_nak_names_the_request_that_failed(bench: Bench, fault: Fault) -> None:
    qp = bench.connect()
    accepts_each(qp, [WRITE_ONLY()] * 3)
    qp.send(fault(qp, 3))
    qp.expect(NAK(FATAL[fault], psn=3, msn=3))


@case("NAK-08", breaks=OUT_OF_SEQUENCE | OUT_OF_ORDER, smoke=True)
@over_faults
def test_a_responder_is_silent_after_a_fatal_nak(bench: Bench, fault: Fault) -> None:
    qp = bench.connect()
    accepts_each(qp, [WRITE_ONLY()])
    qp.send(fault(qp, 1))
    qp.expect(NAK(FATAL[fault], psn=1))
    qp.send(*(WRITE_ONLY(psn=psn, a=1) for psn in (1, 2, 0, 5)))
    if qp.executes(Op.READ):
        qp.send(READ_REQUEST(psn=1))
    qp.expect_silence()


@case("NAK-08", smoke=True)
def test_a_fatal_nak_is_the_end_of_one_queue_pair_only(bench: Bench) -> None:
    qp, bystander = bench.connect(), bench.bystander()
    qp.send(out_of_order(qp, 0))
    qp.expect(NAK(INVALID_REQUEST, psn=0))
    bystander.fence(0)
    qp.reconnect()
    qp.fence(0)


@case("NAK-11", smoke=True, needs=[Capability.UC], breaks=OUT_OF_SEQUENCE | WRONG_LENGTHS | UNASKED)
def test_uc_never_draws_a_nak(bench: Bench) -> None:
    qp = bench.connect(Service.UC)
    region = qp.region(access=NOT_WRITABLE)
    qp.send(
        WRITE_ONLY(psn=5, payload=8, a=1, **at(region)),
        wrong_key(qp, 6),
        SEND_ONLY(psn=7, payload=4, a=1),
        WRITE_ONLY_IMM(psn=8, a=1),
        WRITE_ONLY(psn=9, payload=8, dmalen=16, a=1, **at(qp.region())),
        WRITE_ONLY(psn=10, payload=qp.mtu + 4, a=1, **at(qp.region())),
        SEND_MIDDLE(psn=20, payload=qp.mtu, a=1),
        SEND_LAST(psn=21, payload=3, a=1),
        WRITE_LAST(psn=22, payload=3, a=1),
    )
    qp.fence(23)


@case("NAK-11", smoke=True, needs=[Capability.UD], breaks=WRONG_LENGTHS | UNASKED)
def test_ud_never_draws_a_nak(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    qp.send(UD_SEND_ONLY(payload=8, a=1), UD_SEND_ONLY(payload=8, a=1, qkey=qp.spec.qkey ^ 1))
    qp.post_receive(qp.region(), length=41)
    qp.send(UD_SEND_ONLY(payload=8, a=1), UD_SEND_ONLY(payload=qp.mtu + 4, a=1))
    qp.expect_silence()


@case("NAK-12", breaks=OUT_OF_ORDER)
@over_faults
def test_acks_that_are_due_come_before_a_fatal_nak(bench: Bench, fault: Fault) -> None:
    qp = bench.connect()
    bad = fault(qp, 8)
    qp.send(*(WRITE_ONLY(psn=psn, a=1) for psn in range(8)), bad)
    qp.expect(NAK(FATAL[fault], psn=8, msn=8), allowing=[ACK(psn=range(8))])
    qp.expect_silence()


@case("NAK-12", smoke=True)
def test_acks_that_are_due_come_before_a_sequence_nak(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(*(WRITE_ONLY(psn=psn, a=1) for psn in (*range(8), 9)))
    qp.expect(NAK(SEQUENCE_ERROR, psn=8, msn=8), allowing=[ACK(psn=range(8))])
    qp.fence(8)


@case("NAK-14")
@over_faults
def test_the_psn_is_looked_at_before_anything_else(bench: Bench, fault: Fault) -> None:
    qp = bench.connect()
    qp.send(fault(qp, 1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=0))
    qp.fence(0)


@case("NAK-14", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_a_duplicate_is_acknowledged_whatever_is_wrong_with_it(bench: Bench) -> None:
    qp = bench.connect()
    accepts_each(qp, [WRITE_ONLY()])
    for duplicate in (out_of_order(qp, 0), wrong_key(qp, 0)):
        qp.send(duplicate)
        qp.expect(ACK(psn=0, msn=1))
    qp.fence(1)


@case("NAK-14", smoke=True)
def test_the_order_of_opcodes_is_looked_at_before_receives(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(SEND_LAST(psn=0, payload=8, a=1))
    qp.expect(NAK(INVALID_REQUEST, psn=0))


def no_permission_receive_or_key(bench: Bench) -> tuple[Connection, Pattern]:
    """A WRITE with immediate that three checks refuse."""
    qp = bench.connect(access=NOT_WRITABLE)
    region = qp.region()
    key = region.wrong_key(0x55)
    return qp, WRITE_ONLY_IMM(psn=0, payload=8, a=1, va=region.addr, rkey=key)


def too_long_without_receive(bench: Bench) -> tuple[Connection, Pattern]:
    """A SEND beyond the path MTU that meets no receive."""
    qp = bench.connect()
    return qp, SEND_ONLY(psn=0, payload=qp.mtu + 4, a=1)


def too_short_for_a_wrong_key(bench: Bench) -> tuple[Connection, Pattern]:
    """A WRITE of more than its DMALen, with a key nobody has given out."""
    qp = bench.connect()
    return qp, wrong_key(qp, 0).but(dmalen=4)


def too_long_for_a_wrong_key(bench: Bench) -> tuple[Connection, Pattern]:
    """A WRITE of less than its DMALen, with a key nobody has given out."""
    qp = bench.connect()
    return qp, wrong_key(qp, 0).but(dmalen=12)


SEVERAL_FAULTS: dict[Callable[[Bench], tuple[Connection, Pattern]], frozenset[int | str]] = {
    no_permission_receive_or_key: frozenset({ANY_RNR, INVALID, ACCESS}),
    too_long_without_receive: frozenset({ANY_RNR, INVALID}),
    too_short_for_a_wrong_key: frozenset({INVALID, ACCESS}),
    too_long_for_a_wrong_key: frozenset({INVALID, ACCESS}),
}


@case("NAK-14", breaks=WRONG_LENGTHS)
@over("faults", SEVERAL_FAULTS, ids=lambda faults: faults.__name__)
def test_one_of_several_faults_refuses_a_request(
    bench: Bench, faults: Callable[[Bench], tuple[Connection, Pattern]]
) -> None:
    qp, request = faults(bench)
    qp.send(request)
    qp.expect(ACKNOWLEDGE(psn=0, syndrome=SEVERAL_FAULTS[faults]))
    qp.expect_silence()


@case("NAK-07", breaks=WRONG_LENGTHS)
def test_a_send_that_its_receive_cannot_hold(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp = bench.connect()
    region = qp.region()
    qp.post_receive(region, length=8)
    qp.send(SEND_ONLY(psn=0, payload=16, a=1))
    qp.expect(NAK(INVALID_REQUEST, psn=0))
    qp.expect_silence()
    assert region.read(8, 8) == bytes(8), "written behind the end of the receive"


@case("NAK-16", "ICRC-14", smoke=True)
def test_a_packet_with_a_wrong_icrc_counts_as_lost(bench: Bench) -> None:
    qp = bench.connect()
    accepts_each(qp, [WRITE_ONLY()])
    qp.send(WRITE_ONLY(psn=1, a=1).corrupted(edits.bad_icrc()), WRITE_ONLY(psn=2, a=1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=1, msn=1))
    accepts_each(qp, [WRITE_ONLY()] * 2, start=1)
