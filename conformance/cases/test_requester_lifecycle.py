# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs of a requester through their states, and what is left of a life in the next."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import (
    REQUESTER,
    case,
    needs,
    over,
    over_services,
    over_ways_anew,
)
from roceproof.conformance.suite.checks.reading import memory_for
from roceproof.conformance.suite.checks.recovery import (
    brisk_code,
    copies,
    longest_wait_ns,
    noticed_ns,
    write_all,
)
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.packet_flow import FLUSHED
from roceproof.conformance.suite.pattern import (
    ACK,
    ATOMIC_ACK,
    INVALID_REQUEST,
    NAK,
    RNR,
    SEQUENCE_ERROR,
)
from roceproof.conformance.suite.traffic.corrupted_frames import rubbish_of
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Refused
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.WRITE)]

MTU = 256
UDP_PORT = 2  # of the destination, counted from the UDP header
TIMER = {True: 4, False: 16}  # 66 us in lockstep; 268 ms where to connect anew takes its time
LONG_WAIT = 31  # a timer code of 492 ms
UNHURRIED = 4
"""Quarters of the time for silence in a timeout."""


def basics(qp: Connection) -> None:
    """What a fresh device sends for a few messages, each acknowledged and completed."""
    for burst in ((700,), (0,), (5,), (MTU + 1,), (5, 700, 300)):
        messages = qp.post_some(Op.WRITE, *burst)
        qp.follow(*messages)
        qp.finish(*messages)


@case("QPS-02", needs=[Capability.STATES])
@over_services
def test_no_request_leaves_before_the_queue_pair_may_send(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU, state=State.RTR)
    try:
        message = qp.post(Op.WRITE, 700)
    except Refused:
        qp.expect_silence()
        return
    qp.expect_silence()
    if qp.has_outcome():
        qp.completes(message, status="loc_qp_op_err")
        return
    bench.target.set_state(qp.qp, State.RTS)
    qp.expect_message(message)
    qp.finish(message)


@case("QPS-02", needs=[Capability.RESET], smoke=True)
@over_services
def test_no_request_leaves_a_queue_pair_that_was_reset(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    qp.transfer(Op.WRITE, 700)
    bench.target.set_state(qp.qp, State.RESET)
    with suppress(Refused):
        qp.forgets(qp.post(Op.WRITE, 700))
    qp.expect_silence()
    bench.connect(service, path_mtu=MTU).transfer(Op.WRITE, 700)


def sends_no_more(bench: Bench, qp: Connection) -> None:
    """Work is refused, or forgotten."""
    if bench.claims.limits.flushes:
        qp.refuses(Op.WRITE, 700)
        return
    with suppress(Refused):
        qp.post(Op.WRITE, 700)
    qp.expect_silence()


def in_words(moment: Callable[[Bench, Connection], None]) -> str:
    return moment.__name__.replace("_", "-")


def unacknowledged(bench: Bench, qp: Connection) -> None:
    """Messages wait for their acknowledgement."""
    write_all(qp, 700, 5)


def partly_acknowledged(bench: Bench, qp: Connection) -> None:
    """The last thing that came acknowledges the middle of a message."""
    write_all(qp, 5, 700)
    qp.send(ACK(psn=1, msn=1))
    bench.settle()


def in_a_message(bench: Bench, qp: Connection) -> None:
    """Packets of a message have left, and others have not."""
    qp.post(Op.WRITE, 60 * MTU)
    qp.next()


def failed(bench: Bench, qp: Connection) -> None:
    """A NAK has ended it."""
    message = write_all(qp, 700)[0]
    qp.send(NAK(INVALID_REQUEST, psn=1, msn=0))
    qp.completes(message, status="rem_inv_req_err")


def waiting_for_a_receiver(bench: Bench, qp: Connection) -> None:
    """The receiver was not ready, and the time that it asked for is not over."""
    write_all(qp, 700, 5)
    qp.send(RNR(timer=LONG_WAIT, psn=0, msn=0))
    qp.expect_silence()


def in_a_replay(bench: Bench, qp: Connection) -> None:
    """Some of the packets that a NAK asks for have left again."""
    write_all(qp, 700, 60 * MTU)
    qp.send(NAK(SEQUENCE_ERROR, psn=1, msn=0))
    qp.next()


def with_retries_spent(bench: Bench, qp: Connection) -> None:
    """One more timeout would have ended it."""
    write_all(qp, 5)
    qp.send(NAK(SEQUENCE_ERROR, psn=0, msn=0))
    qp.next()


def with_a_read_outstanding(bench: Bench, qp: Connection) -> None:
    """A READ waits for its data, and a message behind it."""
    qp.expect_message(qp.post(Op.READ, 700, into=memory_for(qp)), qp.post(Op.WRITE, 5))


_RETRANSMITS = needs(Capability.RC, Capability.RETRANSMISSION)


@case("QPS-03", needs=[Capability.STATES, Capability.RC], smoke=True, breaks=WRONG_ANSWERS)
@over(
    "amid",
    [
        *(unacknowledged, in_a_message),
        pytest.param(waiting_for_a_receiver, marks=_RETRANSMITS),
        pytest.param(in_a_replay, marks=_RETRANSMITS),
        pytest.param(with_a_read_outstanding, marks=needs(Capability.READ, Capability.MEMORY)),
    ],
    ids=in_words,
)
def test_a_queue_pair_in_error_sends_nothing(
    bench: Bench, amid: Callable[[Bench, Connection], None]
) -> None:
    code = brisk_code(bench, UNHURRIED)
    qp = bench.connect(path_mtu=MTU, ack_timeout=code)
    amid(bench, qp)
    messages = qp.under_way()
    bench.target.set_state(qp.qp, State.ERR)
    bench.settle()
    qp.inbox.clear()  # what left before the device took the command
    qp.send(NAK(SEQUENCE_ERROR, psn=0, msn=0), ACK(psn=0, msn=0))
    bench.pump(noticed_ns(code), lambda: bool(qp.inbox))
    qp.expect_silence()
    qp.completes(*messages, status=FLUSHED)
    sends_no_more(bench, qp)


over_endings = pytest.mark.parametrize(
    "leave",
    [
        pytest.param(unacknowledged, marks=[needs(Capability.RC), pytest.mark.smoke]),
        pytest.param(partly_acknowledged, marks=needs(Capability.RC)),
        pytest.param(in_a_message, marks=needs(Capability.RC)),
        pytest.param(failed, marks=needs(Capability.RC)),
        pytest.param(waiting_for_a_receiver, marks=[_RETRANSMITS, pytest.mark.smoke]),
        pytest.param(in_a_replay, marks=[_RETRANSMITS, pytest.mark.smoke]),
        pytest.param(with_retries_spent, marks=[_RETRANSMITS, pytest.mark.smoke]),
    ],
    ids=in_words,
)
"""Run a case behind each state in which a connection may have been left."""


def begin_anew(qp: Connection, *, straight: bool, **changes: Any) -> None:
    """A new life, in which nothing comes of the old one any more."""
    qp.reconnect(straight=straight, **changes)
    if straight:
        qp.all_outcomes(0)
        qp.inbox.clear()


@case("QPS-04", breaks=WRONG_ANSWERS)
@over_endings
@over_ways_anew
def test_a_new_connection_knows_nothing_of_the_one_before(
    bench: Bench, leave: Callable[[Bench, Connection], None], *, straight: bool
) -> None:
    qp = bench.connect(path_mtu=MTU, retry_count=1)
    leave(bench, qp)
    begin_anew(qp, straight=straight, retry_count=1)
    if Capability.RETRANSMISSION in bench.claims.capabilities:
        may_still_try_again(qp)
    basics(qp)
    qp.expect_silence()


def may_still_try_again(qp: Connection) -> None:
    """The first message is lost, and asked for once."""
    message = write_all(qp, 700)[0]
    qp.send(NAK(SEQUENCE_ERROR, psn=0, msn=0))
    qp.expect(*copies([message]))
    qp.finish(message)


@case("QPS-04", needs=[Capability.RC])
def test_the_timer_of_the_connection_before_does_not_run_on(bench: Bench) -> None:
    code = TIMER[Capability.LOCKSTEP in bench.claims.capabilities]
    qp = bench.connect(path_mtu=MTU, retry_count=1, ack_timeout=code)
    write_all(qp, 700, 5)
    qp.reconnect(ack_timeout=0)
    messages = write_all(qp, 700)
    bench.pump(longest_wait_ns(bench, code))
    qp.does_not_complete()
    qp.finish(*messages)


@case("QPS-04", needs=[Capability.RC])
def test_the_timer_of_a_message_that_is_over_does_not_run_into_the_next_connection(
    bench: Bench,
) -> None:
    """A timer that is left to expire when its message completes is stopped at RESET."""
    code = TIMER[Capability.LOCKSTEP in bench.claims.capabilities]
    qp = bench.connect(path_mtu=MTU, retry_count=1, ack_timeout=code)
    qp.finish(*write_all(qp, 5))
    qp.reconnect(ack_timeout=0)
    messages = write_all(qp, 700)
    bench.pump(longest_wait_ns(bench, code))
    qp.does_not_complete()
    qp.finish(*messages)


@case("QPS-04", needs=[Capability.RC, Capability.UC], smoke=True, targets=["hdl"])
@over_ways_anew
def test_a_queue_pair_changes_its_service_with_its_life(bench: Bench, *, straight: bool) -> None:
    code = brisk_code(bench, UNHURRIED)
    qp = bench.connect(path_mtu=MTU, ack_timeout=code)
    write_all(qp, 700, 5)
    for service in (Service.UC, Service.RC):
        timeout = code if service is Service.RC else 0
        begin_anew(qp, straight=straight, service=service, ack_timeout=timeout)
        bench.pump(noticed_ns(code), lambda: bool(qp.inbox))
        qp.transfer(Op.WRITE, 700)
        write_all(qp, 700, 5)


@case("QPS-04", needs=[Capability.UC])
def test_a_new_unreliable_connection_begins_with_a_new_message(bench: Bench) -> None:
    qp = bench.connect(Service.UC, path_mtu=MTU)
    for _ in range(3):
        in_a_message(bench, qp)
        qp.reconnect()
        basics(qp)


@case("QPS-04", "PSN-09", needs=[Capability.RC], breaks=WRONG_ANSWERS, smoke=True)
@over("step", [-2, -1, 1, 2])
def test_a_late_acknowledgement_of_the_connection_before_acknowledges_nothing(
    bench: Bench, step: int
) -> None:
    start = 0x400000
    qp = bench.connect(path_mtu=MTU, sq_psn=start)
    write_all(qp, 5, 5)
    qp.reconnect(sq_psn=start + step * 0x1000)
    messages = write_all(qp, 5, 5)
    qp.send(*(ACK(psn=-step * 0x1000 + index, msn=index + 1) for index in range(2)))
    qp.does_not_complete()
    qp.finish(*messages)


@case("QPS-04", needs=[Capability.READ, Capability.MEMORY, Capability.STATES])
@over(
    "then",
    [Op.WRITE, pytest.param(Op.CMP_SWAP, marks=needs(Capability.ATOMIC)), Op.READ],
    ids=["WRITE", "CMP_SWAP", "READ"],
)
def test_a_read_of_the_connection_before_that_had_begun(bench: Bench, then: Op) -> None:
    qp = bench.connect(path_mtu=MTU)
    into = qp.region(8 * qp.mtu)
    read = qp.post(Op.READ, 3 * MTU, into=into)
    qp.expect_message(read)
    qp.send(read_responses(qp, 0, bytes(3 * qp.mtu), msn=1)[0])
    bench.settle()
    bench.target.set_state(qp.qp, State.ERR)
    qp.completes(read, status=FLUSHED)
    qp.reconnect()
    message = qp.post(then, 8, **({} if then is Op.WRITE else {"into": into}))
    qp.expect_message(message)
    data = qp.random.randbytes(message.work.size)
    original = int.from_bytes(data[:8], "little")
    qp.send(
        *{
            Op.WRITE: [ACK(psn=0, msn=1)],
            Op.CMP_SWAP: [ATOMIC_ACK(psn=0, msn=1, original=original)],
            Op.READ: read_responses(qp, 0, data, msn=1),
        }[then]
    )
    qp.completes(message)
    if then is not Op.WRITE and into.read(0, len(data)) != data:
        raise bench.failed(f"{then.name} completed with success and without its data")
    qp.transfer(Op.WRITE, 5)


@case("LIVE-01")
@over_services
def test_a_device_that_was_sent_rubbish_connects_anew(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    good = qp.frame(ACK(psn=0, msn=1))
    for _ in range(300):
        bench.send(rubbish_of(good, bench.random), is_void=True)
    basics(qp)
    basics(bench.fresh(service=service, path_mtu=MTU))
