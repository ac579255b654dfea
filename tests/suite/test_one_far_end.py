# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs that have one far end after another: the manifest may fix its number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roceproof.conformance.model.components import Components
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.limits import Limits


@pytest.mark.parametrize("starts_at", [0, 5, 0xFFFFF3])
def test_each_is_judged_by_its_own_start(starts_at: int) -> None:
    source = ModelFactory(components=Components())
    can = source.claims.capabilities | {Capability.RESTART}
    limits = Limits(fixed={"remote_qpn": 17})
    claims = replace(source.claims, capabilities=can, qps=1, limits=limits)
    with source.device(CasePlace(name="one-far-end", seed=1)) as target:
        bench = Bench(target, claims, seed=1)
        play = Play(bench)
        play.connect(0, service="UC")
        play.post(0, "WRITE", 8)
        play.until()
        play.connect(1009, service="UC", sq_psn=starts_at, udp_sport=0xC020, traffic_class=206)
        play.post(1009, "WRITE", 8)
        play.finish()
        assert judge(bench) == []
