# SPDX-License-Identifier: BSD-2-Clause
"""Where a responder sees a PSN: expected, behind or ahead, and how far each request moves it."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_mtus
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    NAK,
    READ_REQUEST,
    READ_RESP_ONLY,
    SEND_ONLY,
    SEQUENCE_ERROR,
    UD_SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Maker,
)
from roceproof.conformance.suite.sweep import accepts_each
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = RESPONDER

HALF = 1 << 23
WRAP = 1 << 24


@case("PSN-12")
@over("rq_psn", [0, 1, 0x7FFFFF, 0x800000, 0xFFFFFF, None])
def test_the_first_request_is_at_the_configured_psn(bench: Bench, rq_psn: int | None) -> None:
    qp = bench.connect() if rq_psn is None else bench.connect(rq_psn=rq_psn)
    for psn in range(4):
        qp.send(WRITE_ONLY(psn=psn, a=1))
        bench.settle()
    qp.expect(*(ACK(psn=psn, msn=psn + 1) for psn in range(4)))


@case("PSN-04")
@over("maker", (SEND_ONLY, WRITE_ONLY, READ_REQUEST), ids=lambda maker: maker.__name__)
def test_a_message_without_payload_takes_one_psn(bench: Bench, maker: Maker) -> None:
    qp = bench.connect()
    qp.post_receive(qp.region())
    qp.send(maker(psn=0, a=1))
    qp.expect(READ_RESP_ONLY(psn=0, payload=0) if maker is READ_REQUEST else ACK(psn=0))
    qp.fence(1, msn=2)


@case("PSN-05")
@over_mtus(256, 1024)
def test_a_read_takes_a_psn_for_each_response(bench: Bench, mtu: int) -> None:
    qp = bench.connect(path_mtu=mtu)
    region = qp.region(5 * mtu, filled=True)
    psn = 0
    for length in (0, 1, mtu, mtu + 1, 5 * mtu):
        qp.send(READ_REQUEST(psn=psn, dmalen=length, **at(region)))
        psn += len(qp.expect(*read_responses(qp, psn, region.read(0, length))))
        qp.send(WRITE_ONLY(psn=psn, a=1))
        qp.expect(ACK(psn=psn))
        psn += 1


@case("PSN-13", smoke=True, breaks=OUT_OF_SEQUENCE)
@over("steps", [1, 2, 100, HALF - 1])
def test_the_half_behind_the_expected_psn_is_duplicates(bench: Bench, steps: int) -> None:
    qp = bench.connect()
    region = qp.region()
    accepts_each(qp, [WRITE_ONLY()] * 3)
    psn = 3 - steps
    qp.send(WRITE_ONLY(psn=psn, payload=8, a=1, **at(region)))
    qp.expect(ACK(psn=frozenset({psn, 2}), msn=3))
    qp.fence(3, msn=4)
    if region.read(0, 8) != bytes(8):
        raise bench.failed("a WRITE that was acknowledged as a duplicate wrote", rules=["DUP-02"])


@case("PSN-14", smoke=True, breaks=OUT_OF_SEQUENCE)
@over("steps", [1, 2, 1000, HALF - 1])
def test_the_half_ahead_of_the_expected_psn_is_out_of_sequence(bench: Bench, steps: int) -> None:
    qp = bench.connect()
    region = qp.region()
    accepts_each(qp, [WRITE_ONLY()] * 3)
    qp.send(WRITE_ONLY(psn=3 + steps, payload=8, a=1, **at(region)))
    qp.expect(NAK(SEQUENCE_ERROR, psn=3, msn=3))
    qp.fence(3, msn=4)
    assert region.read(0, 8) == bytes(8)


@case("PSN-14", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_no_bit_is_left_out_when_a_psn_is_compared(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    for psn, bit in enumerate(range(HALF.bit_length() - 1)):
        qp.send(WRITE_ONLY(psn=psn + (1 << bit), payload=8, a=1, **at(region)))
        qp.expect(NAK(SEQUENCE_ERROR, psn=psn, msn=psn))
        qp.send(WRITE_ONLY(psn=psn, a=1))
        qp.expect(ACK(psn=psn, msn=psn + 1))
    assert region.read(0, 8) == bytes(8)


@case("PSN-15", smoke=True)
@over("before", [1, 2])
def test_the_window_wraps(bench: Bench, before: int) -> None:
    qp = bench.connect(rq_psn=WRAP - before)
    next_psn = accepts_each(qp, [WRITE_ONLY()] * 5)
    for duplicate in range(next_psn):
        qp.send(WRITE_ONLY(psn=duplicate, a=1))
        qp.expect(ACK(psn=range(duplicate, next_psn), msn=5))
    qp.fence(next_psn, msn=6)


@case("PSN-15")
@over("ahead", [1, 2, 3])
def test_a_gap_across_the_wrap_is_a_gap(bench: Bench, ahead: int) -> None:
    qp = bench.connect(rq_psn=WRAP - 2)
    accepts_each(qp, [WRITE_ONLY()])
    qp.send(WRITE_ONLY(psn=1 + ahead, a=1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=1))
    accepts_each(qp, [WRITE_ONLY()] * 4, start=1)


@case("PSN-15", smoke=True)
def test_the_responses_to_a_read_wrap(bench: Bench) -> None:
    qp = bench.connect(rq_psn=WRAP - 2)
    region = qp.region(5 * qp.mtu, filled=True)
    qp.send(READ_REQUEST(psn=0, dmalen=region.size, **at(region)))
    qp.expect(*read_responses(qp, 0, region.read(0, region.size)))
    qp.fence(5)


@case("PSN-15", needs=[Capability.UC])
@over("before", [1, 2, 3])
def test_a_uc_message_crosses_the_wrap(bench: Bench, before: int) -> None:
    qp = bench.connect(Service.UC, rq_psn=WRAP - before)
    region = qp.region()
    data = qp.random.randbytes(3 * qp.mtu)
    qp.send(
        WRITE_FIRST(psn=0, payload=data[: qp.mtu], dmalen=len(data), **at(region)),
        WRITE_MIDDLE(psn=1, payload=data[qp.mtu : 2 * qp.mtu]),
        WRITE_LAST(psn=2, payload=data[2 * qp.mtu :]),
    )
    bench.holds(region, data, what="a message across the wrap")
    qp.fence(3)


@case("PSN-17", smoke=True, needs=[Capability.UD])
def test_the_psns_of_datagrams_are_not_looked_at(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    region = qp.region()
    for size, psn in enumerate((0, 1, 1, 7, HALF, 3)):
        number = qp.post_receive(region)
        qp.send(UD_SEND_ONLY(psn=psn, payload=4 * size))
        qp.receives(number, byte_len=GRH_BYTES + 4 * size)


@case("PSN-22", smoke=True, needs=[Capability.REQUESTER, Capability.WRITE])
def test_both_directions_count_apart_from_the_same_psn(bench: Bench) -> None:
    start = bench.random.randrange(WRAP)
    qp = bench.connect(sq_psn=start, rq_psn=start)
    accepts_each(qp, [WRITE_ONLY()] * 2)
    first = qp.post(Op.WRITE, 8)
    qp.expect_message(first)
    accepts_each(qp, [WRITE_ONLY()] * 2, start=2)
    qp.finish(first)
    qp.transfer(Op.WRITE, 8)
    qp.fence(4, msn=5)
