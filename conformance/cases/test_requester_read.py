# SPDX-License-Identifier: BSD-2-Clause
"""READs and atomics of a requester: their PSNs, how many at once, and what their answers may be."""

from contextlib import suppress
from random import Random

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.reading import (
    answers,
    ask,
    asked_again,
    lands,
    never_succeeds,
)
from roceproof.conformance.suite.checks.recovery import longest_wait_ns, timeout_code
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.pattern import (
    ACK,
    ATOMIC_ACK,
    CMP_SWAP,
    FETCH_ADD,
    READ_REQUEST,
    READ_RESP_FIRST,
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
    READ_RESP_ONLY,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Refused
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.READ, Capability.MEMORY)]

MTU = 256
_MANY = 32
_LAST_ADDRESS = (1 << 64) - 1
_TOLD = needs(Capability.TOLD_KEYS)
PARTS = 4
SIDE_BY_SIDE, CROWD, TOGETHER, TURNS = 6, 16, 2, 4
MEMORY, SLOW = ("memory_stall", "memory_lag"), 95


@case("READ-01", "PSN-05", "READ-04", "READ-10", smoke=True)
@over("length", [0, 1, MTU, MTU + 1, 5 * MTU])
def test_a_read_takes_as_many_psns_as_it_has_responses(bench: Bench, length: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    into = qp.region(_MANY * qp.mtu)
    message, data = ask(qp, length, into)
    qp.send(*read_responses(qp, 0, data, msn=1))
    lands(bench, qp, message, into, data)
    qp.post(Op.WRITE, 5)
    qp.expect(WRITE_ONLY(psn=max(1, -(-length // MTU)), payload=5))


@case("READ-01", smoke=True)
def test_a_read_request_is_a_reth_and_nothing_else(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    into = qp.region(_MANY * qp.mtu)
    qp.post(Op.READ, 700, remote_addr=0x0102030405060708, rkey=0x11223344, into=into)
    request = READ_REQUEST(
        psn=0, va=0x0102030405060708, rkey=0x11223344, dmalen=700, payload=0, pad=0, se=0
    )
    qp.expect(request)


@case("READ-05", smoke=True)
@over("depth", [1, 4, 5])
def test_no_more_reads_are_under_way_than_agreed(bench: Bench, depth: int) -> None:
    qp = bench.connect(path_mtu=MTU, max_rd_atomic=depth)
    into = qp.region(_MANY * qp.mtu)
    messages = [qp.post(Op.READ, 2 * MTU, into=into) for _ in range(depth + 2)]
    qp.expect_message(*messages[:depth])
    qp.expect_silence()
    for done, following in enumerate(messages[depth:], start=1):
        data = qp.random.randbytes(2 * qp.mtu)
        qp.send(*read_responses(qp, messages[done - 1].psn, data, msn=done))
        qp.expect_message(following)
        qp.expect_silence()


@case("ACK-13", smoke=True)
def test_a_read_response_acknowledges_what_stands_before_it(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    into = qp.region(_MANY * qp.mtu)
    write = qp.post(Op.WRITE, 3 * MTU)
    qp.expect_message(write)
    message, data = ask(qp, 2 * MTU, into)
    qp.send(*read_responses(qp, message.psn, data, msn=2))
    qp.completes(write)
    lands(bench, qp, message, into, data)


@case("READ-04", "QPS-06", "READ-10", smoke=True)
@over(
    ("count", "turns", "slow"),
    [
        (SIDE_BY_SIDE, TURNS, {}),
        pytest.param(CROWD, 1, dict.fromkeys(MEMORY, SLOW), marks=needs(Capability.DISTURBANCE)),
    ],
    ids=["few", "while_memory_is_slow"],
)
def test_reads_of_many_queue_pairs_are_answered_among_each_other(
    bench: Bench, count: int, turns: int, slow: dict[str, int]
) -> None:
    depth = min(TOGETHER, bench.claims.limits.fixed_of_qp.get("max_rd_atomic", TOGETHER))
    pairs = [
        bench.connect(path_mtu=MTU, max_rd_atomic=depth)
        for _ in range(min(count, bench.claims.qps))
    ]
    if slow:
        bench.target.disturb(**slow)
    into = {qp: [qp.region(PARTS * qp.mtu) for _ in range(depth)] for qp in pairs}
    for turn in range(turns):
        asked = {
            qp: [ask(qp, some_length(bench.random), each) for each in into[qp]] for qp in pairs
        }
        answers = {
            qp: [
                packet
                for number, (message, data) in enumerate(found, turn * depth + 1)
                for packet in read_responses(qp, message.psn, data, msn=number)
            ]
            for qp, found in asked.items()
        }
        order = [qp for qp, packets in answers.items() for _ in packets]
        bench.random.shuffle(order)
        for qp in order:
            qp.send(answers[qp].pop(0))
        for qp, found in asked.items():
            for (message, data), where in zip(found, into[qp], strict=True):
                lands(bench, qp, message, where, data)


def some_length(random: Random) -> int:
    """Of a few packets, often whole ones or a byte more or less."""
    return max(
        0, min(PARTS * MTU, random.randrange(PARTS + 1) * MTU + random.choice((-1, 0, 1, 77)))
    )


@case("READ-07", smoke=True, breaks=WRONG_ANSWERS)
@over(
    "fault",
    [
        *("middle-first", "only-for-many", "short-first", "long-last", "short-last"),
        *("only-for-last", "atomic-answer", "nak-in-aeth"),
    ],
)
def test_a_bad_response_never_completes_a_read_with_success(bench: Bench, fault: str) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=timeout_code(bench), retry_count=0)
    into = qp.region(_MANY * qp.mtu)
    ask(qp, 2 * MTU, into)
    qp.send(*_bad(qp, fault))
    bench.settle()
    never_succeeds(bench, qp, "a READ", by=fault)


def _bad(qp: Connection, fault: str) -> list[Pattern]:
    whole, short, long = (qp.random.randbytes(qp.mtu + more) for more in (0, -4, 4))
    first, last = READ_RESP_FIRST(psn=0, payload=whole), READ_RESP_LAST(psn=1, payload=whole)
    return {
        "middle-first": [READ_RESP_MIDDLE(psn=0, payload=whole), last],
        "only-for-many": [READ_RESP_ONLY(psn=0, payload=whole)],
        "short-first": [first.but(payload=short), last],
        "long-last": [first, last.but(payload=long)],
        "short-last": [first, last.but(payload=short)],
        "only-for-last": [first, READ_RESP_ONLY(psn=1, payload=whole)],
        "atomic-answer": [ATOMIC_ACK(psn=0, original=7)],
        "nak-in-aeth": [first.but(syndrome=0x63), last],
    }[fault]


@case("ACK-09", "ACK-10", "READ-07", smoke=True, breaks=WRONG_ANSWERS)
@over("op", [Op.READ, pytest.param(Op.FETCH_ADD, marks=needs(Capability.ATOMIC))])
def test_data_whose_psn_is_a_power_of_two_away_answer_nothing(bench: Bench, op: Op) -> None:
    qp = bench.connect(path_mtu=MTU)
    into = qp.region(_MANY * qp.mtu)
    message = qp.post(op, 8, into=into, swap_or_add=1)
    qp.expect_message(message)
    right, wrong = (byte * message.work.size for byte in (b"\x11", b"\x22"))
    for bit in range(24):
        qp.send(answers(qp, message, wrong)[0].but(psn=1 << bit))
    bench.settle()
    qp.send(*answers(qp, message, right))
    lands(bench, qp, message, into, right)


@case("READ-10", smoke=True)
@over(
    "memory",
    [
        *("gone", "beyond", pytest.param("in-front", marks=needs(Capability.LOCKSTEP))),
        *(pytest.param(memory, marks=_TOLD) for memory in ("not-writable", "foreign")),
    ],
)
@over("op", [Op.READ, pytest.param(Op.FETCH_ADD, marks=needs(Capability.ATOMIC))])
def test_data_go_nowhere_but_to_memory_that_may_be_written(
    bench: Bench, memory: str, op: Op
) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=timeout_code(bench), retry_count=0)
    room = _MANY * qp.mtu
    into = {
        "foreign": lambda: bench.target.register_elsewhere(room),
        "not-writable": lambda: qp.region(room, access=frozenset(("remote_read",))),
    }.get(memory, lambda: qp.region(room))()
    before = into.read(0, into.extent)
    in_front = -1 if into.addr else _LAST_ADDRESS
    at = {"beyond": into.extent - 7, "in-front": in_front}.get(memory, 0)
    try:
        message = qp.post(op, 8, into=into, into_offset=at, swap_or_add=1)
    except Refused:
        return
    qp.expect_message(message)
    if memory == "gone":
        into.deregister()
    data = b"\xa5" * message.work.size
    is_read = op is Op.READ
    qp.send(*read_responses(qp, 0, data, msn=1) if is_read else [ATOMIC_ACK(psn=0, original=7)])
    bench.settle()
    never_succeeds(bench, qp, f"a {op.name} into memory that is {memory}")
    with suppress(Refused):  # a host may not show memory that is gone
        if into.read(0, into.extent) != before:
            raise bench.failed(f"a {op.name} changed memory that is {memory}")


@case("READ-10", smoke=True)
@over("beyond", [0, 1, MTU])
def test_a_read_lands_up_to_the_end_of_its_memory_and_no_further(bench: Bench, beyond: int) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=timeout_code(bench), retry_count=0)
    into = qp.region(_MANY * qp.mtu)
    at = into.extent - 2 * qp.mtu + min(beyond, qp.mtu)
    with suppress(Refused):
        message, data = ask(qp, 2 * MTU, into, into_offset=at)
        qp.send(*read_responses(qp, 0, data, msn=1))
        if beyond:
            never_succeeds(bench, qp, f"a READ whose last {beyond} bytes had no place")
        else:
            lands(bench, qp, message, into, data)


@case("RTX-17", "READ-10", needs=[Capability.RETRANSMISSION], smoke=True)
@over("missing", range(PARTS))
def test_a_lost_response_is_asked_for_again(bench: Bench, missing: int) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=timeout_code(bench))
    into = qp.region(_MANY * qp.mtu)
    message, data = ask(qp, PARTS * MTU, into)
    responses = read_responses(qp, 0, data, msn=1)
    qp.send(*responses[:missing])
    start = asked_again(bench, qp, message, missing)
    qp.send(*read_responses(qp, start, data[start * qp.mtu :], msn=1))
    lands(bench, qp, message, into, data)


@case("RTX-19", "READ-10", needs=[Capability.RETRANSMISSION])
def test_responses_out_of_order_are_discarded(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=timeout_code(bench))
    into = qp.region(_MANY * qp.mtu)
    message, data = ask(qp, PARTS * MTU, into)
    first, second, third, last = read_responses(qp, 0, data, msn=1)
    qp.send(first, third, second, last)
    packet = qp.next(timeout_ns=longest_wait_ns(bench))
    if packet is not None:
        start = (packet.bth.psn - qp.spec.sq_psn) % (1 << 24)
        qp.send(*read_responses(qp, start, data[start * qp.mtu :], msn=1))
    lands(bench, qp, message, into, data)


@case("RTX-18", needs=[Capability.RETRANSMISSION, Capability.WRITE])
def test_an_ack_beyond_a_read_means_that_its_response_was_lost(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=timeout_code(bench))
    into = qp.region(_MANY * qp.mtu)
    message, write = qp.post(Op.READ, 2 * MTU, into=into), qp.post(Op.WRITE, 5)
    qp.expect_message(message, write)
    data = qp.random.randbytes(2 * qp.mtu)
    qp.send(ACK(psn=write.last_psn, msn=2))
    asked_again(bench, qp, message, 0)
    qp.send(*read_responses(qp, 0, data, msn=1))
    lands(bench, qp, message, into, data)
    qp.next(timeout_ns=longest_wait_ns(bench))
    qp.finish(write)


@case("ATOM-01", needs=[Capability.ATOMIC], smoke=True)
def test_an_atomic_names_its_operands_in_their_order(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    into = qp.region(64)
    where = {"remote_addr": 0x0102030405060708, "rkey": 0x11223344, "into": into}
    numbers = {"swap_or_add": 0x1112131415161718, "compare": 0x2122232425262728}
    swap = qp.post(Op.CMP_SWAP, 8, **where, **numbers)
    qp.expect(
        CMP_SWAP(
            psn=0,
            va=0x0102030405060708,
            rkey=0x11223344,
            swap=0x1112131415161718,
            compare=0x2122232425262728,
            payload=0,
            pad=0,
        )
    )
    qp.send(ATOMIC_ACK(psn=0, msn=1, original=5))
    qp.completes(swap)
    add = qp.post(Op.FETCH_ADD, 8, **where, swap_or_add=3)
    qp.expect(FETCH_ADD(psn=1, va=0x0102030405060708, rkey=0x11223344, swap=3))
    qp.send(ATOMIC_ACK(psn=1, msn=2, original=7))
    qp.completes(add)
