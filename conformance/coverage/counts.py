# SPDX-License-Identifier: BSD-2-Clause
"""How often each bin was hit: added up, merged over runs, kept as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from roceproof.common.errors import RoceproofError
from roceproof.common.whole_file import whole_file
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.coverage.table import Table, load_table
from roceproof.conformance.targets.interface import Claims

SCHEMA = 1


class CoverageFileError(RoceproofError):
    """A file holds no coverage; the text says why and where one comes from."""


class Bin(NamedTuple):
    """One bin of one coverpoint."""

    point: str
    name: str

    def __str__(self) -> str:
        return f"{self.point} {self.name}"


class Counts:
    """Hits by coverpoint and bin. A bin that the table does not have is kept and never shown."""

    def __init__(self) -> None:
        self._hits: dict[str, Counter[str]] = {}

    def add(self, point: str, name: str, times: int = 1) -> None:
        """Hit a bin."""
        found = self._hits.get(point)
        if found is None:
            found = self._hits[point] = Counter()
        found[name] += times

    def hits(self, point: str) -> Mapping[str, int]:
        """Hits of a point by bin."""
        return self._hits.get(point, Counter())

    def merge(self, other: Counts) -> None:
        """Add what another run has hit."""
        for point, hits in other._hits.items():
            self._hits.setdefault(point, Counter()).update(hits)

    def empty(self, *claims: Claims, table: Table | None = None) -> list[Bin]:
        """The bins that such a device, at the data widths of all claims, leaves without a hit."""
        scope = Scope.of(claims)
        return [
            Bin(point.id, name)
            for point in (table or load_table()).points.values()
            for hits in [self.hits(point.id)]
            for name in point.bins(scope)
            if not hits.get(name)
        ]

    def to_json(self) -> dict[str, Any]:
        """A document in a fixed order."""
        hits = {point: dict(sorted(self._hits[point].items())) for point in sorted(self._hits)}
        return {"schema": SCHEMA, "hits": hits}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """The counts of such a document."""
        if document.get("schema") != SCHEMA or not isinstance(document.get("hits"), dict):
            raise CoverageFileError(
                f"no coverage of schema {SCHEMA}; it comes from: roceproof test --coverage"
            )
        counts = cls()
        for point, hits in document["hits"].items():
            counts._hits[point] = Counter(hits)
        return counts

    @classmethod
    def read(cls, path: Path) -> Self:
        """The counts in a file."""
        try:
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, AttributeError, TypeError, CoverageFileError) as error:
            raise CoverageFileError(f"{path}: {error}") from error

    def write(self, path: Path) -> None:
        """Keep them in a file."""
        with whole_file(path) as part:
            part.write_text(json.dumps(self.to_json()) + "\n")
