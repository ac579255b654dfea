# SPDX-License-Identifier: BSD-2-Clause
"""The other end as a healthy responder, work that must be refused, and what is known at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.pattern import CNP
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

MTU = 256
TOO_LONG = (1 << 31) + 1


@pytest.fixture
def bench() -> Iterator[Bench]:
    source = ModelFactory()
    with source.device(CasePlace(name="peer", seed=1)) as target:
        yield Bench(target, source.claims, seed=1)


def test_a_healthy_responder_completes_every_kind_of_work(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU, sq_psn=0xFFFFFD, max_rd_atomic=4)
    qp.serve()
    kinds = (Op.WRITE, Op.READ, Op.SEND, Op.FETCH_ADD, Op.READ, Op.WRITE)
    messages = [qp.post(op, 700) for op in kinds]
    bench.settle()
    qp.expect_message(*messages)
    qp.completes(*messages)


def test_it_answers_a_read_in_the_path_mtu_of_the_device() -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="peer", seed=1)) as target:
        bench = Bench(target, replace(source.claims, path_mtus=(1024,)), seed=1)
        qp = bench.connect(path_mtu=MTU)
        qp.serve()
        message = qp.post(Op.READ, MTU + 44)
        bench.settle()
        qp.expect_message(message)
        qp.completes(message)


def test_it_serves_the_next_connection_as_well(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    qp.serve()
    for _ in range(2):
        qp.reconnect()
        message = qp.post(Op.WRITE, 700)
        bench.settle()
        qp.expect_message(message)
        qp.completes(message)


def test_what_is_ahead_gets_no_answer_and_what_comes_again_does(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    messages = [qp.post(Op.WRITE, 5) for _ in range(2)]
    first, second = qp.expect_message(*messages)
    qp.serve()
    assert qp.answer_with is not None
    psns = [
        [answer.said["psn"] for answer in qp.answer_with(packet)]
        for packet in (second, first, first, second)
    ]
    assert psns == [[], [0], [0], [1]]


def test_on_uc_nothing_is_answered(bench: Bench) -> None:
    qp = bench.connect(Service.UC)
    qp.serve()
    assert qp.answer_with is None


def test_the_bench_settles_when_the_wire_is_quiet_and_not_before(bench: Bench) -> None:
    qp = bench.connect(Service.UC, path_mtu=MTU)
    message = qp.post(Op.WRITE, 200 * MTU)
    bench.settle()
    assert len(qp.inbox) == len(message.packets)


def test_work_that_is_refused_and_sends_nothing_is_as_it_should_be(bench: Bench) -> None:
    qp = bench.connect()
    qp.refuses(Op.WRITE, 5, length=TOO_LONG)
    qp.transfer(Op.WRITE, 5)


def test_work_that_is_sent_although_it_must_be_refused_fails(bench: Bench) -> None:
    with pytest.raises(CaseFailed, match="want  nothing"):
        bench.connect().refuses(Op.WRITE, 5)


def test_work_that_ends_well_although_it_must_be_refused_fails(bench: Bench) -> None:
    qp = bench.connect(Service.UD, path_mtu=MTU)
    with pytest.raises(CaseFailed, match=r"refused\ngot   work 0x[0-9a-f]+ completed with success"):
        qp.refuses(Op.SEND, MTU + 1)


def test_each_of_two_connections_has_its_facts(bench: Bench) -> None:
    qp = bench.connect(sq_psn=1)
    qp.transfer(Op.WRITE, 5)
    qp.reconnect(sq_psn=2, remote_qpn=qp.spec.remote_qpn + 1)
    qp.transfer(Op.WRITE, 5)
    assert [row["start_psn"] for row in bench.transcript.all_facts()["qps"]] == [1, 2]


def test_what_changed_between_two_of_the_same_numbers_is_no_fact(bench: Bench) -> None:
    qp = bench.connect(sq_psn=1, path_mtu=MTU)
    qp.transfer(Op.WRITE, 5)
    qp.reconnect(sq_psn=2)
    (row,) = bench.transcript.all_facts()["qps"]
    assert "start_psn" not in row and row["path_mtu"] == MTU


def test_a_notification_has_psn_0_wherever_a_connection_starts(bench: Bench) -> None:
    qp = bench.connect(rq_psn=0x123456)
    assert qp.frame(CNP())[50:54] == bytes(4)
