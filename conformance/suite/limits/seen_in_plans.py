# SPDX-License-Identifier: BSD-2-Clause
"""Which declared deviation a small plan shows: by what failed, and by all that it still says.

Whatever could be left out of a plan has been, so a plan that says more than an entry of the table
trips over something else, and is not taken for it.
"""

import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from roceproof.conformance.suite.limits.deviations import (
    DeviationError,
    deviations_of,
    load_deviations,
)

TABLE = Path(__file__).parent / "seen_in_plans.toml"


@dataclass(frozen=True, kw_only=True)
class Sight:
    """How a deviation is seen in a plan of one player: all of these are regular expressions."""

    deviation: str
    player: str
    head: str
    """Found in what is told of the failure, which is one line."""
    steps: tuple[str, ...]
    """Each is found in a step of the plan, and every step that is not usual has one of them,"""
    also: tuple[str, ...] = ()
    """or one of these."""


@cache
def load_sights() -> tuple[tuple[str, ...], tuple[Sight, ...]]:
    """Steps that say nothing special, and the entries."""
    document = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    known = {each.id for each in load_deviations()}
    found = []
    for entry in document.get("seen", []):
        try:
            sight = Sight(
                deviation=entry["deviation"],
                player=entry["player"],
                head=entry["head"],
                steps=tuple(entry["steps"]),
                also=tuple(entry.get("also", ())),
            )
        except KeyError as error:
            raise DeviationError(f"{TABLE.name}: an entry lacks {error}") from None
        if sight.deviation not in known:
            raise DeviationError(f"{TABLE.name}: {sight.deviation} is not declared")
        found.append(sight)
    return tuple(document["usual"]), tuple(found)


def seen_in_plan(
    identity: tuple[str, str], *, player: str, steps: Sequence[str], head: str
) -> str | None:
    """The deviation that a plan shows which fails so; only a small one shows any for certain."""
    usual, sights = load_sights()
    there = {each.id for each in deviations_of(identity)}
    fitting = (s for s in sights if s.deviation in there and s.player == player)
    return next((s.deviation for s in fitting if _shows(s, usual, steps, head)), None)


def of_rules(identity: tuple[str, str], rules: Collection[str]) -> list[str]:
    """Those that break one of these rules, of which a failure may be one."""
    return [each.id for each in deviations_of(identity) if not set(rules).isdisjoint(each.rules)]


def _shows(sight: Sight, usual: Sequence[str], steps: Sequence[str], head: str) -> bool:
    if not re.search(sight.head, head):
        return False
    if not all(any(re.search(wanted, step) for step in steps) for wanted in sight.steps):
        return False
    allowed = (*sight.steps, *sight.also, *usual)
    return all(any(re.search(one, step) for one in allowed) for step in steps)
