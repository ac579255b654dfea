# SPDX-License-Identifier: BSD-2-Clause
"""What a requester makes of acknowledgements: what they cover, and what they cannot."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.recovery import NEVER, write_all
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.pattern import ACCESS_ERROR, ACK, ACKNOWLEDGE, NAK, SEQUENCE_ERROR
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.WRITE)]

MTU = 256
MANY, PART = 300, 60
"""Packets of a message: more than eight bits count, and of a part of it."""


@case("ACK-02", smoke=True)
def test_the_last_packet_of_the_last_message_asks_for_an_answer(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    for length in (0, 1, MTU, 3 * MTU):
        packets = qp.expect_message(message := qp.post(Op.WRITE, length))
        if not packets[-1].bth.ack_req:
            raise bench.failed("the last packet has A=0: nobody answers it", rules=["ACK-02"])
        qp.finish(message)


@case("ACK-05", "ACK-08", smoke=True)
def test_one_ack_acknowledges_everything_before_it(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    messages = write_all(qp, 5, 3 * MTU, 0, MTU)
    qp.ack(messages[-1])
    qp.completes(*messages)


@case("ACK-08", smoke=True)
def test_a_message_completes_only_when_its_last_packet_is_acknowledged(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    messages = qp.post_some(Op.WRITE, 3 * MTU, 3 * MTU)
    qp.expect_message(*messages)
    for message in messages:
        qp.send(*(ACK(psn=message.psn + n, msn=message.ordinal - 1) for n in (0, 1)))
        qp.does_not_complete()
        qp.ack(message)
        qp.completes(message)


@case("ACK-08", "NAK-09", smoke=True, targets=["hdl", "model"])
def test_no_answer_inside_a_message_of_many_packets_completes_it(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    first = qp.post(Op.WRITE, MANY * MTU)
    acknowledged_in_parts(qp, first)
    qp.does_not_complete()
    qp.ack(first)
    qp.completes(first)
    second = qp.post(Op.WRITE, MANY * MTU)
    acknowledged_in_parts(qp, second)
    qp.send(NAK(ACCESS_ERROR, psn=second.last_psn))
    qp.completes(second, status="rem_access_err")


def acknowledged_in_parts(qp: Connection, message: Posted) -> None:
    """Each part as it comes, all but the last packet: some devices send no more at once."""
    packets = message.packets
    for at in range(0, len(packets), PART):
        part = packets[at : at + PART]
        qp.expect(*(packet.without("a") for packet in part))
        last = min(at + len(part), message.count - 1)
        qp.send(ACK(psn=message.psn + last - 1, msn=message.ordinal - 1))


@case("ACK-09", smoke=True)
@over("beyond", [1, 2, 1000, (1 << 23) - 1])
def test_an_ack_of_what_was_never_sent_is_ignored(bench: Bench, beyond: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    (message,) = write_all(qp, 2 * MTU)
    qp.ignores(message, ACK(psn=message.last_psn + beyond, msn=1))
    qp.transfer(Op.WRITE, 5)


@case("ACK-10", smoke=True)
@over("behind", [1, 2, 1000, (1 << 23) - 1])
def test_an_old_ack_is_ignored(bench: Bench, behind: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    qp.transfer(Op.WRITE, 2 * MTU)
    (message,) = write_all(qp, 5)
    qp.ignores(message, ACK(psn=message.psn - behind, msn=1))
    qp.transfer(Op.WRITE, 5)


@case("ACK-09", "ACK-10", smoke=True)
@over("side", [1, -1], ids=["beyond", "behind"])
def test_no_bit_is_left_out_when_the_psn_of_an_ack_is_compared(bench: Bench, side: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    qp.transfer(Op.WRITE, 5)
    (message,) = write_all(qp, 5)
    qp.ignores(message, *(ACK(psn=message.psn + side * (1 << bit), msn=1) for bit in range(23)))
    qp.transfer(Op.WRITE, 5)


@case("ACK-14", "ACK-08", smoke=True)
def test_an_ack_that_nobody_asked_for_is_taken(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    (message,) = write_all(qp, 4 * MTU)
    for psn in (0, 0, 1, 2, 2):
        qp.send(ACK(psn=psn, msn=0))
    qp.does_not_complete()
    qp.finish(message)
    qp.ack(message)
    qp.transfer(Op.WRITE, 5)


@case("ACK-15", "ACK-14")
@over("length", [MTU, 2 * MTU, 7 * MTU])
def test_an_answer_may_come_at_once(bench: Bench, length: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    qp.answer_with = lambda packet: [ACK(psn=_relative(packet.bth.psn, qp.spec.sq_psn))]
    for _ in range(8):
        message = qp.post(Op.WRITE, length)
        qp.expect_message(message)
        qp.completes(message)


@case("PSN-16", "ACK-05", smoke=True)
@over("start", [0xFFFFFD, 0xFFFFFF, 0x7FFFFE])
@over("acked", [3, 4, 5])
def test_acknowledgements_are_compared_across_the_wrap(
    bench: Bench, start: int, acked: int
) -> None:
    qp = bench.connect(path_mtu=MTU, sq_psn=start)
    messages = write_all(qp, *[5] * 6)
    qp.ack(messages[acked - 1])
    qp.completes(*messages[:acked])
    qp.finish(*messages[acked:])


@case("PSN-16", "ACK-05", "ACK-08", smoke=True)
@over("before", [1, 2, 3, 4, 0x800002], ids=hex)
def test_one_message_across_the_wrap_is_acknowledged(bench: Bench, before: int) -> None:
    """Nothing else is outstanding, for devices that hold no more than one message."""
    qp = bench.connect(path_mtu=MTU, sq_psn=(1 << 24) - before)
    for length in (0, 4 * MTU, 5, 5):
        (message,) = write_all(qp, length)
        if message.last_psn > message.psn:
            qp.send(ACK(psn=message.last_psn - 1))
        qp.ignores(message, ACK(psn=message.psn - 1))


@case("AETH-04", smoke=True)
def test_any_credit_code_is_an_acknowledgement(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    for credits in range(32):
        (message,) = write_all(qp, credits)
        qp.ack(message, credits=credits)
        qp.completes(message)


@case("AETH-05", smoke=True)
@over("syndrome", [0x40, 0x5F, 0x65, 0x6F, 0x7F, 0x80, 0x9F, 0xC0, 0xFF])
def test_a_reserved_syndrome_is_never_an_acknowledgement(bench: Bench, syndrome: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    (message,) = write_all(qp, 5)
    qp.send(ACKNOWLEDGE(psn=0, msn=1, syndrome=syndrome))
    bench.settle()
    told = bench.target.completions(qp.qp, count=1, timeout_ns=bench.target.patience.quiet_ns)
    if any(outcome.status == "success" for outcome in told):
        raise bench.failed(f"syndrome {syndrome:#04x} completed a message with success")
    if not told:
        qp.finish(message)


@case("MSN-08", breaks=WRONG_ANSWERS, smoke=True)
@over("msn", [0, 2, 3, 0xFFFFFF, 0x800000])
def test_a_wrong_msn_completes_nothing_that_is_not_acknowledged(bench: Bench, msn: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    first, second = write_all(qp, 5, 5)
    qp.send(ACK(psn=first.last_psn, msn=msn))
    qp.completes(first)
    qp.does_not_complete()
    qp.finish(second)


@case("NAK-13", smoke=True)
@over("psn", [-1, -1000, 1 - (1 << 23), 3, 1000, (1 << 23) - 1])
def test_a_sequence_nak_outside_the_window_is_ignored(bench: Bench, psn: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    qp.transfer(Op.WRITE, 0)
    (message,) = write_all(qp, 0)
    qp.ignores(message, NAK(SEQUENCE_ERROR, psn=message.psn + psn, msn=1))
    qp.transfer(Op.WRITE, 5)


def _relative(psn: int, start: int) -> int:
    return (psn - start) % (1 << 24)


@case("ACK-02", "LIVE-02", smoke=True)
def test_what_a_window_holds_up_has_asked_for_the_answer_that_opens_it(bench: Bench) -> None:
    """A message beyond any window, from a PSN that is a multiple of all; no timer helps."""
    qp = bench.connect(path_mtu=max(bench.claims.path_mtus), sq_psn=0, ack_timeout=NEVER)
    qp.serve()
    message = qp.post(Op.WRITE, MANY * qp.mtu)
    qp.expect_message(message)
    qp.completes(message)
