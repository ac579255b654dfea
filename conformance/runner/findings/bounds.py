# SPDX-License-Identifier: BSD-2-Clause
"""Bounds beyond which messages fail, and the lines of a manifest that would say so.

A bound is not guessed but met: it is the most, or the least, of what passes. Each is a limit that
a manifest may have; what lies beyond is then not tried.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from roceproof.conformance.runner.findings.quantities import QUANTITIES, Amounts
from roceproof.verbs.limit_table import LIMITS, LONGEST_MESSAGE

MTU = QUANTITIES.index("mtu")


class Reach(NamedTuple):
    """The least and the most of each quantity in some messages."""

    least: Amounts
    most: Amounts


class Bound(NamedTuple):
    """What lies above the most of what passes, or below the least, and the limit that says so."""

    key: str
    quantity: str
    one: str
    """Words for what lies beyond, where the bound is 1."""
    several: str
    is_least: bool = False

    def words(self, failing: Reach, passing: Reach) -> str:
        """What lies beyond in words."""
        at = self._at(failing, passing)
        return self.one if at == 1 else self.several.format(at)

    def is_beyond(self, some: Reach, passing: Reach) -> bool:
        """Whether all of some messages lie beyond what passes."""
        place = QUANTITIES.index(self.quantity)
        if self.is_least:
            return some.most[place] < passing.least[place]
        return some.least[place] > passing.most[place]

    def limits(self, failing: Reach, passing: Reach) -> dict[str, Any]:
        """Keys of `[limits]` with values, under which nothing beyond is tried."""
        at = self._at(failing, passing)
        if self.key == "length":
            return {"length": [at, LONGEST_MESSAGE] if self.is_least else [0, at]}
        if self.key == "outstanding_shared":
            return {"outstanding_messages": at, self.key: True}
        return {self.key: at}

    def _at(self, failing: Reach, passing: Reach) -> int:
        if self.key == "length_multiple":  # the fewest bytes of which no failing one is a multiple
            return 2 * failing.most[QUANTITIES.index(self.quantity)]
        amounts = passing.least if self.is_least else passing.most
        return amounts[QUANTITIES.index(self.quantity)] + (self.key == "qps")


BOUNDS = (
    Bound(
        "qps", "queue pair", "on any queue pair but the first", "on any queue pair but the first {}"
    ),
    Bound(
        "length_multiple", "alignment", "", "of a length that is no multiple of {}", is_least=True
    ),
    Bound("length", "size", "of no bytes", "of less than {:,} bytes", is_least=True),
    Bound("length", "size", "of more than one byte", "of more than {:,} bytes"),
    Bound(
        "outstanding_messages",
        "open messages",
        "behind another that is not complete",
        "behind {:,} others that are not complete",
    ),
    Bound(
        "outstanding_packets",
        "open packets",
        "with more than one packet of what is not complete",
        "with more than {:,} packets of what is not complete",
    ),
    Bound(
        "outstanding_shared",
        "open of all",
        "behind another of any queue pair that is not complete",
        "behind {:,} others of any queue pairs that are not complete",
    ),
)
"""In the order in which they are preferred that explain as much."""


def reach_of(rows: Iterable[Reach]) -> Reach | None:
    """That of all of them; None of none."""
    told = [*rows]
    if not told:
        return None
    least, most = zip(*told, strict=True)
    return Reach(
        tuple(min(each) for each in zip(*least, strict=True)),
        tuple(max(each) for each in zip(*most, strict=True)),
    )


def limits_of(
    failing: Sequence[Reach], passing: Reach | None, *, mtus: Iterable[int]
) -> dict[str, Any]:
    """The limit beyond which all lies that fails and nothing that passes; empty if there is none.

    `mtus` are the path MTUs at which anything passes.
    """
    good, reach = sorted(mtus), reach_of(failing)
    if passing is None or reach is None:
        return {}
    if not {each.least[MTU] for each in failing} & {*good}:
        return {"path_mtus": good}
    beyond = (bound for bound in BOUNDS if bound.is_beyond(reach, passing))
    return next((bound.limits(reach, passing) for bound in beyond), {})


def lines_of(limits: dict[str, Any]) -> tuple[str, ...]:
    """As a manifest has them, in the order of the table."""
    told = (row for row in LIMITS if row.key in limits)
    return tuple(f"{row.key} = {json.dumps(limits[row.key])}" for row in told)
