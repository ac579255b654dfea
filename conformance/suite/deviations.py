# SPDX-License-Identifier: BSD-2-Clause
"""Where a target is known to deviate: declared, with evidence, and checked to be still so."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from roceproof.conformance.rules import RULES
from roceproof.errors import RoceproofError

TABLE = Path(__file__).parent / "deviations.toml"


class DeviationError(RoceproofError):
    """The table is wrong; the text names the entry and what it needs."""


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """One known deviation. `cases` are regular expressions for the names of cases that show it."""

    id: str
    target: str
    rules: tuple[str, ...]
    cases: tuple[str, ...]
    says: str
    kernels: str

    def covers(self, case: str) -> bool:
        """Whether this case is expected to fail for it."""
        return any(re.search(pattern, case) for pattern in self.cases)


def load_deviations(path: Path = TABLE) -> list[Deviation]:
    """Every declared deviation."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("deviation", [])
    found = []
    for entry in entries:
        try:
            deviation = Deviation(
                id=str(entry["id"]),
                target=str(entry["target"]),
                rules=tuple(entry["rules"]),
                cases=tuple(entry["cases"]),
                says=str(entry["says"]),
                kernels=str(entry["kernels"]),
            )
        except KeyError as error:
            raise DeviationError(f"{path.name}: an entry lacks {error}: {entry}") from None
        unknown = [rule for rule in deviation.rules if rule not in RULES]
        if unknown:
            raise DeviationError(f"{path.name}: {deviation.id}: {unknown[0]} is no rule")
        found.append(deviation)
    return found


def declared(target: str, case: str) -> Deviation | None:
    """The deviation that a case of a target is expected to show."""
    matches = (d for d in load_deviations() if d.target == target and d.covers(case))
    return next(matches, None)
