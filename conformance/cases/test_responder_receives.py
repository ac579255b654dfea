# SPDX-License-Identifier: BSD-2-Clause
"""Receives complete once each, with what became of them, whatever else stands still or fails."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over, over_services
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_ORDER, WRONG_LENGTHS
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.packet_flow import FLUSHED, SUCCESS
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    INVALID_REQUEST,
    NAK,
    RNR,
    SEND_FIRST,
    SEND_LAST,
    SEND_MIDDLE,
    SEND_ONLY,
    SEND_ONLY_IMM,
    UD_SEND_ONLY,
    UD_SEND_ONLY_IMM,
    WRITE_FIRST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
)
from roceproof.conformance.suite.reporting.answers_told import completed_again, wrong_outcomes
from roceproof.conformance.suite.reporting.divergence import named
from roceproof.conformance.suite.reporting.failure import AS_CONTRACTED
from roceproof.conformance.suite.reporting.failure_heads import other_receive
from roceproof.conformance.suite.traffic.storm_crowd import operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.dpi.session.options import STANDS_STILL
from roceproof.verbs.queue_pair import Qp, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Region

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP), needs(Capability.RC), needs(Capability.RESET)]

SIMULATED = ["hdl", "model"]
MOST, SIZE, ROUNDS, QPN_BITS, CROWD, ROOM = 16, 32, 3, 24, 4, 64
STREAMS = ("tx_stall", "cpl_stall", "memory_stall", "memory_lag")


def complete_once(bench: Bench, found: Sequence[Outcome], numbers: Sequence[int]) -> None:
    """These receives and no others, in their order."""
    have = [each.wr_id for each in found]
    if have == list(numbers):
        return
    twice = next((n for place, n in enumerate(have) if n in have[:place]), None)
    lacking = next((n for n in numbers if n not in have), None)
    if twice is not None:
        text = completed_again("receive", [each for each in found if each.wr_id == twice])
        raise bench.failed(text, rules=named(text))
    if lacking is not None:
        text = f"receive {lacking:#x} did not complete, {len(have)} others did"
    else:
        text = next(
            other_receive(want, got) for want, got in zip(numbers, have, strict=True) if want != got
        )
    raise bench.failed(text)


@case("RQ-01", "RNR-01", smoke=True, targets=SIMULATED)
def test_receives_that_are_offered_in_a_row_reach_the_queues_that_they_name(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    pairs = [bench.connect() for _ in range(min(CROWD, bench.claims.qps))]
    turns = pairs * min(ROUNDS, bench.claims.receives)
    bench.random.shuffle(turns)
    region = pairs[0].region(len(turns) * SIZE)
    numbers = [
        qp.post_receive(region, offset=place * SIZE, length=SIZE, may_wait=True)
        for place, qp in enumerate(turns)
    ]
    bench.settle()
    for place, (qp, number) in enumerate(zip(turns, numbers, strict=True)):
        psn, data = turns[:place].count(qp), qp.random.randbytes(SIZE)
        qp.send(SEND_ONLY(psn=psn, payload=data, a=1))
        qp.expect(ACK(psn=psn))
        qp.receives(number, byte_len=SIZE)
        if region.read(place * SIZE, SIZE) != data:
            raise bench.failed("a message is not where its receive says", rules=["RQ-01"])


@case("RQ-01", "RNR-01", needs=[Capability.DISTURBANCE], smoke=True, targets=SIMULATED)
@over("stream", STREAMS)
def test_each_receive_completes_once_while_a_stream_hardly_moves(bench: Bench, stream: str) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp, count = bench.connect(), min(MOST, bench.claims.receives)
    region = qp.region(count * SIZE)
    for turn in range(ROUNDS):
        first = turn * count
        numbers = [qp.post_receive(region, offset=n * SIZE, length=SIZE) for n in range(count)]
        bench.target.disturb(**{stream: 99})
        sends = [
            qp.filled(SEND_ONLY(psn=first + n, payload=SIZE, a=1)) for n in range(len(numbers))
        ]
        qp.send(*sends)
        found = bench.completions(qp, count=count)
        bench.target.disturb()
        qp.expect(*(ACK(psn=first + n, msn=first + n + 1) for n in range(count)))
        bench.settle()
        complete_once(bench, found + bench.completions(qp, count=0, within_ns=0), numbers)
        assert region.read(0, region.size) == b"".join(each.said["payload"] for each in sends)


def with_receives(bench: Bench, service: Service) -> tuple[list[Connection], list[list[int]]]:
    """Some queue pairs, and the receives of each, of SIZE bytes and as many as it holds."""
    executed_of(bench.claims, service, [Op.SEND])
    count = min(MOST, bench.claims.receives)
    crowd = [bench.connect(service) for _ in range(min(CROWD, bench.claims.qps))]
    regions = [qp.region(count * SIZE) for qp in crowd]
    return crowd, [
        [qp.post_receive(region, offset=n * SIZE, length=SIZE) for n in range(count)]
        for qp, region in zip(crowd, regions, strict=True)
    ]


@case("RQ-01", needs=[Capability.DISTURBANCE], smoke=True, targets=SIMULATED)
def test_each_receive_completes_once_while_answers_of_many_wait(bench: Bench) -> None:
    crowd, numbers = with_receives(bench, Service.RC)
    count = len(numbers[0])
    bench.target.disturb(tx_stall=99)
    for n in range(count):
        for qp in crowd:
            qp.send(SEND_ONLY(psn=n, payload=SIZE, a=1))
    found = [bench.completions(qp, count=count) for qp in crowd]
    bench.target.disturb()
    for qp in crowd:
        qp.expect(*(ACK(psn=n, msn=n + 1) for n in range(count)))
    bench.settle()
    for qp, came, due in zip(crowd, found, numbers, strict=True):
        complete_once(bench, came + bench.completions(qp, count=0, within_ns=0), due)


@case("RQ-01", needs=[Capability.DISTURBANCE], smoke=True, targets=SIMULATED)
@over_services
def test_each_receive_completes_once_where_many_wait_and_nothing_is_answered(
    bench: Bench, service: Service
) -> None:
    """No answer that waits for room holds up what the completions need."""
    crowd, numbers = with_receives(bench, service)
    count = len(numbers[0])
    bench.target.disturb(cpl_stall=STANDS_STILL)
    for n in range(count):
        for qp in crowd:
            qp.send(SEND_ONLY(psn=n, payload=SIZE))
    bench.target.wait(bench.target.patience.quiet_ns)
    bench.target.disturb()
    found = [bench.completions(qp, count=count) for qp in crowd]
    bench.settle()
    for qp, came, due in zip(crowd, found, numbers, strict=True):
        complete_once(bench, came + bench.completions(qp, count=0, within_ns=0), due)
        qp.inbox.clear()
        qp.fence(count)


def no_message(_qp: Connection, _region: Region) -> list[Pattern]:
    return []


def a_send(qp: Connection, _region: Region) -> list[Pattern]:
    return [SEND_FIRST(psn=0, payload=qp.mtu)]


def a_write(qp: Connection, region: Region) -> list[Pattern]:
    return [WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=3 * qp.mtu, **at(region))]


Opening = Callable[[Connection, Region], list[Pattern]]
OPEN: Mapping[Op, Opening] = {Op.SEND: a_send, Op.WRITE: a_write}


def refusals(qp: Connection, region: Region, opened: str, psn: int) -> dict[int, list[Pattern]]:
    """By their codes, requests that are refused there."""
    if opened == "a_send":
        return {
            INVALID_REQUEST: [
                WRITE_ONLY(psn=psn),
                WRITE_MIDDLE(psn=psn, payload=qp.mtu),
                SEND_MIDDLE(psn=psn, payload=qp.mtu - 4),
                SEND_ONLY(psn=psn, payload=4),
            ]
        }
    if opened == "a_write":
        return {
            INVALID_REQUEST: [
                SEND_ONLY(psn=psn, payload=4),
                SEND_MIDDLE(psn=psn, payload=qp.mtu),
                WRITE_MIDDLE(psn=psn, payload=qp.mtu - 4),
                WRITE_ONLY(psn=psn),
            ]
        }
    wrong = at(region) | {"rkey": region.wrong_key(1 << 20)}
    return {
        INVALID_REQUEST: [
            SEND_MIDDLE(psn=psn, payload=qp.mtu),
            WRITE_ONLY(psn=psn, payload=8, dmalen=12, **at(region)),
        ],
        ACCESS_ERROR: [WRITE_ONLY(psn=psn, payload=8, **wrong)],
    }


def aliases(bench: Bench, qp: Connection) -> list[Qp]:
    """Queue pairs that do not exist, which would have the same place in a table."""
    bits = range((bench.claims.qps - 1).bit_length(), QPN_BITS)
    return [replace(qp.qp, qpn=qp.qp.qpn ^ 1 << bit) for bit in bits]


@case(AS_CONTRACTED, "RNR-01", smoke=True, targets=["hdl"])
def test_a_receive_of_a_queue_pair_that_does_not_exist_is_forgotten(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp = bench.connect()
    region = qp.region()
    for nobody in aliases(bench, qp):
        bench.target.post_receive(nobody, wr_id=bench.next_wr_id(), region=region, length=SIZE)
    send = qp.filled(SEND_ONLY(psn=0, payload=4, a=1))
    qp.send(send)
    qp.expect(RNR(psn=0))
    receive = qp.post_receive(region)
    qp.send(send)
    qp.expect(ACK(psn=0))
    qp.receives(receive, byte_len=4)


@case("QPS-06", smoke=True, targets=["hdl"])
def test_a_reset_of_a_queue_pair_that_does_not_exist_changes_nothing(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp = bench.connect()
    receive = qp.post_receive(qp.region())
    qp.send(SEND_FIRST(psn=0, payload=qp.mtu, a=1))
    qp.expect(ACK(psn=0))
    for nobody in aliases(bench, qp):
        bench.target.set_state(nobody, State.RESET)
    qp.send(SEND_LAST(psn=1, payload=3, a=1))
    qp.expect(ACK(psn=1))
    qp.receives(receive, byte_len=qp.mtu + 3)


@case(AS_CONTRACTED, smoke=True, targets=["hdl"])
@over("service", Service, ids=lambda service: service.name)
def test_a_receive_says_whether_its_message_asks_for_attention(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service)
    region = qp.region()
    makers = {Op.SEND: SEND_ONLY, Op.SEND_IMM: SEND_ONLY_IMM, Op.WRITE_IMM: WRITE_ONLY_IMM}
    if service is Service.UD:
        makers = {Op.SEND: UD_SEND_ONLY, Op.SEND_IMM: UD_SEND_ONLY_IMM}
    turns = [(makers[op], se) for op in executed_of(bench.claims, service, makers) for se in (1, 0)]
    for psn, (maker, se) in enumerate(turns):
        receive = qp.post_receive(region)
        place = at(region) if maker is WRITE_ONLY_IMM else {}
        qp.send(maker(psn=psn, payload=5, se=se, a=int(service is Service.RC), **place))
        if service is Service.RC:
            qp.expect(ACK(psn=psn))
        qp.receives(receive, solicited=bool(se))
    if service is Service.UD:
        return
    psn = len(turns)
    for se in (1, 0):
        receive = qp.post_receive(region)
        first = SEND_FIRST(psn=psn, payload=qp.mtu, se=1 - se)
        qp.send(first, SEND_LAST(psn=psn + 1, payload=3, se=se), breaks=frozenset({"BTH-02"}))
        qp.receives(receive, solicited=bool(se))
        psn += 2


@case("QPS-03", "NAK-07", smoke=True, targets=SIMULATED, breaks=OUT_OF_ORDER | WRONG_LENGTHS)
@over("opening", [no_message, a_send, a_write], ids=lambda each: each.__name__)
def test_receives_end_as_they_must_when_a_request_is_refused(
    bench: Bench, opening: Opening
) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    for op, each in OPEN.items():
        if each is opening:
            executed_of(bench.claims, Service.RC, [op])
    qp = bench.connect()
    region, inbox = qp.region(4 * qp.mtu), qp.region(4 * qp.mtu)
    psn = len(opening(qp, region))
    for code, requests in refusals(qp, region, opening.__name__, psn).items():
        for request in requests:
            qp.reconnect()
            numbers = [qp.post_receive(inbox) for _ in range(3)]
            qp.send(*opening(qp, region), request.but(a=1))
            qp.expect(NAK(code, psn=psn))
            found = bench.all_completions(qp, len(numbers))
            end_as_they_must(bench, found, numbers, opening, f"{request.name} is refused")


@case(
    "RQ-01",
    "QPS-03",
    smoke=True,
    needs=[Capability.DISTURBANCE],
    targets=SIMULATED,
    breaks=OUT_OF_ORDER,
)
def test_receives_are_flushed_while_nobody_takes_completions(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp, most = bench.connect(), min(bench.claims.receives, MOST)
    inbox = qp.region(ROOM)
    used = [qp.post_receive(inbox) for _ in range(most)]
    bench.target.disturb(cpl_stall=STANDS_STILL)
    for psn in range(most // 2):
        qp.send(SEND_ONLY(psn=psn, payload=4, a=1))
    bench.settle()
    used += [qp.post_receive(inbox, may_wait=True) for _ in range(most // 2)]
    qp.send(SEND_LAST(psn=most // 2, payload=4, a=1))
    bench.settle()
    bench.target.disturb()
    found = bench.all_completions(qp, len(used))
    complete_once(bench, found, used)
    told = [each.status for each in found]
    if told != [SUCCESS] * (most // 2) + [FLUSHED] * most:
        raise bench.failed(f"of {most // 2} used and {most} flushed receives came {told}")


def end_as_they_must(
    bench: Bench, found: list[Outcome], numbers: list[int], opening: Opening, cause: str
) -> None:
    """The receive that a message is filling ends with an error; all that wait are flushed."""
    if [each.wr_id for each in found] == numbers[: len(found)] != numbers:
        lacking = [Outcome(wr_id=n, status=FLUSHED) for n in numbers[len(found) :]]
        raise bench.failed(wrong_outcomes([[*found, *lacking]], found))
    complete_once(bench, found, numbers)
    told = [each.status for each in found]
    for place, status in enumerate(told):
        is_used = opening is a_send and place == 0
        if status == SUCCESS if is_used else status != FLUSHED:
            raise bench.failed(
                "a receive completed otherwise; status: "
                f"want {'an error' if is_used else FLUSHED}, got {status}\n"
                f"{opening.__name__} was open, and {cause}: receive {place + 1} of {len(told)}"
            )


@case("QPS-03", "NAK-09", smoke=True, needs=[Capability.REQUESTER], targets=SIMULATED)
@over("opening", [no_message, a_send, a_write], ids=lambda each: each.__name__)
def test_receives_end_as_they_must_when_work_of_their_queue_pair_fails(
    bench: Bench, opening: Opening
) -> None:
    """Devices whose two sides fail each for itself keep them, which is no harm to the peer."""
    executed_of(bench.claims, Service.RC, [Op.SEND])
    (service,) = served(bench, Service.RC)
    for op, each in OPEN.items():
        if each is opening:
            executed_of(bench.claims, Service.RC, [op])
    qp = bench.connect(service)
    region, inbox = qp.region(4 * qp.mtu), qp.region(4 * qp.mtu)
    numbers = [qp.post_receive(inbox) for _ in range(3)]
    qp.send(*opening(qp, region))
    bench.settle()
    qp.inbox.clear()
    work = qp.post(operations(bench, service)[0], 5)
    qp.expect_message(work)
    qp.send(NAK(INVALID_REQUEST, psn=work.psn))
    qp.completes(work, status="rem_inv_req_err")
    if found := qp.all_outcomes(len(numbers)):
        end_as_they_must(bench, found, numbers, opening, "work is refused")


def is_refused(_bench: Bench, qp: Connection) -> None:
    """A packet that continues nothing ends the queue pair."""
    qp.send(SEND_MIDDLE(psn=0, payload=qp.mtu, a=1), breaks=OUT_OF_ORDER)
    qp.expect(NAK(INVALID_REQUEST, psn=0))


def is_told_to_fail(bench: Bench, qp: Connection) -> None:
    bench.target.set_state(qp.qp, State.ERR)


ENDS = [
    pytest.param(is_refused, id="refused"),
    pytest.param(is_told_to_fail, id="told", marks=needs(Capability.STATES)),
]


@case("QPS-03", "QPS-06", smoke=True, targets=SIMULATED, breaks=OUT_OF_ORDER)
@over("fails", ENDS)
def test_a_receive_that_waits_for_room_is_flushed_and_keeps_nobody_waiting(
    bench: Bench, fails: Callable[[Bench, Connection], None]
) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp, other = bench.connect(), bench.connect()
    region, count = qp.region(), min(MOST, bench.claims.receives)
    numbers = [qp.post_receive(region, may_wait=n == count) for n in range(count + 1)]
    bench.settle()
    fails(bench, qp)
    complete_once(bench, bench.all_completions(qp, len(numbers)), numbers)
    receive = other.post_receive(region, length=SIZE)
    other.send(SEND_ONLY(psn=0, payload=SIZE, a=1))
    other.expect(ACK(psn=0))
    other.receives(receive, byte_len=SIZE)
