# SPDX-License-Identifier: BSD-2-Clause
"""Receiver not ready: how long a requester waits, from where it goes on, and how often."""

from typing import Any

from roceproof.conformance.model.codes import ack_timeout_ns, rnr_wait_ns
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.recovery import (
    copies,
    last_given_ns,
    last_sent_ns,
    longest_wait_ns,
    timeout_code,
    unhurried_code,
    write_all,
)
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.limits.within_limits import (
    require_queue_pairs,
    require_tries_after_rnr,
)
from roceproof.conformance.suite.pattern import ACCESS_ERROR, NAK, RNR, SEQUENCE_ERROR
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.SEND, Capability.RETRANSMISSION)]

MTU = 256
SHORT_CODE, SHORTEST_CODE, LONGEST_CODE, TOP_BIT = 5, 1, 0, 16
ALWAYS = 7
RNR_EXCEEDED = "rnr_retry_exc_err"


def connect(bench: Bench, **spec: Any) -> Connection:
    if "rnr_retry" not in spec:
        require_tries_after_rnr(bench.claims)
    return bench.connect(path_mtu=MTU, **({"ack_timeout": unhurried_code(bench)} | spec))


def patience_ns(bench: Bench, code: int) -> int:
    return 4 * rnr_wait_ns(code) + bench.target.patience.answer_ns


def has_waited(bench: Bench, told_ns: int, code: int, *, when: str = "again") -> None:
    """What came last came behind the wait of such a code, which began then."""
    waited = last_sent_ns(bench) - told_ns
    if waited < rnr_wait_ns(code):
        raise bench.failed(
            f"sent {when} after {waited} ns; the wait of code {code} is {rnr_wait_ns(code)} ns"
        )


def side_by_side(bench: Bench) -> int:
    """On how many queue pairs a message may be under way at once."""
    limits = bench.claims.limits
    shared = [limits.outstanding_messages, limits.outstanding_packets]
    return min([bench.claims.qps, *(most for most in shared if most and limits.outstanding_shared)])


def waiting(bench: Bench, *sizes: int, at: int = 0) -> tuple[Connection, list[Posted], int]:
    """Messages, refused from that one on, with the code of a wait that has just begun."""
    quiet_ns = bench.target.patience.quiet_ns
    code = min((c for c in range(32) if rnr_wait_ns(c) > 4 * quiet_ns), key=rnr_wait_ns)
    qp = connect(bench)
    messages = write_all(qp, *sizes, op=Op.SEND)
    qp.send(RNR(psn=messages[at].psn, timer=code, msn=at))
    qp.expect_silence()
    return qp, messages, code


@case("RNR-03", smoke=True)
def test_the_requester_waits_as_long_as_each_code_says(bench: Bench) -> None:
    codes = range(SHORTEST_CODE, TOP_BIT + 1)
    qps = [connect(bench) for _ in codes[: side_by_side(bench)]]
    for first in range(0, len(codes), len(qps)):
        waits = []
        for code, qp in zip(codes[first:], qps, strict=False):
            (message,) = write_all(qp, 5, op=Op.SEND)
            qp.send(RNR(psn=message.psn, timer=code))
            waits.append((code, qp, message, last_given_ns(bench)))
        for code, qp, message, told in waits:
            qp.expect(*copies([message]), within_ns=patience_ns(bench, code))
            has_waited(bench, told, code)
            qp.finish(message)


@case("RNR-03", smoke=True)
def test_code_0_is_the_longest_wait(bench: Bench) -> None:
    qp = connect(bench)
    write_all(qp, 5, op=Op.SEND)
    qp.send(RNR(psn=0, timer=LONGEST_CODE))
    if qp.next(timeout_ns=rnr_wait_ns(13)) is not None:
        raise bench.failed("timer code 0 was taken for a short wait; it is 655 ms")


@case("RNR-03", smoke=True)
def test_no_long_code_is_taken_for_a_short_one(bench: Bench) -> None:
    """One bit less of its code, or of the count of its doublings, would be a wait to be seen."""
    seen_ns = rnr_wait_ns(TOP_BIT) + bench.target.patience.quiet_ns
    codes = [code for code in range(32) if rnr_wait_ns(code) > seen_ns]
    qps = [connect(bench) for _ in codes[: bench.claims.qps]]
    for first in range(0, len(codes), len(qps)):
        told: dict[int, int] = {}
        waiting_with = dict(zip(codes[first:], qps, strict=False))
        for code, qp in waiting_with.items():
            if first:
                qp.reconnect()
            write_all(qp, 5, op=Op.SEND)
            qp.send(RNR(psn=0, timer=code))
            told[code] = last_given_ns(bench)
        bench.pump(seen_ns, lambda: any(qp.inbox for qp in qps))
        for code, qp in waiting_with.items():
            if qp.inbox:
                has_waited(bench, told[code], code)


@case("RNR-04", "RNR-10", smoke=True)
def test_everything_from_the_refused_message_on_is_sent_again(bench: Bench) -> None:
    qp = connect(bench)
    messages = write_all(qp, 2 * MTU, 5) + write_all(qp, 5, MTU + 1, 0, op=Op.SEND)
    qp.send(RNR(psn=messages[2].psn, timer=SHORT_CODE, msn=2))
    qp.completes(*messages[:2])
    qp.expect(*copies(messages, first=messages[2].psn), within_ns=patience_ns(bench, SHORT_CODE))
    qp.expect_silence()
    qp.finish(*messages[2:])


@case("RNR-04", "RNR-10", needs=[Capability.WRITE_IMM])
def test_of_a_refused_message_what_came_before_is_not_sent_again(bench: Bench) -> None:
    """Of a WRITE with immediate the last packet alone takes a receive."""
    qp = connect(bench)
    messages = write_all(qp, 3 * MTU, op=Op.WRITE_IMM)
    last = messages[0].psn + messages[0].count - 1
    qp.send(RNR(psn=last, timer=SHORT_CODE))
    qp.expect(*copies(messages, first=last), within_ns=patience_ns(bench, SHORT_CODE))
    qp.expect_silence()
    qp.finish(*messages)


@case("RNR-03", "RNR-04", "RTX-24", targets=["hdl", "model"], smoke=True)
@over("is_beside", [False, True], ids=["alone", "beside"])
def test_work_posted_during_the_wait_follows_what_was_refused(
    bench: Bench, is_beside: bool
) -> None:
    require_queue_pairs(bench.claims, 1 + is_beside)
    others = [connect(bench)] if is_beside else []
    qp, messages, code = waiting(bench, 5)
    for other in others:
        other.transfer(Op.WRITE, 5)
    messages += [qp.post(Op.SEND, MTU + 1), qp.post(Op.WRITE, 5)]
    qp.expect(*copies(messages), within_ns=patience_ns(bench, code))
    qp.finish(*messages)


@case("RNR-03", targets=["hdl", "model"], smoke=True, breaks=["NAK-01"])
@over("at", [0, 1], ids=["first", "second"])
def test_no_sequence_nak_ends_the_wait(bench: Bench, at: int) -> None:
    """It may have been under way when the receiver ran out of receives."""
    qp, messages, code = waiting(bench, 5, 0, at=at)
    told = last_given_ns(bench)
    qp.send(NAK(SEQUENCE_ERROR, psn=messages[at].psn, msn=at))
    qp.completes(*messages[:at])
    left = messages[at:]
    qp.expect(*copies(messages, first=left[0].psn), within_ns=patience_ns(bench, code))
    has_waited(bench, told, code, when="behind a sequence NAK")
    qp.expect_silence()
    qp.finish(*left)


@case("NAK-09", targets=["hdl", "model"])
def test_a_refusal_for_good_ends_the_wait(bench: Bench) -> None:
    qp, (*served, refused), _ = waiting(bench, 5, 0, 5, 0, 5)
    late = qp.post(Op.SEND, 5)
    qp.expect_silence()
    qp.send(NAK(ACCESS_ERROR, psn=refused.psn, msn=len(served)))
    qp.completes(*served)
    qp.completes(refused, status="rem_access_err")
    qp.completes(late, status="wr_flush_err")
    qp.expect_silence()


@case("RNR-05", smoke=True)
@over("retries", [0, 1, 3, 6])
def test_a_message_is_refused_as_often_as_configured(bench: Bench, retries: int) -> None:
    qp = connect(bench, rnr_retry=retries)
    (message,) = write_all(qp, 5, op=Op.SEND)
    for _ in range(retries):
        qp.send(RNR(psn=0, timer=SHORTEST_CODE))
        qp.expect(*copies([message]), within_ns=patience_ns(bench, SHORTEST_CODE))
    qp.send(RNR(psn=0, timer=SHORTEST_CODE))
    qp.completes(message, status=RNR_EXCEEDED)
    qp.expect_silence()


@case("RNR-05", smoke=True)
def test_retry_count_7_has_no_end(bench: Bench) -> None:
    qp = connect(bench, rnr_retry=ALWAYS)
    (message,) = write_all(qp, 5, op=Op.SEND)
    for _ in range(12):
        qp.send(RNR(psn=0, timer=SHORTEST_CODE))
        qp.expect(*copies([message]), within_ns=patience_ns(bench, SHORTEST_CODE))
    qp.finish(message)


@case("RNR-05", smoke=True)
def test_success_restores_the_counter(bench: Bench) -> None:
    qp = connect(bench, rnr_retry=1)
    for _ in range(4):
        (message,) = write_all(qp, 5, op=Op.SEND)
        qp.send(RNR(psn=message.psn, timer=SHORTEST_CODE))
        qp.expect(*copies([message]), within_ns=patience_ns(bench, SHORTEST_CODE))
        qp.finish(message)


@case("RTX-05", "RNR-05", smoke=True)
def test_a_refusal_uses_up_no_retry_of_the_timeout(bench: Bench) -> None:
    qp = connect(bench, ack_timeout=timeout_code(bench), retry_count=1)
    (message,) = write_all(qp, 5, op=Op.SEND)
    qp.send(RNR(psn=0, timer=SHORTEST_CODE))
    qp.expect(*copies([message]), within_ns=patience_ns(bench, SHORTEST_CODE))
    qp.expect(*copies([message]), within_ns=longest_wait_ns(bench))
    qp.finish(message)


@case("RNR-11", smoke=True)
def test_the_ack_timer_rests_while_the_requester_waits(bench: Bench) -> None:
    timeout = timeout_code(bench)
    twice = 2 * (ack_timeout_ns(timeout) or 0)
    code = min((c for c in range(32) if rnr_wait_ns(c) > twice), key=rnr_wait_ns)
    qp = connect(bench, ack_timeout=timeout, retry_count=0)
    (message,) = write_all(qp, 5, op=Op.SEND)
    qp.send(RNR(psn=0, timer=code))
    told = last_given_ns(bench)
    qp.expect(*copies([message]), within_ns=patience_ns(bench, code))
    has_waited(bench, told, code, when="behind the ACK timeout")
    qp.finish(message)
