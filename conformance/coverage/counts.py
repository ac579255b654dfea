# SPDX-License-Identifier: BSD-2-Clause
"""How often each bin was hit: added up, merged over runs, turned into JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self

from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.coverage.table import Table, load_table
from roceproof.conformance.targets.interface import Claims


class Bin(NamedTuple):
    point: str
    name: str

    def __str__(self) -> str:
        return f"{self.point} {self.name}"


class Counts:
    """Hits by coverpoint and bin. A bin that the table does not have is kept and never shown."""

    def __init__(self) -> None:
        self._hits: dict[str, Counter[str]] = {}

    def add(self, point: str, name: str, times: int = 1) -> None:
        found = self._hits.get(point)
        if found is None:
            found = self._hits[point] = Counter()
        found[name] += times

    def add_each(self, point: str, names: Iterable[str]) -> None:
        """Hit each of these bins once."""
        self._hits.setdefault(point, Counter()).update(names)

    def hits(self, point: str) -> Mapping[str, int]:
        return self._hits.get(point, Counter())

    def merge(self, other: Counts) -> None:
        """Add what another run has hit."""
        for point, hits in other._hits.items():
            self._hits.setdefault(point, Counter()).update(hits)

    def empty(self, *claims: Claims, table: Table | None = None) -> list[Bin]:
        """The bins that such a device, at the data widths of all claims, leaves without a hit."""
        return self.empty_in(Scope.of(claims), table=table)

    def empty_in(self, scope: Scope, *, table: Table | None = None) -> list[Bin]:
        """The same, where a scope says what the device is."""
        return [
            Bin(point.id, name)
            for point in (table or load_table()).points.values()
            for hits in [self.hits(point.id)]
            for name in point.bins(scope)
            if not hits.get(name)
        ]

    def to_json(self) -> dict[str, dict[str, int]]:
        """Hits in a fixed order."""
        return {point: dict(sorted(self._hits[point].items())) for point in sorted(self._hits)}

    @classmethod
    def from_json(cls, document: Mapping[str, Mapping[str, int]]) -> Self:
        counts = cls()
        for point, hits in document.items():
            counts._hits[point] = Counter(hits)
        return counts
