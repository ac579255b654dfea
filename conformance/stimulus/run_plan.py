# SPDX-License-Identifier: BSD-2-Clause
"""Plays plans on fresh devices, and tells a failure as a small case with what came of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from roceproof.common.errors import RoceproofError
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
    return [*kinds, *([draw_requests] if Capability.RESPONDER in claims.capabilities else [])]


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
        return Played(CaseFailed(f"{death.said}: {death}", rules=["LIVE-01"]), bench)
    return Played(None)


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
) -> Finding | None:
    """Play a plan on a device of that seed; a failure that is worth it is made small."""
    first = played(plan, seed, open_bench)
    if first.failure is None:
        return None

    def fails(candidate: Plan) -> bool:
        try:
            return played(candidate, seed, open_bench).failure is not None
        except RoceproofError:  # without some of its steps it may be no plan any more
            return False

    reduction = Reduction(plan, fails, seconds=seconds if is_worth(first.failure) else 0.0)
    least = reduction.run()
    last = played(least, seed, open_bench)
    failure = last.failure or first.failure
    return Finding(seed, least, failure, last.bench, reduction.tries, first.failure)
