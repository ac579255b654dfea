# SPDX-License-Identifier: BSD-2-Clause
"""End-to-end credits: which messages wait for them, and what lets them go."""

from typing import Any

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.reading import ask, memory_for
from roceproof.conformance.suite.checks.recovery import copies, write_all
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    ATOMIC_ACK,
    NAK,
    OPERATIONAL_ERROR,
    RNR,
    SEND_ONLY,
    SEND_ONLY_IMM,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.SEND)]

MTU = 256
# fmt: off
CODES = dict(enumerate([
    0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
]))
# fmt: on
"""Credit codes, and how many messages each stands for."""
MOST, MANY = 128, 24
"""So many messages are sent to see where credits end, and to see that they do not yet."""
NO_LIMIT = 31
USUAL, DRAWN = (3, 5, 7), 6
"""Codes that are tried in any case, and so many of the large ones."""
TOGETHER = 8
RESERVED = 0x80
SHORT_WAIT = 5
ONLY = {Op.SEND: SEND_ONLY, Op.SEND_IMM: SEND_ONLY_IMM, Op.WRITE_IMM: WRITE_ONLY_IMM}
STATUS = {ACCESS_ERROR: "rem_access_err", OPERATIONAL_ERROR: "rem_op_err"}
IN_THE_MSN = 8 + 12 + 3
"""A byte of an ACK, counted from the start of UDP."""


def connect(bench: Bench, *, credits: int, **spec: Any) -> Connection:
    """A connection whose first message was acknowledged with this credit code."""
    obeys = Capability.CREDITS in bench.claims.capabilities
    qp = bench.connect(path_mtu=MTU, flow_control=obeys, **spec)
    grant(qp, credits)
    return qp


def grant(qp: Connection, credits: int) -> None:
    """The first message is acknowledged with this credit code."""
    first = qp.post(Op.SEND, 5)
    qp.expect(SEND_ONLY(psn=0, a=1))
    qp.ack(first, credits=credits)
    qp.completes(first)


def go(qp: Connection, count: int) -> None:
    """So many messages behind the first need no further credits."""
    for begin in range(1, count + 1, TOGETHER):
        together = range(begin, min(begin + TOGETHER, count + 1))
        messages = [qp.post(Op.SEND, 5) for _ in together]
        qp.expect(*(SEND_ONLY(psn=psn) for psn in together))
        qp.ack(messages[-1], credits=0)
        qp.completes(*messages)


def limited(*packets: Pattern) -> list[Pattern]:
    """The packets of a message that leaves without a credit, the last of which asks for an ACK."""
    *others, last = packets
    return [*(packet.without("a") for packet in others), last.but(a=1)]


@case("CRED-03", needs=[Capability.CREDITS], smoke=True)
@over("credits", [0, 2, 4])
def test_as_many_messages_leave_as_there_are_credits_and_at_most_one_that_asks(
    bench: Bench, credits: int
) -> None:
    qp = connect(bench, credits=credits)
    for _ in range(credits + 3):
        qp.post(Op.SEND, 5)
    for number in range(credits):
        qp.expect(SEND_ONLY(psn=1 + number))
    qp.expect_silence(allowing=[SEND_ONLY(psn=1 + credits, a=1)])


@case("CRED-04", needs=[Capability.WRITE], smoke=True)
def test_a_write_needs_no_credit(bench: Bench) -> None:
    qp = connect(bench, credits=0)
    for _ in range(4):
        qp.post(Op.WRITE, 5)
    qp.expect(*(WRITE_ONLY(psn=1 + number) for number in range(4)))


@case("CRED-05", needs=[Capability.CREDITS], smoke=True)
def test_an_ack_that_only_raises_credits_lets_messages_go(bench: Bench) -> None:
    qp = connect(bench, credits=0)
    for _ in range(4):
        qp.post(Op.SEND, 5)
    qp.expect(SEND_ONLY(psn=1, a=1))
    qp.expect_silence()
    qp.send(ACK(psn=0, msn=1, credits=4))
    qp.expect(*(SEND_ONLY(psn=psn) for psn in (2, 3, 4)))


@case("CRED-03", needs=[Capability.CREDITS], smoke=True)
@over(
    "op",
    [
        Op.SEND,
        pytest.param(Op.SEND_IMM, marks=needs(Capability.SEND_IMM)),
        pytest.param(Op.WRITE_IMM, marks=needs(Capability.WRITE_IMM)),
    ],
    ids=["SEND", "SEND_IMM", "WRITE_IMM"],
)
def test_whatever_needs_a_receive_waits_for_credits(bench: Bench, op: Op) -> None:
    qp = connect(bench, credits=0)
    first, *_ = [qp.post(op, 5) for _ in range(3)]
    qp.expect_silence(allowing=limited(*first.packets))
    qp.send(ACK(psn=0, msn=1, credits=2))
    qp.expect_silence(allowing=[*first.packets, ONLY[op](psn=2), *limited(ONLY[op](psn=3))])


@case("CRED-03", "CRED-04", needs=[Capability.CREDITS, Capability.WRITE], smoke=True)
def test_messages_that_need_no_credit_count_among_those_that_are_admitted(bench: Bench) -> None:
    """A responder counts them, too: its MSN and its credits say up to which message."""
    qp = connect(bench, credits=4)
    for op in (Op.WRITE, Op.SEND, Op.WRITE, Op.SEND, Op.SEND, Op.SEND):
        qp.post(op, 5)
    writes, sends = ([kind(psn=psn) for psn in range(1, 5)] for kind in (WRITE_ONLY, SEND_ONLY))
    qp.expect(writes[0], sends[1], writes[2], sends[3])
    qp.expect_silence(allowing=limited(SEND_ONLY(psn=5)))


@case("CRED-03", needs=[Capability.CREDITS])
@over(
    "code",
    [pytest.param(code, marks=pytest.mark.smoke) if code in USUAL else code for code in CODES],
    ids=[f"code {code}" for code in CODES],
)
def test_a_credit_code_admits_as_many_messages_as_it_stands_for(bench: Bench, code: int) -> None:
    qp = connect(bench, credits=code)
    go(qp, min(CODES[code], MOST))
    if CODES[code] <= MOST:
        for _ in range(3):
            qp.post(Op.SEND, 5)
        qp.expect_silence(allowing=limited(SEND_ONLY(psn=CODES[code] + 1)))


@case("CRED-03", needs=[Capability.CREDITS], smoke=True)
def test_large_credit_codes_admit_many_messages(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU, flow_control=True)
    for code in bench.random.sample([code for code in CODES if CODES[code] >= MANY], DRAWN):
        qp.reconnect()
        grant(qp, code)
        go(qp, MANY)


@case("CRED-03", "QPS-04", needs=[Capability.CREDITS], breaks=WRONG_ANSWERS, smoke=True)
def test_credits_of_the_connection_before_admit_nothing(bench: Bench) -> None:
    """Neither those that it had, nor what a late ACK of it brings, whose PSN is one before."""
    qp = connect(bench, credits=4)
    qp.reconnect(sq_psn=(qp.spec.sq_psn + 1) % PSN_MODULUS)
    for _ in range(3):
        qp.post(Op.SEND, 5)
    qp.expect_silence(allowing=limited(SEND_ONLY(psn=0)))
    qp.send(ACK(psn=-1, msn=1, credits=4))
    qp.expect_silence(allowing=limited(SEND_ONLY(psn=0)))


@case(
    "CRED-03",
    "QPS-04",
    needs=[Capability.CREDITS, Capability.POWER_ON],
    breaks=WRONG_ANSWERS,
    smoke=True,
)
def test_credits_from_before_a_reset_admit_nothing(bench: Bench) -> None:
    connect(bench, credits=NO_LIMIT)
    bench.power_on()
    qp = bench.connect(path_mtu=MTU, flow_control=True)
    for _ in range(3):
        qp.post(Op.SEND, 5)
    qp.expect_silence(allowing=limited(SEND_ONLY(psn=0)))


@case("CRED-03", needs=[Capability.CREDITS], breaks=WRONG_ANSWERS, smoke=True)
@over("kind", ["ahead", "damaged", "of another host", "with a NAK code", "for another number"])
@over("credits", [8, NO_LIMIT], ids=["8", "no limit"])
def test_credits_in_an_ack_that_is_to_be_ignored_admit_nothing(
    bench: Bench, kind: str, credits: int
) -> None:
    stranger = bench.peers[1]
    qp = connect(bench, credits=0)
    for _ in range(4):
        qp.post(Op.SEND, 5)
    qp.expect(SEND_ONLY(psn=1, a=1))
    again = ACK(psn=0, msn=1, credits=credits)
    answer = {
        "ahead": ACK(psn=2, msn=1, credits=credits),
        "damaged": again.corrupted(edits.flip_udp(IN_THE_MSN)),
        "of another host": again.but(src_ip=stranger.ip, src_mac=stranger.mac),
        "with a NAK code": again.but(syndrome=RESERVED | credits),
        "for another number": again.but(qpn=qp.spec.local_qpn ^ 1 << 23),
    }[kind]
    qp.send(answer)
    qp.expect_silence()
    qp.send(ACK(psn=0, msn=1, credits=4))
    qp.expect(*(SEND_ONLY(psn=psn) for psn in (2, 3, 4)))


@case("CRED-03", needs=[Capability.CREDITS], smoke=True)
def test_each_queue_pair_has_credits_of_its_own(bench: Bench) -> None:
    poor, rich = connect(bench, credits=0), connect(bench, credits=2)
    for _ in range(2):
        rich.post(Op.SEND, 5)
    rich.expect(SEND_ONLY(psn=1), SEND_ONLY(psn=2))
    first = poor.post(Op.SEND, 5)
    poor.expect(SEND_ONLY(psn=1, a=1))
    poor.ack(first, credits=NO_LIMIT)
    for _ in range(3):
        rich.post(Op.SEND, 5)
    rich.expect_silence(allowing=limited(SEND_ONLY(psn=3)))


@case("CRED-03", "LIVE-01", "QPS-04", needs=[Capability.CREDITS], smoke=True)
def test_each_life_of_a_queue_pair_obeys_credits_or_not_as_was_agreed(bench: Bench) -> None:
    qp = connect(bench, credits=0)
    qp.reconnect(flow_control=False)
    messages = write_all(qp, *[5] * 4, op=Op.SEND)
    qp.ack(messages[-1], credits=4)
    qp.completes(*messages)
    qp.reconnect(flow_control=True)
    for _ in range(3):
        qp.post(Op.SEND, 5)
    qp.expect_silence(allowing=limited(SEND_ONLY(psn=0)))


@case("CRED-03", needs=[Capability.CREDITS], smoke=True)
def test_a_queue_pair_that_agreed_on_no_credits_obeys_none(bench: Bench) -> None:
    obeys, free = connect(bench, credits=0), bench.connect(path_mtu=MTU)
    free.ack(write_all(free, 5, op=Op.SEND)[0], credits=0)
    free.expect_message(*(free.post(Op.SEND, 5) for _ in range(4)))
    for _ in range(2):
        obeys.post(Op.SEND, 5)
    obeys.expect_silence(allowing=limited(SEND_ONLY(psn=1)))


@case("CRED-03", needs=[Capability.CREDITS, Capability.READ, Capability.MEMORY], smoke=True)
def test_a_response_without_an_aeth_brings_no_credits(bench: Bench) -> None:
    qp = connect(bench, credits=0)
    read, data = ask(qp, 4 * MTU, qp.region(4 * qp.mtu))
    for _ in range(3):
        qp.post(Op.SEND, 5)
    first, *others, last = read_responses(qp, 1, data, msn=2, syndrome=0)
    qp.send(first, *others)
    qp.expect_silence(allowing=limited(SEND_ONLY(psn=5)))
    qp.send(last)
    qp.completes(read)
    qp.expect_silence(allowing=limited(SEND_ONLY(psn=5)))


@case("CRED-05", needs=[Capability.CREDITS, Capability.MEMORY], smoke=True)
@over(
    "op",
    [
        pytest.param(Op.READ, marks=needs(Capability.READ)),
        pytest.param(Op.CMP_SWAP, marks=needs(Capability.ATOMIC)),
    ],
    ids=["READ", "CMP_SWAP"],
)
def test_an_answer_with_data_brings_the_credits_beside_them(bench: Bench, op: Op) -> None:
    qp = connect(bench, credits=0)
    asked = qp.post(op, 8, into=memory_for(qp))
    others = [qp.post(Op.SEND, 5) for _ in range(3)]
    qp.expect_message(asked)
    aeth = {"msn": asked.ordinal, "syndrome": 4}
    if op is Op.READ:
        qp.send(*read_responses(qp, asked.psn, qp.random.randbytes(asked.work.size), **aeth))
    else:
        qp.send(ATOMIC_ACK(psn=asked.psn, original=7, **aeth))
    qp.completes(asked)
    qp.expect(*(SEND_ONLY(psn=message.psn) for message in others))
    qp.finish(*others)


@case("CRED-03", needs=[Capability.CREDITS])
def test_behind_a_long_message_without_a_credit_none_begins(bench: Bench) -> None:
    """It may leave as a whole, or packet by packet, each of which then asks for an ACK."""
    qp = connect(bench, credits=0)
    message, *_ = [qp.post(Op.SEND, 3 * MTU), qp.post(Op.SEND, 5)]
    for packet in message.packets:
        (came,) = qp.expect(packet.without("a"))
        if came.bth.ack_req:
            qp.send(ACK(psn=packet.said["psn"], credits=0))
    qp.completes(message)
    qp.expect_silence(allowing=limited(SEND_ONLY(psn=4)))


@case("CRED-05", needs=[Capability.CREDITS])
def test_credits_that_come_amid_a_message_let_the_rest_of_it_go(bench: Bench) -> None:
    qp = connect(bench, credits=0)
    messages = [qp.post(Op.SEND, 3 * MTU), qp.post(Op.SEND, 5)]
    packets = [packet.without("a") for message in messages for packet in message.packets]
    qp.expect(packets[0])
    qp.send(ACK(psn=0, msn=1, credits=2))
    qp.expect(*packets[1:])
    qp.finish(*messages)


@case("CRED-05", needs=[Capability.CREDITS], smoke=True)
def test_the_code_for_no_limit_lets_all_messages_go(bench: Bench) -> None:
    qp = connect(bench, credits=0)
    messages = [qp.post(Op.SEND, 5) for _ in range(TOGETHER)]
    qp.expect(SEND_ONLY(psn=1, a=1))
    qp.send(ACK(psn=0, msn=1, credits=NO_LIMIT))
    qp.expect(*(SEND_ONLY(psn=psn) for psn in range(2, TOGETHER + 1)))
    qp.finish(*messages)


@case("CRED-03", "CRED-05", needs=[Capability.CREDITS])
def test_credits_that_come_one_by_one_let_one_message_after_the_other_go(bench: Bench) -> None:
    qp = connect(bench, credits=0)
    messages = [qp.post(Op.SEND, 5) for _ in range(6)]
    qp.expect(SEND_ONLY(psn=1, a=1))
    for credits in (2, 3, 4):
        qp.send(ACK(psn=0, msn=1, credits=credits))
        qp.expect_silence(allowing=[SEND_ONLY(psn=credits), *limited(SEND_ONLY(psn=credits + 1))])
    qp.ack(messages[3], credits=0)
    qp.completes(*messages[:4])


@case("CRED-05", needs=[Capability.CREDITS])
def test_with_its_only_message_answered_a_queue_pair_without_credits_sends_the_next(
    bench: Bench,
) -> None:
    """Each asks for the ACK that ends its wait, and so does its repetition."""
    qp = connect(bench, credits=0)
    messages = [qp.post(Op.SEND, 5) for _ in range(4)]
    for message in messages:
        qp.expect(SEND_ONLY(psn=message.psn, a=1))
        qp.ack(message, credits=0)
        qp.completes(message)


@case("CRED-05", needs=[Capability.CREDITS])
def test_who_waits_behind_a_queue_pair_without_credits_waits_no_longer_than_that(
    bench: Bench,
) -> None:
    poor, other = connect(bench, credits=0), bench.connect(path_mtu=MTU)
    first, second = (poor.post(Op.SEND, 5) for _ in range(2))
    message = other.post(Op.SEND, 5)
    poor.expect(SEND_ONLY(psn=1, a=1))
    poor.ack(first, credits=0)
    poor.completes(first)
    poor.expect(SEND_ONLY(psn=2, a=1))
    other.expect_message(message)
    other.finish(message)
    poor.finish(second)


@case("CRED-05", "NAK-09", needs=[Capability.CREDITS], smoke=True)
@over("code", [ACCESS_ERROR, OPERATIONAL_ERROR], ids=["access", "operational"])
def test_what_waits_for_credits_is_flushed_by_a_fatal_nak(bench: Bench, code: int) -> None:
    qp = connect(bench, credits=0)
    first, *others = (qp.post(Op.SEND, 3 * MTU) for _ in range(3))
    qp.expect(first.packets[0].without("a"))
    qp.send(NAK(code, psn=1))
    qp.completes(first, status=STATUS[code])
    qp.completes(*others, status="wr_flush_err")
    qp.expect_silence(allowing=[packet.without("a") for packet in first.packets[1:]])
    qp.reconnect()
    messages = [qp.post(Op.SEND, 5) for _ in range(2)]
    for message in messages:
        qp.expect(SEND_ONLY(psn=message.psn))
        qp.ack(message, credits=0)
        qp.completes(message)


@case("CRED-03", "RNR-04", needs=[Capability.CREDITS, Capability.RETRANSMISSION], smoke=True)
def test_behind_a_message_that_met_no_receive_none_begins_before_credits_come(
    bench: Bench,
) -> None:
    qp = connect(bench, credits=0, rnr_retry=1)
    first, *others = messages = [qp.post(Op.SEND, 5) for _ in range(4)]
    qp.expect(SEND_ONLY(psn=1, a=1))
    qp.send(RNR(psn=1, timer=SHORT_WAIT))
    qp.expect(*copies([first]))
    qp.expect_silence(allowing=copies([first]))
    qp.ack(first, credits=3)
    qp.completes(first)
    qp.expect(*(SEND_ONLY(psn=message.psn) for message in others))
    qp.finish(*messages[1:])
