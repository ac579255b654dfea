# SPDX-License-Identifier: BSD-2-Clause
"""PSNs that an RC flow has skipped, until it is known whether sender or capture lost them."""

from dataclasses import dataclass
from typing import NamedTuple

from roceproof.conformance.observer.psn import distance
from roceproof.conformance.rules.findings import Direction, FlowKey, Violation

_OPEN_LIMIT = 16


@dataclass(frozen=True)
class Place:
    """Where in the capture a packet stands."""

    frame: int
    direction: Direction


class Late(NamedTuple):
    """A broken rule of an earlier packet, which only later ones could tell."""

    key: FlowKey
    place: Place
    violation: Violation


@dataclass
class Gap:
    """PSNs `first` to `last`; `missing` holds ranges of offsets from `first`, ends excluded."""

    key: FlowKey
    place: Place
    violation: Violation
    first: int
    last: int
    missing: list[tuple[int, int]]

    def holds(self, psn: int) -> bool:
        at = distance(psn, self.first)
        return any(start <= at < end for start, end in self.missing)

    def take(self, psn: int, count: int) -> None:
        """PSNs that have been seen after all."""
        start = distance(psn, self.first)
        end = start + count
        pieces = [(a, min(b, start)) for a, b in self.missing]
        pieces += [(max(a, end), b) for a, b in self.missing]
        self.missing = sorted({(a, b) for a, b in pieces if a < b})


class Gaps:
    """The open gaps of one flow; those given up land in `overdue`."""

    def __init__(self, overdue: list[Late]) -> None:
        self._open: list[Gap] = []
        self._overdue = overdue

    def open(self, gap: Gap) -> None:
        """Keep a gap open; beyond the limit, the oldest is given up."""
        self._open.append(gap)
        if len(self._open) > _OPEN_LIMIT:
            self._overdue.append(_late(self._open.pop(0)))

    def fill(self, psn: int, count: int) -> bool:
        """Take late PSNs out of every gap; whether the first of them was missing in any."""
        if not any(gap.holds(psn) for gap in self._open):
            return False
        for gap in self._open:
            gap.take(psn, count)
        self._open = [gap for gap in self._open if gap.missing]
        return True

    def cover(self, psn: int) -> None:
        """A positive response shows that all before that PSN has arrived."""
        if self._open:
            self._open = [gap for gap in self._open if distance(psn, gap.last) < 0]

    def give_up(self) -> None:
        self._overdue += map(_late, self._open)
        self._open = []


def _late(gap: Gap) -> Late:
    return Late(gap.key, gap.place, gap.violation)
