# SPDX-License-Identifier: BSD-2-Clause
"""When a requester gives up on an answer that does not come.

Without retries a device that retransmits and one that cannot do the same: T to 4 T behind the
last progress the message ends.
"""

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.recovery import (
    NEVER,
    awaited_code,
    copies,
    last_given_ns,
    last_sent_ns,
    longest_wait_ns,
    unhurried_code,
    write_all,
)
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.delay import Delay, again_where_held_up
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.pattern import ACK, NAK, SEQUENCE_ERROR
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.WRITE)]

MTU = 256
CODES = {True: 5, False: 15}  # 131 us in lockstep, 134 ms on the wall's clock
SLOW_CODE = 20  # four seconds
LAST_CODE, UNHURRIED = 31, 4  # times a case waits
SHARE, MANY = 4, 24  # messages in a timeout, and in six: one ends after four at the latest
GIVEN_UP, FLUSHED = "retry_exc_err", "wr_flush_err"


def brief_code(bench: Bench) -> int:
    """A timeout that a case can wait for several times."""
    return awaited_code(bench, CODES[Capability.LOCKSTEP in bench.claims.capabilities])


def least_ns(code: int) -> int:
    return ack_timeout_ns(code) or 0


on_a_host_that_lets_it = again_where_held_up(
    lambda bench: least_ns(brief_code(bench)) // 2  # what was to come before T may come behind it
)


def connect(bench: Bench, code: int) -> Connection:
    return bench.connect(path_mtu=MTU, ack_timeout=code, retry_count=0)


def ends_in_time(
    bench: Bench, qp: Connection, message: Posted, *, since_ns: int, delay: Delay
) -> None:
    """The message ends T to 4 T behind that time, the delay since then apart."""
    code, patience = qp.spec.ack_timeout, bench.target.patience
    qp.completes(message, status=GIVEN_UP, within_ns=longest_wait_ns(bench, code))
    waited, least = bench.target.now_ns - since_ns, least_ns(code)
    held_up = delay.within_ns(waited)
    earliest, latest = least - patience.grain_ns, 4 * least + patience.quiet_ns
    if not earliest - held_up <= waited <= latest + held_up:
        raise bench.failed(f"given up after {waited} ns; T is {least} ns, 4 T at most")
    qp.expect_silence()


@case("RTX-01", "RTX-05")
@over("longer", [0, 1, 2])
@on_a_host_that_lets_it
def test_without_retries_a_message_ends_between_t_and_four_t(bench: Bench, longer: int) -> None:
    qp, delay = connect(bench, brief_code(bench) + longer), Delay(bench.target)
    most = bench.claims.limits.outstanding_messages
    first, *others = write_all(qp, *(3 * MTU, 5)[:most])
    ends_in_time(bench, qp, first, since_ns=last_sent_ns(bench), delay=delay)
    qp.completes(*others, status=FLUSHED)


@case("RTX-01", smoke=True)
def test_no_timeout_code_is_over_before_its_time(bench: Bench) -> None:
    quiet_ns = bench.target.patience.quiet_ns
    codes = [code for code in range(LAST_CODE, 0, -1) if least_ns(code) > UNHURRIED * quiet_ns]
    qp = connect(bench, codes[0])
    for code in codes:
        qp.reconnect(ack_timeout=code)
        (message,) = write_all(qp, 5)
        bench.pump(quiet_ns, lambda: bool(qp.inbox) or qp.has_outcome())
        if qp.inbox or qp.has_outcome():
            what = "sent again" if qp.inbox else "given up"
            raise bench.failed(
                f"with ACK timeout code {code}, whose T is {least_ns(code)} ns, a message was"
                f" {what} within {quiet_ns} ns",
                rules=["RTX-01"],
            )
        qp.finish(message)


@case("RTX-01", smoke=True)
@on_a_host_that_lets_it
def test_progress_starts_the_time_anew(bench: Bench) -> None:
    qp = connect(bench, brief_code(bench))
    (message,) = write_all(qp, 4 * MTU)
    for psn in range(3):
        bench.pump(least_ns(qp.spec.ack_timeout) // 2)
        delay = Delay(bench.target)
        qp.send(ACK(psn=psn, msn=0))
    ends_in_time(bench, qp, message, since_ns=last_given_ns(bench), delay=delay)


@case("RTX-01", "RTX-11")
@on_a_host_that_lets_it
def test_the_last_message_is_waited_for_as_the_first(bench: Bench) -> None:
    qp = connect(bench, brief_code(bench))
    first, last = write_all(qp, 3 * MTU, 5)
    delay = Delay(bench.target)
    qp.ack(first)
    qp.completes(first)
    ends_in_time(bench, qp, last, since_ns=last_given_ns(bench), delay=delay)


@case("RTX-01", smoke=True)
@on_a_host_that_lets_it
def test_packets_that_follow_do_not_put_it_off(bench: Bench) -> None:
    qp, delay = connect(bench, brief_code(bench) + 1), Delay(bench.target)
    (message,) = write_all(qp, 5)
    since_ns, least = last_sent_ns(bench), least_ns(qp.spec.ack_timeout)
    for _ in range(MANY):
        if qp.has_outcome():
            break
        qp.post(Op.WRITE, 5)
        bench.pump(least // SHARE, qp.has_outcome)
    if not qp.has_outcome():  # no host is busy so long that sends what is posted
        raise bench.failed(f"not given up for {MANY // SHARE} T, in which other messages left")
    qp.inbox.clear()
    ends_in_time(bench, qp, message, since_ns=since_ns, delay=delay)


@case("RTX-01", "RTX-23")
@on_a_host_that_lets_it
def test_the_traffic_of_another_queue_pair_does_not_put_it_off(bench: Bench) -> None:
    qp, busy = connect(bench, brief_code(bench)), connect(bench, brief_code(bench) + 1)
    delay = Delay(bench.target)
    (message,) = write_all(qp, 5)
    since_ns, least = last_sent_ns(bench), least_ns(qp.spec.ack_timeout)
    while not qp.has_outcome() and bench.target.now_ns < since_ns + 5 * least:
        busy.transfer(Op.WRITE, 5)
        bench.pump(least // 8, qp.has_outcome)
    ends_in_time(bench, qp, message, since_ns=since_ns, delay=delay)


@case("RTX-01", "LIVE-01")
def test_a_queue_pair_that_waits_for_nothing_never_gives_up(bench: Bench) -> None:
    qp = connect(bench, brief_code(bench))
    for _ in range(2):
        qp.transfer(Op.WRITE, 2 * MTU)
        bench.pump(5 * least_ns(qp.spec.ack_timeout))
    qp.transfer(Op.WRITE, 5)


@case("RTX-07")
def test_code_0_waits_for_ever(bench: Bench) -> None:
    qp = connect(bench, NEVER)
    (message,) = write_all(qp, 2 * MTU)
    bench.pump(longest_wait_ns(bench, brief_code(bench)))
    qp.does_not_complete()
    qp.finish(message)


@case("RTX-08", "FUZZ-11", breaks=WRONG_ANSWERS)
@over("psn", [0, 1, 2])
def test_a_message_that_is_naked_does_not_wait_for_the_timeout(bench: Bench, psn: int) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench, SLOW_CODE))
    (message,) = write_all(qp, 3 * MTU)
    qp.send(NAK(SEQUENCE_ERROR, psn=psn, msn=0))
    if not bench.comes_true(lambda: bool(qp.inbox) or qp.has_outcome()):
        raise bench.failed("neither was the message sent again nor did it end")
    if qp.inbox:
        qp.expect(*copies([message], first=psn))
        qp.finish(message)
    else:
        qp.completes(message, status=GIVEN_UP)
