# SPDX-License-Identifier: BSD-2-Clause
"""Fatal NAKs: what they end, what they still acknowledge, and the silence behind them."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.recovery import copies, everything, write_all
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.moments import pass_by
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    INVALID_REQUEST,
    NAK,
    OPERATIONAL_ERROR,
    RNR,
    SEQUENCE_ERROR,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.WRITE)]

MTU = 256
MANY = 12
"""Packets of a message that has not left as a whole when its first one is answered."""
LONG, MORE = 40, 20
"""Packets of a message, and how many more of its copies may leave behind its end."""
MOMENTS = 48
"""Cycles behind a packet of a message, in one of which a NAK meets each step of what leaves."""
STATUS = {
    INVALID_REQUEST: "rem_inv_req_err",
    ACCESS_ERROR: "rem_access_err",
    OPERATIONAL_ERROR: "rem_op_err",
}

over_fatal_naks = over("code", STATUS, ids=[STATUS[code] for code in STATUS])


@case("NAK-09", "QPS-03", smoke=True)
@over_fatal_naks
def test_a_fatal_nak_ends_the_queue_pair(bench: Bench, code: int) -> None:
    qp = bench.connect(path_mtu=MTU, retry_count=7)
    first, *others = messages = qp.post_some(Op.WRITE, 2 * MTU, 5)
    qp.expect_message(*messages)
    qp.send(NAK(code, psn=first.psn))
    qp.completes(first, status=STATUS[code])
    qp.completes(*others, status="wr_flush_err")
    late = qp.post(Op.WRITE, 5)
    qp.completes(late, status="wr_flush_err")
    qp.expect_silence()
    qp.send(ACK(psn=messages[-1].last_psn, msn=len(messages)))
    qp.does_not_complete()


@case("NAK-09", "ACK-15", smoke=True)
@over_fatal_naks
def test_a_fatal_nak_amid_a_message_ends_it(bench: Bench, code: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    message = qp.post(Op.WRITE, MANY * MTU)
    first, *rest = (packet.without("a") for packet in message.packets)
    qp.expect(first)
    qp.send(NAK(code, psn=message.psn))
    qp.completes(message, status=STATUS[code])
    qp.expect_silence(allowing=rest)


@case(
    "NAK-09",
    "QPS-03",
    needs=[Capability.RETRANSMISSION],
    smoke=True,
    targets=["hdl", "model"],
    breaks=WRONG_ANSWERS,
)
def test_a_fatal_nak_ends_a_repetition_as_it_ends_a_message(bench: Bench) -> None:
    """What is under way may still leave, and of copies not much more than of the first time."""
    qp = bench.connect(path_mtu=MTU, retry_count=7)
    left = [behind_a_fatal_nak(bench, qp, is_repeated=is_repeated) for is_repeated in (False, True)]
    if left[1] > left[0] + MORE:
        text = f"{left[1]} packets left again behind a fatal NAK, and {left[0]} the first time"
        raise bench.failed(text, rules=["NAK-09"])


def behind_a_fatal_nak(bench: Bench, qp: Connection, *, is_repeated: bool, cycles: int = 0) -> int:
    """How many packets of a long message still leave, when its first one is answered so.

    The answer comes so many cycles behind that packet.
    """
    qp.reconnect()
    message = qp.post(Op.WRITE, LONG * MTU)
    if is_repeated:
        qp.expect_message(message)
        qp.send(NAK(SEQUENCE_ERROR, psn=message.psn))
    qp.expect(copies([message])[0])
    pass_by(bench, cycles)
    qp.send(NAK(INVALID_REQUEST, psn=message.psn))
    qp.completes(message, status=STATUS[INVALID_REQUEST])
    return len(everything(bench, qp))


@case("NAK-09", "QPS-03", smoke=True, targets=["hdl"])
def test_a_fatal_nak_ends_a_long_message_in_whatever_cycle_it_comes(bench: Bench) -> None:
    """What is under way may still leave, which is about as much whenever the NAK comes."""
    qp = bench.connect(path_mtu=MTU)
    least = LONG
    for cycles in range(bench.random.randrange(2), MOMENTS, 2):
        left = behind_a_fatal_nak(bench, qp, is_repeated=False, cycles=cycles)
        least = min(least, left)
        if left > least + MORE:
            text = f"{left} packets left behind a fatal NAK, and {least} in another cycle"
            raise bench.failed(text, rules=["NAK-09"])


@case("RNR-05", needs=[Capability.SEND], smoke=True)
@over("timer", [0, 1, 14, 31])
def test_an_rnr_nak_beyond_the_retry_count_ends_the_queue_pair(bench: Bench, timer: int) -> None:
    qp = bench.connect(path_mtu=MTU, rnr_retry=0)
    first, *others = qp.post_some(Op.SEND, MTU + 1, 5)
    qp.expect_message(first, *others)
    qp.send(RNR(psn=first.psn, timer=timer))
    qp.completes(first, status="rnr_retry_exc_err")
    qp.completes(*others, status="wr_flush_err")
    qp.completes(qp.post(Op.SEND, 5), status="wr_flush_err")
    qp.expect_silence()


@case("RNR-10", "RNR-05", needs=[Capability.SEND], smoke=True)
@over("timer", [0, 14, 31])
def test_an_rnr_nak_beyond_the_retry_count_acknowledges_what_stands_before_it(
    bench: Bench, timer: int
) -> None:
    qp = bench.connect(path_mtu=MTU, rnr_retry=0)
    messages = write_all(qp, 5, 3 * MTU) + write_all(qp, 2 * MTU, 5, op=Op.SEND)
    qp.send(RNR(psn=messages[2].psn, timer=timer, msn=2))
    qp.completes(*messages[:2])
    qp.completes(messages[2], status="rnr_retry_exc_err")
    qp.completes(messages[3], status="wr_flush_err")
    qp.expect_silence()


@case("NAK-10", smoke=True)
@over_fatal_naks
def test_a_fatal_nak_acknowledges_what_stands_before_it(bench: Bench, code: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    messages = write_all(qp, 5, 3 * MTU, 2 * MTU)
    qp.send(NAK(code, psn=messages[2].psn + 1, msn=2))
    qp.completes(*messages[:2])
    qp.completes(messages[2], status=STATUS[code])
    qp.expect_silence()


@case("QPS-04", "NAK-09", smoke=True)
@over_fatal_naks
def test_a_queue_pair_that_failed_starts_afresh(bench: Bench, code: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    (message,) = write_all(qp, 5)
    qp.send(NAK(code, psn=0))
    qp.completes(message, status=STATUS[code])
    qp.reconnect()
    qp.transfer(Op.WRITE, 2 * MTU + 1)
