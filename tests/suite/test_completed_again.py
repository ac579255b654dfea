# SPDX-License-Identifier: BSD-2-Clause
"""Work and receives that complete twice are told so, wherever the second completion shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from roceproof.conformance.cases import test_responder_shared as shared
from roceproof.conformance.runner.findings.ports import of_a_repeat
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.pattern import ACK, SEND_ONLY
from roceproof.conformance.suite.reporting.answers_told import completed_again
from roceproof.conformance.suite.reporting.divergence import named
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of, in_short
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.queue_pair import Qp
from roceproof.verbs.work import Op, Outcome


class Twice(ForwardingTarget):
    """Each completion comes again behind it."""

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        found = self._inner.completions(qp, count=count, timeout_ns=timeout_ns)
        return [each for each in found for _ in range(2)]


def of_work(bench: Bench) -> None:
    qp = bench.connect()
    for _ in range(2):
        qp.transfer(Op.WRITE, 8)


def of_a_plan(bench: Bench) -> None:
    play = Asking(bench)
    play.connect(0)
    play.region(0, 64)
    play.receive(0)
    play.request(0, op="SEND", size=8)
    play.settle()


@pytest.mark.parametrize(
    ("plays", "what", "port"),
    [
        (shared.test_receives_serve_whoever_comes_first, "receive", "rcp"),
        (of_a_plan, "receive", "rcp"),
        (of_work, "work", "cpl"),
    ],
)
def test_what_completes_twice_is_told_so(
    plays: Callable[[Bench], None], what: str, port: str
) -> None:
    factory = ModelFactory()
    with factory.device(CasePlace(name="case", seed=1)) as device:
        plays(Bench(device, factory.claims, seed=1))
        with pytest.raises(CaseFailed) as failed:
            plays(Bench(Twice(device), factory.claims, seed=1))
    head = head_of(failed.value)
    assert f"{what} 0x" in head
    assert "completed 2 times, and may only once" in head
    assert of_a_repeat(head) == f"look at {port}_valid_o and {port}_ready_i"


class Other(ForwardingTarget):
    """Another receive is used than the one whose turn it is."""

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        found = self._inner.completions(qp, count=count, timeout_ns=timeout_ns)
        return [replace(each, wr_id=each.wr_id ^ 1) for each in found]


def of_a_case(bench: Bench) -> None:
    qp = bench.connect()
    number = qp.post_receive(qp.region(64))
    qp.send(SEND_ONLY(psn=0, payload=8, a=1))
    qp.expect(ACK(psn=0))
    qp.receives(number)


@pytest.mark.parametrize("plays", [of_a_plan, of_a_case])
def test_a_receive_that_is_used_out_of_its_turn_is_told_so(plays: Callable[[Bench], None]) -> None:
    factory = ModelFactory()
    with (
        factory.device(CasePlace(name="case", seed=1)) as device,
        pytest.raises(CaseFailed) as failed,
    ):
        plays(Bench(Other(device), factory.claims, seed=1))
    assert in_short(head_of(failed.value)).startswith("another receive completed than was next")
    assert named(head_of(failed.value)) == ("RQ-01",)


@pytest.mark.parametrize(("how", "rule"), [("success", "RQ-01"), ("wr_flush_err", "LIVE-02")])
def test_a_receive_that_is_used_and_flushed_is_not_used_twice(how: str, rule: str) -> None:
    outcomes = [Outcome(wr_id=7, status=each) for each in ("success", how)]
    assert named(completed_again("receive", outcomes)) == (rule,)
