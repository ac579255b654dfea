# SPDX-License-Identifier: BSD-2-Clause
"""Work behind a failed request: flushed as the contract asks, or without a completion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.requester.policy import RequesterPolicy, Retransmission
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.recovery import write_all
from roceproof.conformance.suite.pattern import ACCESS_ERROR, NAK
from roceproof.conformance.suite.reporting.divergence import named
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import in_short
from roceproof.conformance.suite.traffic.storm import Storm
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.targets.model.limited import REQUESTERS_THAT_FLUSH
from roceproof.verbs.limits import Limits
from roceproof.verbs.work import Op

REMOTE_ACCESS = 0x62


def case(bench: Bench) -> None:
    qp = bench.connect()
    first, second = write_all(qp, 5, 5)
    qp.send(NAK(ACCESS_ERROR, psn=0))
    qp.completes(first, status="rem_access_err")
    qp.completes(second, status="wr_flush_err")
    qp.does_not_complete()


def storm(bench: Bench) -> None:
    wild = Storm(bench)
    stream = wild.on(bench.connect())
    stream.post(Op.WRITE, 5)
    stream.post(Op.WRITE, 5)
    wild.blow(steps=8)
    wild.say([(stream, stream.nak(ACCESS_ERROR, 0, status="rem_access_err"))])
    wild.rage()
    bench.settle()
    wild.step()


def plan(bench: Bench) -> None:
    play = Play(bench)
    play.connect(0, service="RC")
    play.post(0, "WRITE", 5, count=2)
    play.until(2)
    play.answer(0, oldest=0, syndrome=REMOTE_ACCESS)
    play.settle()


def plan_with_copies(bench: Bench) -> None:
    bench.claims = replace(
        bench.claims, capabilities=bench.claims.capabilities | {Capability.RETRANSMISSION}
    )
    plan(bench)


@pytest.mark.parametrize("judge", [case, storm, plan, plan_with_copies])
@pytest.mark.parametrize("flushes", [True, False])
@pytest.mark.parametrize("said", [True, False])
def test_what_the_manifest_says_is_held_against_the_device(
    judge: Callable[[Bench], None], flushes: bool, said: bool
) -> None:
    components = Components(
        requesters=REQUESTERS_THAT_FLUSH[flushes],
        requester_policy=RequesterPolicy(retransmission=Retransmission.NONE),
    )
    source = ModelFactory(components=components)
    lacking = source.claims.capabilities - {Capability.RETRANSMISSION}
    claims = replace(source.claims, capabilities=lacking, limits=Limits(flushes=said))
    with source.device(CasePlace(name="flush", seed=3)) as target:
        bench = Bench(target, claims, seed=3)
        if flushes == said:
            judge(bench)
        else:
            with pytest.raises(CaseFailed):
                judge(bench)


def test_work_that_is_flushed_with_another_status_is_told_by_that() -> None:
    head = (
        "want no such completion on qp 0x80; owed: work 0x12 (SEND of 5 bytes, number 7) which is "
        "flushed; got work 0x12 completed with loc_qp_op_err, syndrome 0xff"
    )
    assert in_short(head) == "work that is flushed completed with loc_qp_op_err"
    assert named(head) == ("NAK-09",)
