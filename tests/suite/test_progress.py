# SPDX-License-Identifier: BSD-2-Clause
"""A device that says how soon a message comes to its turn is held to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roceproof.conformance.cases.test_floods import test_busy_queue_pairs_leave_every_other_its_turn
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.limits import Limits

turns = test_busy_queue_pairs_leave_every_other_its_turn
del test_busy_queue_pairs_leave_every_other_its_turn


def play(progress_cycles: int | None) -> None:
    source = ModelFactory()
    claims = replace(source.claims, limits=Limits(progress_cycles=progress_cycles))
    with source.device(CasePlace(name="turns", seed=1)) as target:
        target.clock_ps = 6400
        turns(Bench(target, claims, seed=1), long=True)


@pytest.mark.parametrize("cycles", [None, 100_000])
def test_what_comes_in_time_is_right(cycles: int | None) -> None:
    play(cycles)


def test_what_comes_later_than_the_manifest_says_is_told() -> None:
    with pytest.raises(CaseFailed, match="in 640 ns beside busy queue pairs"):
        play(100)
