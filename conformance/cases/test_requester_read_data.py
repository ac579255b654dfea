# SPDX-License-Identifier: BSD-2-Clause
"""Where the data of READs go: at every path MTU, in READs of many packets, and when they may."""

from typing import Any

import pytest

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.reading import (
    answer,
    ask,
    lands,
    memory_for,
    never_succeeds,
    rest,
)
from roceproof.conformance.suite.checks.recovery import brisk_code, longest_wait_ns, timeout_code
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.limits.within_limits import require_mtu
from roceproof.conformance.suite.moments import in_ns, moments, pass_by
from roceproof.conformance.suite.packet_flow import SUCCESS
from roceproof.conformance.suite.pattern import (
    ACK,
    READ_REQUEST,
    READ_RESP_FIRST,
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
    READ_RESP_ONLY,
    WRITE_ONLY,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.service import PathMtu
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.READ, Capability.MEMORY)]

SIMULATED = ["hdl", "model"]
STALL, SPAN = 80, 1024
"""Of memory that is slow, and the cycles in which data may be met on their way to it."""
LAST, MOMENTS = 400, 40
"""Cycles in front of a timeout, and how many of them are tried."""
GIVEN_UP = "retry_exc_err"
UNHURRIED, SLOW = 4, 10
"""Quarters of the time for silence in a timeout, and packets of a READ that is answered in five."""
AROUND = 16
"""Bytes of the region in front of what is read."""
TRIES = 6
HEARD_NS = 1000
"""By then a device that looks at frames as they come has, and its stalled request has not left."""


def reads(bench: Bench, qp: Connection, length: int) -> None:
    """A READ of so many bytes, or a few more, lands at its place and changes nothing beside it."""
    into = memory_for(qp, length, filled=True)
    before = into.read(0, into.size)
    message = qp.post(Op.READ, length, into=into, into_offset=AROUND)
    qp.expect_message(message)
    size = message.work.size
    answer(bench, qp, message, into, qp.random.randbytes(size))
    end = AROUND + size
    if into.read(0, AROUND) + into.read(end, into.size - end) != before[:AROUND] + before[end:]:
        raise bench.failed(f"a READ of {size} bytes changed memory beside its own")


@case("READ-04", "READ-10", "MTU-01", smoke=True)
@over("path_mtu", [mtu.size for mtu in PathMtu])
def test_a_read_lands_at_every_path_mtu(bench: Bench, path_mtu: int) -> None:
    qp = bench.connect(path_mtu=path_mtu)
    for length in (1, path_mtu, path_mtu + 1, 3 * path_mtu + 77):
        reads(bench, qp, length)


@case("READ-04", "READ-10")
@over("length", [pytest.param(259 * 256 + 1, marks=pytest.mark.smoke), 17 * 0x10000])
def test_a_long_read_lands_whole(bench: Bench, length: int) -> None:
    qp = bench.connect(path_mtu=256)
    reads(bench, qp, length)
    reads(bench, qp, 300)


@case("ACK-09", "READ-07", needs=[Capability.WRITE], smoke=True, targets=["hdl"])
def test_data_that_come_before_their_request_has_left_are_no_answer(bench: Bench) -> None:
    """A device may look at frames late: that it has is shown by an ACK behind the data."""
    qp, other = (bench.connect(path_mtu=256) for _ in range(2))
    into = memory_for(qp)
    for _ in range(TRIES):
        write = other.post(Op.WRITE, 5)
        other.expect_message(write)
        bench.target.disturb(tx_stall=99)
        message = qp.post(Op.READ, 8, into=into)
        early, data = (qp.random.randbytes(message.work.size) for _ in range(2))
        qp.send(*read_responses(qp, message.psn, early, msn=message.ordinal))
        other.ack(write)
        is_heard = bench.completions(other, within_ns=HEARD_NS) != []
        is_early = is_heard and not qp.inbox
        bench.target.disturb(tx_stall=0)
        if not is_heard:
            other.completes(write)
        qp.expect_message(message)
        qp.send(*read_responses(qp, message.psn, data, msn=message.ordinal))
        qp.completes(message)
        if is_early and into.read(0, len(data)) != data:
            raise bench.failed("a READ took data that came before its request had left")


@case("READ-04", "PSN-05", targets=["hdl"], smoke=True)
@over("length", [(1 << 16) * 256 + 1, LONGEST_MESSAGE])
def test_the_psns_of_the_longest_reads_are_counted_whole(bench: Bench, length: int) -> None:
    path_mtu = 256 if length < LONGEST_MESSAGE else 4096
    require_mtu(bench.claims, path_mtu)
    qp = bench.connect(path_mtu=path_mtu)
    qp.post(Op.READ, 0, length=length, into=qp.region(64))
    qp.post(Op.WRITE, 5)
    qp.expect(READ_REQUEST(psn=0, dmalen=length, pad=0), WRITE_ONLY(psn=-(-length // path_mtu)))


@case("PSN-11", needs=[Capability.WRITE], targets=SIMULATED, smoke=True)
def test_no_request_is_2_to_the_23_psns_ahead_of_a_read_without_answer(bench: Bench) -> None:
    require_mtu(bench.claims, 256)
    qp = bench.connect(path_mtu=256)
    qp.post(Op.READ, 0, length=LONGEST_MESSAGE, into=qp.region(64))
    qp.post(Op.WRITE, 5)
    qp.expect(READ_REQUEST(psn=0, dmalen=LONGEST_MESSAGE))
    qp.expect_silence()


@case("MTU-08", "PSN-21", targets=SIMULATED, smoke=True)
@over("length", [LONGEST_MESSAGE + 1, (1 << 32) - 1])
def test_a_read_of_more_than_a_message_may_have_is_refused(bench: Bench, length: int) -> None:
    qp = bench.connect(path_mtu=256)
    qp.refuses(Op.READ, 0, length=length, into=qp.region(64), status="loc_len_err")
    reads(bench, qp, 300)


@case("RTX-01", "RTX-05", smoke=True)
@over("op", [Op.READ, pytest.param(Op.CMP_SWAP, marks=needs(Capability.ATOMIC))])
def test_what_asks_for_data_ends_if_they_never_come(bench: Bench, op: Op) -> None:
    qp = bench.connect(path_mtu=256, ack_timeout=timeout_code(bench), retry_count=0)
    message = qp.post(op, 8, into=memory_for(qp))
    qp.expect_message(message)
    outcomes = bench.target.completions(qp.qp, count=1, timeout_ns=longest_wait_ns(bench))
    if [outcome.status for outcome in outcomes] != [GIVEN_UP]:
        raise bench.failed(f"nothing answered a {op.name}, which ended so: {outcomes}")


@case("RTX-01", "ACK-13", needs=[Capability.WRITE], smoke=True, targets=SIMULATED)
def test_each_response_acknowledges_and_starts_the_time_anew(bench: Bench) -> None:
    qp = bench.connect(path_mtu=256, ack_timeout=brisk_code(bench, UNHURRIED), retry_count=0)
    write, into = qp.post(Op.WRITE, 5), memory_for(qp, SLOW * qp.mtu)
    read = qp.post(Op.READ, SLOW * qp.mtu, into=into)
    qp.expect_message(write, read)
    data = qp.random.randbytes(read.work.size)
    for number, response in enumerate(read_responses(qp, read.psn, data, msn=2)):
        bench.pump((ack_timeout_ns(qp.spec.ack_timeout) or 0) // 2)
        qp.send(response)
        if number == 0:
            qp.completes(write)
    lands(bench, qp, read, into, data)


@case("PSN-16", "READ-04", "ACK-13", needs=[Capability.WRITE], smoke=True)
@over("before", range(1, 6))
def test_a_read_among_writes_crosses_the_last_psn(bench: Bench, before: int) -> None:
    qp = bench.connect(path_mtu=256, sq_psn=(1 << 24) - before)
    into = memory_for(qp)
    write, read = qp.post(Op.WRITE, 5), qp.post(Op.READ, 700, into=into)
    qp.expect_message(write, read)
    data = qp.random.randbytes(read.work.size)
    qp.send(ACK(psn=write.last_psn, msn=1))
    qp.completes(write)
    answer(bench, qp, read, into, data)
    last = qp.post(Op.WRITE, 300)
    qp.expect_message(last)
    qp.send(ACK(psn=last.last_psn, msn=3))
    qp.completes(last)


@case("QPS-06", "READ-05", smoke=True)
def test_reads_that_wait_for_their_turn_outlive_the_start_of_others(bench: Bench) -> None:
    qp = bench.connect(path_mtu=256, max_rd_atomic=1)
    into = [memory_for(qp) for _ in range(4)]
    messages = [qp.post(Op.READ, 8, into=each) for each in into]
    bench.settle()
    bench.connect()
    for message, each in zip(messages, into, strict=True):
        qp.expect_message(message)
        answer(bench, qp, message, each, qp.random.randbytes(message.work.size))


@case("FUZZ-12", "READ-07", needs=[Capability.ATOMIC], breaks=WRONG_ANSWERS, smoke=True)
@over("kind", [READ_RESP_ONLY, READ_RESP_FIRST, READ_RESP_LAST, READ_RESP_MIDDLE])
def test_data_of_a_read_are_no_answer_to_an_atomic(bench: Bench, kind: Any) -> None:
    qp = bench.connect(path_mtu=256, ack_timeout=timeout_code(bench), retry_count=0)
    into = qp.region(8, filled=True)
    before = into.read(0, 8)
    message = qp.post(Op.FETCH_ADD, 8, into=into, swap_or_add=1)
    qp.expect_message(message)
    qp.send(kind(psn=message.psn, payload=b""))
    never_succeeds(bench, qp, "an atomic", by=kind().name)
    if into.read(0, 8) != before:
        raise bench.failed(f"an atomic took {kind().name} for its answer")


@case(
    "READ-10",
    needs=[Capability.LOCKSTEP, Capability.RESET, Capability.TOLD_KEYS, Capability.DISTURBANCE],
    targets=SIMULATED,
    smoke=True,
)
def test_memory_that_is_taken_back_amid_data_changes_no_more(bench: Bench) -> None:
    qp = bench.connect(path_mtu=256)
    for cycles in moments(bench, None, span=SPAN):
        into = memory_for(qp)
        message, data = ask(qp, 4 * qp.mtu, into)
        bench.target.disturb(memory_stall=STALL)
        qp.send(*rest(qp, message, 0, data))
        pass_by(bench, cycles)
        into.deregister()
        held = into.read(0, into.size)
        bench.target.disturb()
        bench.settle()
        if into.read(0, into.size) != held:
            raise bench.failed("data of a READ came to memory that had been taken back before")
        qp.reconnect()


@case(
    "NAK-09",
    "RTX-01",
    needs=[Capability.LOCKSTEP, Capability.DISTURBANCE],
    targets=["hdl"],
    smoke=True,
)
def test_data_that_come_as_the_time_runs_out_count_or_do_not(bench: Bench) -> None:
    """Behind a READ that failed none begins, though its data were on their way to memory."""
    code = brisk_code(bench, 1)
    qp = bench.connect(path_mtu=256, ack_timeout=code, retry_count=0, max_rd_atomic=1)
    into, wait_ns = memory_for(qp), longest_wait_ns(bench, code)
    bench.target.disturb(memory_stall=STALL)
    read, data = ask(qp, 8, into)
    begun_ns = bench.target.now_ns
    qp.completes(read, status=GIVEN_UP, within_ns=wait_ns)
    took_ns = bench.target.now_ns - begun_ns
    for cycles in bench.random.sample(range(LAST), MOMENTS):
        qp.reconnect()
        read, following = qp.post(Op.READ, 8, into=into), qp.post(Op.READ, 8, into=into)
        qp.expect_message(read)
        bench.pump(took_ns - in_ns(bench, cycles))
        qp.send(*rest(qp, read, 0, data))
        ended = bench.completions(qp, within_ns=wait_ns)
        if [outcome.status for outcome in ended] == [SUCCESS]:
            qp.expect_message(following)
        else:
            qp.expect_silence()


@case("RTX-19", "READ-10", needs=[Capability.DISTURBANCE], targets=["hdl"], smoke=True)
def test_no_data_come_to_memory_once_their_read_has_failed(bench: Bench) -> None:
    """What was lost comes late, and all behind it, while memory takes what came before."""
    code = timeout_code(bench)
    qp = bench.connect(path_mtu=256, ack_timeout=code, retry_count=0)
    into = memory_for(qp)
    bench.target.disturb(memory_stall=STALL)
    message, data = ask(qp, 4 * qp.mtu, into)
    first, late, *others = rest(qp, message, 0, data)
    qp.send(first, *others[:1], late, *others)
    ended = bench.completions(qp, within_ns=longest_wait_ns(bench, code))
    held = into.read(0, into.size)
    bench.target.disturb()
    bench.settle()
    has_failed = bool(ended) and ended[0].status != SUCCESS
    if has_failed and into.read(0, into.size) != held:
        raise bench.failed("data of a READ came to memory after it was told to have failed")
