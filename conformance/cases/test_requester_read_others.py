# SPDX-License-Identifier: BSD-2-Clause
"""READs among others: many in turn, beside WRITEs of the peer, and data for others or too late."""

from collections.abc import Callable
from typing import Any

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.reading import answer, ask, memory_for, never_succeeds
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.limits.within_limits import sent_of
from roceproof.conformance.suite.packet_flow import FLUSHED
from roceproof.conformance.suite.pattern import ACK, NAK, WRITE_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.READ, Capability.MEMORY)]

MTU = 256
MANY = 40
CROWD = 24
"""READs, more than some devices have places for."""
SIMULATED = ["hdl", "model"]
PUSHES = (Op.SEND, Op.WRITE)
ASKS = (
    Op.READ,
    *(pytest.param(op, marks=needs(Capability.ATOMIC)) for op in (Op.CMP_SWAP, Op.FETCH_ADD)),
)
OPERATIONAL_ERROR = 3
OTHER_PSN = 0x5A5A5A
LATE = b"\xa5"


@case("READ-05", "READ-04", smoke=True)
@over("depth", [3, 8, 16])
def test_many_reads_are_answered_in_turn(bench: Bench, depth: int) -> None:
    qp = bench.connect(path_mtu=MTU, max_rd_atomic=depth)
    into = [memory_for(qp) for _ in range(2 * depth)]
    messages = [qp.post(Op.READ, 8, into=into[each % len(into)]) for each in range(MANY)]
    qp.expect_message(*messages[:depth])
    for each, message in enumerate(messages):
        data = qp.random.randbytes(message.work.size)
        answer(bench, qp, message, into[each % len(into)], data)
        if each + depth < MANY:
            qp.expect_message(messages[each + depth])


@case("READ-05", "READ-10", targets=SIMULATED)
@over("depth", [17, *(pytest.param(d, marks=pytest.mark.smoke) for d in (32, 64, 128)), 255])
def test_as_many_reads_as_a_device_has_under_way_are_answered(bench: Bench, depth: int) -> None:
    """Where more are agreed than it has places for, their number is its own."""
    qp = bench.connect(path_mtu=MTU, max_rd_atomic=depth)
    into = memory_for(qp, CROWD * qp.mtu)
    waiting = [qp.post(Op.READ, 8, into=into, into_offset=each * qp.mtu) for each in range(CROWD)]
    while waiting:
        qp.expect_message(waiting[0])
        bench.settle()
        count = 1 + len(qp.inbox)
        qp.expect_message(*waiting[1:count])
        for message in waiting[:count]:
            answer(bench, qp, message, into, qp.random.randbytes(message.work.size))
        waiting = waiting[count:]


@case("QPS-02", "READ-05", targets=SIMULATED, smoke=True)
@over("op", ASKS)
def test_without_a_place_for_reads_none_is_sent(bench: Bench, op: Op) -> None:
    qp = bench.connect(path_mtu=MTU, max_rd_atomic=0)
    for _ in range(2):
        qp.refuses(op, 8, into=memory_for(qp), status="loc_qp_op_err")
    for push in sent_of(bench.claims, Service.RC, PUSHES):
        qp.transfer(push, 700)


@case("BTH-02", smoke=True)
def test_a_read_solicits_nothing(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    message = qp.post(Op.READ, 8, into=memory_for(qp), solicited=True)
    qp.expect(message.packets[0].but(se=0))


@case("READ-10", "RETH-12", needs=[Capability.RESPONDER], smoke=True)
@over("stall", [0, pytest.param(95, marks=needs(Capability.DISTURBANCE))])
def test_data_of_reads_and_writes_of_the_peer_keep_their_places(bench: Bench, stall: int) -> None:
    qp = bench.connect(path_mtu=MTU, max_rd_atomic=1)
    if stall:
        bench.target.disturb(memory_stall=stall)
    read, written = memory_for(qp), qp.region(8)
    for turn in range(24):
        message = qp.post(Op.READ, 8, into=read)
        qp.expect_message(message)
        data, other = qp.random.randbytes(message.work.size), qp.random.randbytes(8)
        write = WRITE_ONLY(psn=turn, va=written.addr, rkey=written.rkey, payload=other, a=1)
        answer = read_responses(qp, message.psn, data, msn=message.ordinal)
        qp.send(*([write, *answer] if turn % 2 else [*answer, write]))
        qp.expect(ACK(psn=turn))
        qp.completes(message)
        if (read.read(0, len(data)), written.read(0, 8)) != (data, other):
            raise bench.failed("a READ and a WRITE of the peer at once left other bytes in memory")


@case("ACK-12", "QPS-06", breaks=WRONG_ANSWERS, smoke=True)
@over("who", ["another host", "another queue pair"])
def test_data_for_others_are_no_answer(bench: Bench, who: str) -> None:
    qp = bench.connect(path_mtu=MTU)
    stranger = bench.peers[1]
    into = memory_for(qp)
    message, right = ask(qp, 8, into)
    wrong = bytes(byte ^ 0xFF for byte in right)
    others: dict[str, Any] = {"src_ip": stranger.ip, "src_mac": stranger.mac}
    if who == "another queue pair":
        others = {"qpn": qp.qp.qpn ^ 0x800000}
    qp.send(*(packet.but(**others) for packet in read_responses(qp, message.psn, wrong, msn=1)))
    bench.settle()
    answer(bench, qp, message, into, right)


@case("QPS-04", needs=[Capability.WRITE], smoke=True)
def test_a_read_that_waits_behind_another_queue_pair_ends_with_its_connection(bench: Bench) -> None:
    busy, qp = (bench.connect(path_mtu=MTU) for _ in range(2))
    into = memory_for(qp)
    long = busy.post(Op.WRITE, MANY * MTU)
    qp.post(Op.READ, 8, into=into)
    busy.expect(long.packets[0].without("a"))
    qp.reconnect()
    message, data = qp.post(Op.READ, 2 * MTU, into=into), qp.random.randbytes(2 * qp.mtu)
    bench.settle()
    bench.completions(qp, count=0, within_ns=0)
    qp.follow(message)
    answer(bench, qp, message, into, data)


@case("RTX-18", "ACK-08", needs=[Capability.WRITE], smoke=True)
def test_a_nak_behind_data_that_are_lost_completes_no_read(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    read, write = qp.post(Op.READ, 2 * MTU, into=memory_for(qp)), qp.post(Op.WRITE, 5)
    qp.expect_message(read, write)
    qp.send(NAK(OPERATIONAL_ERROR, psn=write.psn, msn=1))
    never_succeeds(bench, qp, "a READ without its data", by="a NAK of what stands behind it")


def by_a_nak(bench: Bench, qp: Connection, read: Posted) -> None:
    qp.send(NAK(OPERATIONAL_ERROR, psn=read.psn + 1, msn=0))
    qp.completes(read, status="rem_op_err")


def by_reset(bench: Bench, qp: Connection, _: Posted) -> None:
    bench.target.set_state(qp.qp, State.RESET)
    bench.comes_true(lambda: not bench.target.commands_waiting)


def by_an_error(bench: Bench, qp: Connection, read: Posted) -> None:
    bench.target.set_state(qp.qp, State.ERR)
    qp.completes(read, status=FLUSHED)


def by_a_new_life(bench: Bench, qp: Connection, _: Posted) -> None:
    qp.reconnect(straight=True, sq_psn=qp.spec.sq_psn ^ OTHER_PSN)


@case("NAK-09", "QPS-03", "QPS-04", breaks=WRONG_ANSWERS, smoke=True)
@over(
    "end",
    [
        by_a_nak,
        pytest.param(by_reset, marks=needs(Capability.RESET)),
        pytest.param(by_an_error, marks=needs(Capability.STATES)),
        pytest.param(by_a_new_life, marks=needs(Capability.RESTART)),
    ],
)
@over("stall", [0, pytest.param(90, marks=needs(Capability.DISTURBANCE))])
def test_data_behind_the_end_of_a_queue_pair_go_nowhere(
    bench: Bench, end: Callable[[Bench, Connection, Posted], None], stall: int
) -> None:
    qp = bench.connect(path_mtu=MTU)
    into = memory_for(qp)
    message, _ = ask(qp, 2 * MTU, into)
    first, last = read_responses(qp, message.psn, LATE * message.work.size, msn=1)
    qp.send(first)
    if stall:
        bench.target.disturb(memory_stall=stall)
    late = qp.frame(last)
    end(bench, qp, message)
    bench.send(late, flow=qp.to_device)
    qp.all_outcomes(0)
    if LATE in into.read(qp.mtu, into.size - qp.mtu):
        raise bench.failed("a READ that had ended with its queue pair changed memory")
    if end is not by_a_new_life:
        qp.reconnect()
    message, data = ask(qp, 3 * MTU, into)
    answer(bench, qp, message, into, data)


@case("NAK-09", "NAK-10", smoke=True)
@over("arrived", [1, 2])
def test_a_read_that_is_refused_amid_its_data_fails(bench: Bench, arrived: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    message, data = ask(qp, 3 * MTU, memory_for(qp))
    responses = read_responses(qp, message.psn, data, msn=1)[:arrived]
    qp.send(*responses, NAK(OPERATIONAL_ERROR, psn=message.psn + arrived, msn=1))
    qp.completes(message, status="rem_op_err")
