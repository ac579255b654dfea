# SPDX-License-Identifier: BSD-2-Clause
"""One kind of frame, or one queue pair, floods a device: all else goes on in its usual time.

A flood never pauses while something else is waited for, so that what only comes about when it ends
does not come in time.
"""

from collections.abc import Callable, Sequence
from functools import partial

from roceproof.conformance.stimulus.requester.arp_and_ping import Neighbourhood
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, RESPONDER, case, needs, over
from roceproof.conformance.suite.checks.recovery import brisk_code, longest_wait_ns
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import executed_of, require_queue_pairs
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    NAK,
    READ_REQUEST,
    SEQUENCE_ERROR,
    WRITE_ONLY,
)
from roceproof.conformance.suite.reporting.ends import RETRY_EXCEEDED
from roceproof.conformance.suite.traffic.storm_crowd import operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.icmp import ethernet
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [needs(Capability.LOCKSTEP), needs(Capability.RC)]

SIMULATED = ["hdl", "model"]
STEP = 1000  # ns
SHORTEST = 60  # bytes of a frame
AHEAD = 24  # frames that always wait for a device without a clock
LONG = 1 << 15
BUSY, DEPTH, PACKETS, TURNS = 3, 2, 4, 3
Flood = Callable[[int], bytes]


def goes_on(
    bench: Bench,
    flood: Flood,
    is_done: Callable[[], bool],
    what: str,
    *,
    within_ns: int | None = None,
) -> None:
    """Amid a flood something comes about in the time that the device claims, or in that time."""
    end = bench.target.now_ns + (within_ns or bench.target.patience.answer_ns)
    sent, ahead = 0, frames_ahead(bench)
    while not is_done():
        if bench.target.now_ns >= end:
            raise bench.failed(f"{what} amid a flood of {sent} frames", rules=["LIVE-03"])
        while bench.target.untaken() < ahead:
            bench.send(flood(sent), is_void=True)
            sent += 1
        bench.pump(STEP)


def frames_ahead(bench: Bench) -> int:
    """So many always wait for the device: more than it can take in a step."""
    clock_ps, width = bench.target.clock_ps, bench.claims.data_width
    if clock_ps is None or width is None:
        return AHEAD
    beats = -(-SHORTEST * 8 // width)
    return 1 + STEP * 1000 // (clock_ps * beats)


def has_come(qp: Connection, packets: int) -> bool:
    """Whether so many wait to be looked at."""
    return len(qp.inbox) >= packets


def strangers(bench: Bench) -> Flood:
    """Frames of the shortest kind that are nobody's business."""
    host, peer = bench.target.host, bench.peers[1]
    return lambda n: ethernet(host.mac, peer.mac, 0x88B5, n.to_bytes(46))


def questions(bench: Bench) -> Flood:
    """ARP and pings in turn, which may be dropped; answers to all fill half of the link."""
    asked, between = Neighbourhood(bench.target.host), strangers(bench)
    kinds = (None, 32)
    return lambda n: between(n) if n % 2 else asked.asks(bench.peers[1], kinds[n // 2 % 2])


def old_acks(bench: Bench) -> Flood:
    """Responses to a queue pair beside, for which nothing is outstanding."""
    require_queue_pairs(bench.claims, 2)
    frame = bench.connect().frame(ACK(psn=-1, msn=0))
    return lambda n: frame


def early_requests(bench: Bench) -> Flood:
    """Requests to a queue pair beside, behind a gap that has been told of."""
    require_queue_pairs(bench.claims, 2)
    qp = bench.connect()
    early = WRITE_ONLY(psn=3, payload=4, **at(qp.region()))
    qp.send(early)
    qp.expect(NAK(SEQUENCE_ERROR, psn=0))
    frame = qp.frame(early)
    return lambda n: frame


@case("LIVE-03", "ACK-08", smoke=True, targets=SIMULATED)
@REQUESTER
@over("flood", [questions, strangers, old_acks])
def test_messages_complete_amid_a_flood(bench: Bench, flood: Callable[[Bench], Flood]) -> None:
    qp = bench.connect()
    served(bench, Service.RC)
    op, frames = operations(bench, Service.RC)[0], flood(bench)
    for size in (5, 3 * qp.mtu):
        message = qp.post(op, size)
        packets = message.end_psn - message.psn
        goes_on(bench, frames, partial(has_come, qp, packets), "its packets never left")
        qp.expect_message(message)
        qp.ack(message)
        goes_on(bench, frames, qp.has_outcome, "it never completed")
        qp.completes(message)
    bench.settle()
    bench.target.asides()


@case("RTX-01", "LIVE-03", smoke=True, targets=SIMULATED)
@REQUESTER
def test_silence_is_noticed_amid_a_flood(bench: Bench) -> None:
    """A timeout ends a message on a link that is full of old responses."""
    served(bench, Service.RC)
    flood = old_acks(bench)
    qp = bench.connect(ack_timeout=brisk_code(bench, 1), retry_count=0)
    message = qp.post(operations(bench, Service.RC)[0], 5)
    qp.expect_message(message)
    goes_on(
        bench,
        flood,
        qp.has_outcome,
        "its timeout was not noticed",
        within_ns=longest_wait_ns(bench, qp.spec.ack_timeout),
    )
    qp.completes(message, status=RETRY_EXCEEDED)
    bench.settle()


@case("QPS-06", "LIVE-02", smoke=True, targets=SIMULATED)
@REQUESTER
@over("long", [False, True])
def test_busy_queue_pairs_leave_every_other_its_turn(bench: Bench, long: bool) -> None:
    require_queue_pairs(bench.claims, 2)
    served(bench, Service.RC)
    op = operations(bench, Service.RC)[0]
    qp, *busy = (bench.connect() for _ in range(min(1 + BUSY, bench.claims.qps)))
    for each in busy:
        each.serve()
    size = PACKETS * qp.mtu if long else 5
    for _ in range(TURNS):
        message, begun = qp.post(op, 5), bench.target.now_ns
        while not qp.inbox:
            keep_busy(bench, busy, op, size)
            in_turn(bench, begun, "its packet never left")
        qp.expect_message(message)
        qp.ack(message)
        begun = bench.target.now_ns
        while not qp.has_outcome():
            keep_busy(bench, busy, op, size)
            in_turn(bench, begun, "it never completed")
        qp.completes(message)
    bench.settle()


def keep_busy(bench: Bench, busy: Sequence[Connection], op: Op, size: int) -> None:
    """Each of them has so much under way, or as much as the device may have."""
    for each in busy:
        for _ in range(DEPTH - len(each.under_way())):
            each.post(op, size)
    bench.pump(STEP)
    for each in busy:
        each.inbox.clear()
        each.has_more_outcomes()


def in_turn(bench: Bench, begun_ns: int, what: str) -> None:
    """It is not later than the manifest says."""
    cycles, clock_ps = bench.claims.limits.progress_cycles, bench.target.clock_ps
    usual = bench.target.patience.answer_ns
    longest = cycles * clock_ps // 1000 if cycles and clock_ps else usual
    if bench.target.now_ns > begun_ns + longest:
        raise bench.failed(f"{what} in {longest} ns beside busy queue pairs", rules=["QPS-06"])


@case("LIVE-03", "PSN-12", smoke=True, targets=SIMULATED, breaks=["PSN-01"])
@RESPONDER
@over("flood", [questions, strangers, early_requests])
def test_requests_are_answered_amid_a_flood(bench: Bench, flood: Callable[[Bench], Flood]) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp, frames = bench.connect(), flood(bench)
    region = qp.region()
    for psn in range(4):
        qp.send(WRITE_ONLY(psn=psn, payload=qp.mtu, a=1, **at(region)))
        goes_on(bench, frames, partial(has_come, qp, 1), "it was never acknowledged")
        qp.expect(ACK(psn=psn, msn=psn + 1))
    bench.settle()
    bench.target.asides()


@case("LIVE-01", "LIVE-03", needs=[Capability.PING], targets=["hdl"], smoke=True)
@REQUESTER
def test_questions_are_answered_amid_long_messages(bench: Bench) -> None:
    qp = bench.connect(path_mtu=max(bench.claims.path_mtus))
    served(bench, Service.RC)
    op = operations(bench, Service.RC)[0]
    posted = [qp.post(op, LONG) for _ in range(4)]
    bench.pump(bench.target.patience.answer_ns, partial(has_come, qp, 1))
    packets = sum(message.end_psn - message.psn for message in posted)
    are_answered_before(bench, partial(has_come, qp, packets))


@case("LIVE-01", "LIVE-03", needs=[Capability.PING], targets=["hdl"], smoke=True)
@RESPONDER
def test_questions_are_answered_amid_long_reads(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    qp = bench.connect(path_mtu=max(bench.claims.path_mtus), max_dest_rd_atomic=4)
    region = qp.region(LONG, filled=True)
    each = LONG // qp.mtu
    for n in range(4):
        qp.send(READ_REQUEST(psn=n * each, dmalen=LONG, **at(region)))
    bench.pump(bench.target.patience.answer_ns, partial(has_come, qp, 1))
    are_answered_before(bench, partial(has_come, qp, 4 * each))


def are_answered_before(bench: Bench, is_over: Callable[[], bool]) -> None:
    """ARP and ping, each before the device has sent all that it had to."""
    asked = Neighbourhood(bench.target.host)
    for size in (None, 32):
        bench.send(asked.asks(bench.peers[1], size), is_void=True)
        while asked.is_owing:
            if is_over():
                raise bench.failed(f"{asked.settled()} while it sends", rules=["LIVE-01"])
            bench.pump(STEP)
            asked.judge(bench, bench.target.asides())
