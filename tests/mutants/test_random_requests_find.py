# SPDX-License-Identifier: BSD-2-Clause
"""Random requests alone find most faults of the responder's RTL."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "stimulus"))

from random_devices import opener

from roceproof.conformance.mutants.rtl import RESPONDER_MUTANTS, load_mutants
from roceproof.conformance.mutants.rtl_factory import rtl_factory
from roceproof.conformance.stimulus.drawing.requests import draw_requests
from roceproof.conformance.stimulus.run_plan import played

pytestmark = [pytest.mark.sim, pytest.mark.slow, pytest.mark.long]

PLANS = 40
BAR = 0.8


def is_found(name: str) -> bool:
    """Whether one of so many plans fails on the endpoint with that fault."""
    factory = rtl_factory(name, data_width=64)
    open_bench = opener(factory)
    plans = (draw_requests(seed, factory.claims) for seed in range(PLANS))
    found = (played(plan, seed, open_bench).failure for seed, plan in enumerate(plans))
    return any(failure is not None for failure in found)


def test_random_requests_alone_find_most_faults_of_the_responder() -> None:
    names = [mutant.id for mutant in load_mutants(RESPONDER_MUTANTS).mutants]
    missed = [name for name in names if not is_found(name)]
    assert len(missed) <= (1 - BAR) * len(names), missed
