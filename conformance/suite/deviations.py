# SPDX-License-Identifier: BSD-2-Clause
"""Where a target is known to deviate: declared, with evidence, and checked to be still so."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.conformance.model.responder.policy import DEVIATIONS
from roceproof.conformance.rules.table import RULES

TABLE = Path(__file__).parent / "deviations.toml"


class DeviationError(RoceproofError):
    """The table is wrong; the text names the entry and what it needs."""


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """One known deviation. `cases` are regular expressions for the names of cases that show it.

    `plays` names the values of the model's switches (responder_policy) that deviate like that:
    where the model is asked what a device may do, this device may.
    """

    id: str
    target: str
    rules: tuple[str, ...]
    cases: tuple[str, ...]
    says: str
    kernels: str
    plays: tuple[str, ...] = ()

    def covers(self, case: str, version: str) -> bool:
        """Whether this case is expected to fail for it with that version of the target."""
        if not f"{version}.".startswith(f"{self.kernels}."):
            return False
        return any(re.search(pattern, case) for pattern in self.cases)


@cache
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
                plays=tuple(entry.get("plays", ())),
            )
        except KeyError as error:
            raise DeviationError(f"{path.name}: an entry lacks {error}: {entry}") from None
        unknown = [rule for rule in deviation.rules if rule not in RULES]
        if unknown:
            raise DeviationError(f"{path.name}: {deviation.id}: {unknown[0]} is no rule")
        for name in deviation.plays:
            _switch_value(name, deviation.id)
        found.append(deviation)
    return found


def declared(identity: tuple[str, str], case: str) -> Deviation | None:
    """The deviation that a case is expected to show on a kind of target of some version."""
    target, version = identity
    known = load_deviations()
    matches = (d for d in known if d.target == target and d.covers(case, version))
    return next(matches, None)


def tolerated(target: str) -> list[Enum]:
    """The values of the model's switches that a target is known to play."""
    known = [deviation for deviation in load_deviations() if deviation.target == target]
    return [_switch_value(name, each.id) for each in known for name in each.plays]


def _switch_value(name: str, owner: str) -> Enum:
    for value in DEVIATIONS:
        if f"{type(value).__name__}.{value.name}" == name:
            return value
    raise DeviationError(f"{owner}: {name} is none of the DEVIATIONS of responder_policy")
