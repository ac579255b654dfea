# SPDX-License-Identifier: BSD-2-Clause
"""What the seeds of a campaign play: plans that are drawn, and changes of those and of entries."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from roceproof.conformance.stimulus.drawing.brief import draw_brief
from roceproof.conformance.stimulus.mutation import mutated
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.run_plan import draws_of
from roceproof.conformance.targets.interface import Claims

_CHANGED = 0.5
_OF_AN_ENTRY = 0.5


def program_of(seed: int, claims: Claims, entries: Sequence[Plan]) -> Plan:
    """The plan of a seed; with the same claims and entries always the same."""
    random = Random(f"program {seed}")
    draws = random.choice([*draws_of(claims), draw_brief])
    plan = draws(seed, claims, None)
    if random.random() >= _CHANGED:
        return plan
    donor = draws(random.getrandbits(64), claims, None)
    fitting = [each for each in (donor, *entries) if each.player is plan.player]
    if not fitting or random.random() >= _OF_AN_ENTRY:
        return mutated(random, plan, [plan, *fitting])
    return mutated(random, random.choice(fitting), [plan, *fitting])
