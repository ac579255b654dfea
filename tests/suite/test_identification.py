# SPDX-License-Identifier: BSD-2-Clause
"""IPv4 identification: counted as the contract asks, or as the manifest says; IP-04 is no count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from roceproof.conformance.model.components import Components
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.comparison import compared
from roceproof.conformance.suite.reporting.failure import CaseFailed, rule_of
from roceproof.conformance.suite.traffic.storm import Storm
from roceproof.conformance.suite.traffic.storm_stream import Wrong
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.targets.model.limited import EGRESS
from roceproof.verbs.limit_table import ANY, CONSTANT, COUNTED
from roceproof.verbs.limits import Limits
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op


def case(bench: Bench) -> set[str | None]:
    qp = bench.connect()
    qp.transfer(Op.WRITE, 3 * qp.mtu)
    return {rule_of(wrong) for each in compared(bench) for wrong in each.wrong}


def storm(bench: Bench) -> set[str | None]:
    stream = Storm(bench).on(bench.connect(Service.UC))
    stream.post(Op.WRITE, 3000)
    bench.settle()
    try:
        for entry in bench.transcript.entries():
            stream.take(entry.frame)
    except Wrong as wrong:
        return set(wrong.rules)
    return set()


def plan(bench: Bench) -> set[str | None]:
    play = Play(bench)
    play.connect(0, service="RC")
    play.post(0, "WRITE", 3000)
    try:
        play.finish()
    except CaseFailed as failed:
        return set(failed.rules)
    return set()


def plan_with_copies(bench: Bench) -> set[str | None]:
    lacking = bench.claims.capabilities - {Capability.RETRANSMISSION}
    bench.claims = replace(bench.claims, capabilities=lacking)
    return plan(bench)


@pytest.mark.parametrize("judge", [case, storm, plan, plan_with_copies])
@pytest.mark.parametrize("device", EGRESS)
@pytest.mark.parametrize("said", EGRESS)
def test_what_the_manifest_says_is_held_against_the_device(
    judge: Callable[[Bench], set[str | None]], device: str, said: str
) -> None:
    source = ModelFactory(components=Components(egress=EGRESS[device]))
    claims = replace(source.claims, target="hdl", limits=Limits(identification=said))
    with source.device(CasePlace(name="identification", seed=3)) as target:
        found = judge(Bench(target, claims, seed=3))
    assert found == (set() if said in (ANY, device) else {"LIVE-02"})
    assert {COUNTED, CONSTANT, ANY} == set(EGRESS)
