# SPDX-License-Identifier: BSD-2-Clause
"""READs among others: many in turn, beside WRITEs of the peer, and data for others or too late."""

from typing import Any

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.reading import answer, ask, memory_for, never_succeeds
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.pattern import ACK, NAK, WRITE_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.READ, Capability.MEMORY)]

MTU = 256
MANY = 40
OPERATIONAL_ERROR = 3


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


@case("QPS-02", "READ-05", targets=["hdl", "model"], smoke=True)
def test_without_a_place_for_reads_none_is_sent(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU, max_rd_atomic=0)
    qp.refuses(Op.READ, 8, into=memory_for(qp))


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


@case("NAK-09", "QPS-03", breaks=WRONG_ANSWERS, smoke=True)
def test_data_behind_the_end_of_a_queue_pair_go_nowhere(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    into = memory_for(qp)
    message, _ = ask(qp, 8, into)
    qp.send(NAK(OPERATIONAL_ERROR, psn=message.psn, msn=0))
    qp.completes(message, status="rem_op_err")
    qp.send(*read_responses(qp, message.psn, b"\xa5" * message.work.size, msn=1))
    bench.settle()
    if any(into.read(0, into.size)):
        raise bench.failed("a READ that had failed, and was told to have, changed memory")


@case("NAK-09", "NAK-10", smoke=True)
@over("arrived", [1, 2])
def test_a_read_that_is_refused_amid_its_data_fails(bench: Bench, arrived: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    message, data = ask(qp, 3 * MTU, memory_for(qp))
    responses = read_responses(qp, message.psn, data, msn=1)[:arrived]
    qp.send(*responses, NAK(OPERATIONAL_ERROR, psn=message.psn + arrived, msn=1))
    qp.completes(message, status="rem_op_err")
