# SPDX-License-Identifier: BSD-2-Clause
"""What a responder acknowledges, in which order, and what its AETHs say: MSN and credits."""

from collections.abc import Iterator

from roceproof.conformance.model.codes import NO_CREDITS, credits_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE, UNASKED
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    ATOMIC_ACK,
    FETCH_ADD,
    NAK,
    READ_REQUEST,
    READ_RESP_ONLY,
    RNR,
    SEND_ONLY,
    SEQUENCE_ERROR,
    UD_SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.suite.sweep import accepts_each
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = RESPONDER

ACK_UDP_BYTES = 28
CREDIT_BITS = 0x1F
BYTES_OF_MSN = 300
STREAM = 64


def three_packets(qp: Connection) -> bytes:
    """As many bytes as need three."""
    return bytes(2 * qp.mtu + 188)


def pieces(qp: Connection, data: bytes, **fields: int) -> list[Pattern]:
    """A WRITE of three packets at PSN 0, with these fields said of each."""
    mtu = qp.mtu
    region = qp.region()
    return [
        WRITE_FIRST(psn=0, payload=data[:mtu], dmalen=len(data), **at(region), **fields),
        WRITE_MIDDLE(psn=1, payload=data[mtu : 2 * mtu], **fields),
        WRITE_LAST(psn=2, payload=data[2 * mtu :], **fields),
    ]


def lossy(qp: Connection, count: int) -> Iterator[tuple[Pattern, Pattern | None]]:
    """Requests of a stream that loses and repeats some, each with what must answer it."""
    expected, is_nak_out = 0, False
    while expected < count:
        step = qp.random.choice([0, 0, 0, 1, 2, -1, -2])
        psn = max(0, expected + step)
        request = WRITE_ONLY(psn=psn, a=1)
        if psn < expected:
            yield request, ACK(psn=range(psn, expected), msn=expected)
        elif psn > expected:
            yield request, None if is_nak_out else NAK(SEQUENCE_ERROR, psn=expected, msn=expected)
            is_nak_out = True
        else:
            expected, is_nak_out = expected + 1, False
            yield request, ACK(psn=psn, msn=expected)


@case("ACK-01", "MSN-01", "MSN-04", smoke=True)
def test_a_request_that_asks_for_an_acknowledgement_gets_one(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, payload=8, a=1, **at(qp.region())))
    qp.expect(ACK(psn=0, msn=1))
    qp.expect_silence()


@case("ACK-01", "ACK-16", smoke=True)
def test_a_stream_is_acknowledged_to_its_end(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(*(WRITE_ONLY(psn=psn, a=1) for psn in range(STREAM)))
    qp.expect(ACK(psn=STREAM - 1, msn=STREAM), allowing=[ACK(psn=range(STREAM - 1))])


@case("ACK-04", "ACK-05", smoke=True)
def test_an_acknowledgement_stands_for_all_before_it(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    data = qp.random.randbytes(88)
    qp.send(
        *(
            WRITE_ONLY(psn=psn, payload=data[8 * psn :][:8], a=psn == 10, **at(region, 8 * psn))
            for psn in range(11)
        )
    )
    qp.expect(ACK(psn=10, msn=11), allowing=[ACK(psn=range(10))])
    assert region.read(0, len(data)) == data


@case("ACK-06", "MSN-03", breaks=OUT_OF_SEQUENCE)
def test_only_what_came_in_order_is_acknowledged(bench: Bench) -> None:
    qp = bench.connect()
    for request, answer in lossy(qp, count=50):
        qp.send(request)
        if answer is not None:
            qp.expect(answer)
    qp.fence(50, msn=51)


@case("ACK-07", "AETH-02", smoke=True, breaks=["BTH-02"])
def test_an_acknowledgement_is_28_bytes_with_a_plain_bth(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, payload=5, a=1, se=1, **at(qp.region())))
    answers = qp.expect(
        ACK(
            psn=0,
            qpn=qp.spec.remote_qpn,
            se=0,
            a=0,
            pad=0,
            tver=0,
            pkey=frozenset({0x7FFF, 0xFFFF}),
            resv7=0,
        )
    )
    assert answers[0].udp_length == ACK_UDP_BYTES


@case("ACK-11", smoke=True, needs=[Capability.UC], breaks=OUT_OF_SEQUENCE | UNASKED)
def test_uc_is_never_acknowledged(bench: Bench) -> None:
    qp = bench.connect(Service.UC)
    region = qp.region()
    qp.send(WRITE_ONLY(psn=0, payload=8, a=1, **at(region)), *pieces(qp, three_packets(qp), a=1))
    qp.fence(3)


@case("ACK-11", smoke=True, needs=[Capability.UD], breaks=UNASKED)
def test_ud_is_never_acknowledged(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    number = qp.post_receive(qp.region())
    qp.send(UD_SEND_ONLY(payload=8, a=1))
    qp.receives(number, byte_len=48)
    qp.expect_silence()


@case("ACK-12", "MSN-09", smoke=True)
def test_the_ack_of_a_write_comes_behind_the_data_of_a_read(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(4 * qp.mtu, filled=True)
    data = region.read(0, region.size)
    qp.send(
        READ_REQUEST(psn=0, dmalen=region.size, **at(region)),
        WRITE_ONLY(psn=4, payload=8, a=1, **at(qp.region())),
    )
    qp.expect(*read_responses(qp, 0, data, msn=frozenset({1, 2})), ACK(psn=4, msn=2))


@case("ACK-12", smoke=True)
def test_answers_of_all_kinds_come_in_the_order_of_their_requests(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(2 * qp.mtu)
    qp.send(
        WRITE_ONLY(psn=0, a=1),
        READ_REQUEST(psn=1, dmalen=region.size, **at(region)),
        FETCH_ADD(psn=3, swap=1, **at(qp.region())),
        WRITE_ONLY(psn=4, a=1),
    )
    qp.expect(
        ACK(psn=0, msn=1),
        *read_responses(qp, 1, bytes(region.size)),
        ATOMIC_ACK(psn=3),
        ACK(psn=4, msn=4),
    )


@case("AETH-01", "AETH-03", "MSN-09", smoke=True)
def test_the_middle_of_a_read_has_no_aeth_and_the_ends_say_ack(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(3 * qp.mtu, filled=True)
    accepts_each(qp, [WRITE_ONLY()])
    qp.send(READ_REQUEST(psn=1, dmalen=region.size, **at(region)))
    answers = qp.expect(*read_responses(qp, 1, region.read(0, region.size), syndrome="ACK", msn=2))
    assert [a.udp_length - len(a.payload) for a in answers] == [28, 24, 28]


@case("AETH-03", smoke=True)
def test_an_atomic_is_answered_with_an_ack_syndrome(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(FETCH_ADD(psn=0, swap=1, **at(qp.region())))
    qp.expect(ATOMIC_ACK(psn=0, syndrome="ACK", msn=1, original=0))


@case("AETH-02", "MSN-05", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_naks_of_all_kinds_have_their_codes_and_do_not_count(bench: Bench) -> None:
    qp = bench.connect(min_rnr_timer=12)
    accepts_each(qp, [WRITE_ONLY()] * 2)
    qp.send(SEND_ONLY(psn=2, payload=4, a=1))
    qp.expect(RNR(psn=2, timer=12, msn=2))
    qp.send(WRITE_ONLY(psn=2, a=1))
    qp.expect(ACK(psn=2, msn=3))
    qp.send(WRITE_ONLY(psn=4, a=1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=3, msn=3))
    region = qp.region()
    qp.send(WRITE_ONLY(psn=3, payload=8, a=1, va=region.addr, rkey=region.wrong_key(1)))
    qp.expect(NAK(ACCESS_ERROR, psn=3, msn=3))


@case("AETH-06", "MSN-02")
def test_the_msn_has_more_than_one_byte(bench: Bench) -> None:
    qp = bench.connect()
    last = BYTES_OF_MSN - 1
    qp.send(*(WRITE_ONLY(psn=psn, a=psn == last) for psn in range(BYTES_OF_MSN)))
    qp.expect(ACK(psn=last, msn=BYTES_OF_MSN), allowing=[ACK(psn=range(last))])


@case("MSN-02", smoke=True)
def test_a_message_counts_when_its_last_packet_has_come(bench: Bench) -> None:
    qp = bench.connect()
    for packet, msn in zip(pieces(qp, three_packets(qp), a=1), (0, 0, 1), strict=True):
        qp.send(packet)
        qp.expect(ACK(psn=packet.said["psn"], msn=msn))
    others = {
        Op.READ: (READ_REQUEST(), READ_RESP_ONLY()),
        Op.FETCH_ADD: (FETCH_ADD(**at(qp.region())), ATOMIC_ACK()),
        Op.SEND: (SEND_ONLY(payload=4, a=1), ACK()),
    }
    qp.post_receive(qp.region())
    executed = [both for op, both in others.items() if qp.executes(op)]
    for count, (request, answer) in enumerate(executed):
        qp.send(request.but(psn=3 + count))
        qp.expect(answer.but(psn=3 + count, msn=2 + count))


@case("MSN-03", smoke=True)
def test_a_duplicate_does_not_count(bench: Bench) -> None:
    qp = bench.connect()
    accepts_each(qp, [WRITE_ONLY()] * 3)
    for psn in (2, 0, 1):
        qp.send(WRITE_ONLY(psn=psn, a=1))
        qp.expect(ACK(psn=range(psn, 3), msn=3))
    qp.fence(3, msn=4)


@case(
    "MSN-06",
    needs=[Capability.MSN_PRESET],
    unjudged={
        rule: "to the observer a count starts at 0" for rule in ("MSN-01", "MSN-02", "MSN-04")
    },
)
def test_the_count_wraps(bench: Bench) -> None:
    qp = bench.connect(completed_messages=(1 << 24) - 256)
    qp.send(*(WRITE_ONLY(psn=psn, a=int(psn == 0)) for psn in range(254)))
    qp.expect(ACK(psn=0, msn=(1 << 24) - 255))
    for psn, msn in enumerate((0xFFFFFF, 0, 1), start=254):
        qp.send(WRITE_ONLY(psn=psn, a=1))
        qp.expect(ACK(psn=psn, msn=msn))
    qp.fence(257, msn=2)


@case("MSN-07", "MSN-01", smoke=True)
def test_each_queue_pair_counts_its_own_messages_from_its_reset(bench: Bench) -> None:
    busy, idle = bench.connect(), bench.connect()
    accepts_each(busy, [WRITE_ONLY()] * 5)
    idle.fence(0, msn=1)
    busy.reconnect()
    busy.fence(0, msn=1)
    idle.fence(1, msn=2)


@case("CRED-01", smoke=True)
def test_credits_are_no_more_than_the_receives_posted(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    posted = 0
    most = bench.claims.receives
    for psn, goal in enumerate(goal for goal in (0, 1, 5, 7, 16, 40, 49) if goal <= most):
        for _ in range(goal - posted):
            qp.post_receive(region)
        posted = goal
        qp.send(WRITE_ONLY(psn=psn, a=1))
        (answer,) = qp.expect(ACK(psn=psn))
        assert answer.aeth is not None
        offered = credits_of(answer.aeth.syndrome & CREDIT_BITS)
        assert offered is None or offered <= posted, f"{offered} credits for {posted} receives"


@case("CRED-01", needs=[Capability.RECEIVE_CREDITS])
@over("posted", [1, 4, 6, 96])
def test_credits_that_have_a_code_are_all_offered(bench: Bench, posted: int) -> None:
    qp = bench.connect()
    region = qp.region()
    for _ in range(posted):
        qp.post_receive(region)
    qp.send(WRITE_ONLY(psn=0, a=1))
    (answer,) = qp.expect(ACK(psn=0))
    assert answer.aeth is not None
    assert credits_of(answer.aeth.syndrome & CREDIT_BITS) == posted


@case("CRED-02", smoke=True, needs=[Capability.SHARED_RECEIVE])
def test_a_shared_receive_queue_offers_no_credits(bench: Bench) -> None:
    qp = bench.connect(shared_receive=True)
    region = qp.region()
    for _ in range(3):
        qp.post_receive(region)
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, credits=NO_CREDITS))
    qp.send(SEND_ONLY(psn=1, payload=4, a=1))
    qp.expect(ACK(psn=1, credits=NO_CREDITS))
