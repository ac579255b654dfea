# SPDX-License-Identifier: BSD-2-Clause
"""Plays plans on fresh devices, and tells a failure as a small case with what came of it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.conformance.stimulus.drawing.excerpts import excerpt
from roceproof.conformance.stimulus.drawing.fields import drawn_operations
from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.stimulus.drawing.requests import draw_requests
from roceproof.conformance.stimulus.drawing.weights import Weights
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.shrinking.naming import rules_of_plan
from roceproof.conformance.stimulus.shrinking.shrink import Reduction
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.strays import with_strays
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.hdl.allowance import within_processor_seconds
from roceproof.conformance.targets.interface import Claims, DeviceDied
from roceproof.verbs.addresses import Host

RULES = ("LIVE-02", "FUZZ-15", "FUZZ-16")
REDUCTION_SECONDS = 20.0

Draws = Callable[[int, Claims, Weights | None], Plan]
"""Draws the plan of a seed for a device of these claims."""
Open = Callable[[int, Host | None], AbstractContextManager[Bench]]
"""Opens a fresh device with a seed and, where it lets itself be told, an address.

What it holds against the device when it is closed is raised as `CaseFailed`.
"""


def draws_of(claims: Claims) -> list[Draws]:
    """The kinds of plan for such a device: of work that it sends, of requests that it answers."""
    kinds: list[Draws] = [draw_plan] if drawn_operations(claims) else []
    kinds += [draw_requests] if Capability.RESPONDER in claims.capabilities else []
    if Capability.LOCKSTEP in claims.capabilities:
        return kinds
    return [partial(_short, draws) for draws in kinds]


def _short(draws: Draws, seed: int, claims: Claims, weights: Weights | None) -> Plan:
    return excerpt(draws(seed, claims, weights), seed)


class Finding(NamedTuple):
    """A plan that fails, and how."""

    seed: int
    plan: Plan
    failure: CaseFailed
    bench: Bench | None
    """Where the reduced plan was played."""
    tries: int
    first: CaseFailed
    """How the whole plan failed."""
    is_least: bool = False
    """Nothing more can be left out."""

    @property
    def rules(self) -> tuple[str, ...]:
        """What it accuses; nothing in particular where nobody can say."""
        return rules_of_plan(self.plan, self.failure)

    def told(self) -> str:
        """What happened, and the case that repeats it."""
        name = f"found_by_random_stimulus_{self.seed}"
        count = len(self.plan.steps)
        return (
            f"random stimulus of seed {self.seed}, reduced to {count} steps in {self.tries} tries:"
            f"\n\n{self.plan.case(name, rules=self.rules or RULES)}\n{self.failure}"
        )


class Played(NamedTuple):
    """What a plan shows of a fresh device."""

    failure: CaseFailed | None
    bench: Bench | None = None
    has_died: bool = False


def played(plan: Plan, seed: int, open_bench: Open) -> Played:
    """Play a plan to its end or to what fails."""
    bench = None
    try:
        with within_processor_seconds(), open_bench(seed, plan.host) as bench:
            try:
                plan.play(bench)
            except CaseFailed as failure:
                raise with_strays(bench, failure) from failure
    except CaseFailed as failure:
        return Played(failure, bench)
    except DeviceDied as death:
        return Played(CaseFailed(f"{death.said}: {death}", rules=["LIVE-01"]), bench, has_died=True)
    return Played(None)


def _first(
    plan: Plan,
    seed: int,
    open_bench: Open,
    hasty: Open | None,
    is_enough: Callable[[CaseFailed], bool] = lambda _: False,
) -> Played:
    """How it fails with all patience, if it has failed in haste; a death needs no second look."""
    if hasty is not None:
        seen = played(plan, seed, hasty)
        if seen.failure is None or seen.has_died or is_enough(seen.failure):
            return seen
    return played(plan, seed, open_bench)


def try_seed(
    seed: int,
    claims: Claims,
    open_bench: Open,
    *,
    weights: Weights | None = None,
    draws: Draws = draw_plan,
    **options: Any,
) -> Finding | None:
    """Draw the plan of a seed and try it, with the options of `try_plan`."""
    return try_plan(draws(seed, claims, weights), seed, open_bench, **options)


def try_plan(
    plan: Plan,
    seed: int,
    open_bench: Open,
    *,
    seconds: float = REDUCTION_SECONDS,
    is_worth: Callable[[CaseFailed], bool] = lambda _: True,
    hasty: Open | None = None,
    is_enough: Callable[[CaseFailed], bool] = lambda _: False,
    resembles: Callable[[CaseFailed, CaseFailed], bool] = lambda *_: True,
) -> Finding | None:
    """Play a plan on a device of that seed; a failure that is worth it is made small.

    `hasty` opens one whose silence is believed sooner: what passes there needs no more time, nor
    does a failure that `is_enough`. A smaller plan is taken if its failure `resembles` the first.
    """
    first = _first(plan, seed, open_bench, hasty, is_enough)
    if (whole := first.failure) is None:
        return None

    def fails(candidate: Plan) -> bool:
        try:
            failure = _first(candidate, seed, open_bench, hasty).failure
            return failure is not None and resembles(failure, whole)
        except (RoceproofError, pytest.skip.Exception):
            return False  # without some of its steps it may be no plan, or none of this device

    if not is_worth(whole):
        return Finding(seed, plan, whole, first.bench, 0, whole)
    reduction = Reduction(plan, fails, seconds=seconds)
    least = reduction.run()
    last = played(least, seed, open_bench)
    if last.failure is None or not resembles(last.failure, whole):
        return Finding(seed, plan, whole, first.bench, reduction.tries, whole)
    is_least = reduction.is_least
    return Finding(seed, least, last.failure, last.bench, reduction.tries, whole, is_least)
