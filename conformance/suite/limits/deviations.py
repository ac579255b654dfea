# SPDX-License-Identifier: BSD-2-Clause
"""Where a target is known to deviate: declared, with evidence, and checked to be still so."""

import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.conformance.model.responder.policy import DEVIATIONS
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.suite.limits.versions import Versions

TABLE = Path(__file__).parent / "deviations.toml"


class DeviationError(RoceproofError):
    """The table is wrong; the text names the entry and what it needs."""


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """One known deviation. `cases` are regular expressions for the names of cases that show it,
    `may` for those that show it by chance: they may pass, and may break its rules alone.

    `kernels` is the range of versions that do it, as far as any were tried. `plays` names the
    values of the model's switches (responder_policy) that deviate like that: where the model is
    asked what a device may do, this device may.
    """

    id: str
    target: str
    rules: tuple[str, ...]
    cases: tuple[str, ...]
    says: str
    kernels: Versions
    may: tuple[str, ...] = ()
    plays: tuple[str, ...] = ()
    arguable: str = ""
    """Why it is no fault, or may be none."""

    def covers(self, case: str, version: str) -> bool:
        """Whether this case is expected to fail for it with that version of the target."""
        return version in self.kernels and self.names(case)

    def names(self, case: str) -> bool:
        """Whether this case shows it, on the versions that have it."""
        return any(re.search(pattern, case) for pattern in self.cases)

    def may_be_seen(self, case: str) -> bool:
        return any(re.search(pattern, case) for pattern in self.may)


@cache
def load_deviations(path: Path = TABLE) -> list[Deviation]:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    found = []
    for name, entry in document.get("deviation", {}).items():
        try:
            deviation = Deviation(
                id=name,
                target=str(entry.get("target") or document["target"]),
                rules=tuple(entry["rules"]),
                cases=tuple(entry["cases"]),
                says=str(entry["says"]),
                kernels=_versions(name, entry["kernels"]),
                may=tuple(entry.get("may", ())),
                plays=tuple(entry.get("plays", ())),
                arguable=str(entry.get("arguable", "")),
            )
        except KeyError as error:
            raise DeviationError(f"{path.name}: {name} lacks {error}") from None
        unknown = [rule for rule in deviation.rules if rule not in RULES]
        if unknown:
            raise DeviationError(f"{path.name}: {deviation.id}: {unknown[0]} is no rule")
        for value in deviation.plays:
            _switch_value(value, name)
        found.append(deviation)
    return found


def declared(identity: tuple[str, str], case: str) -> Deviation | None:
    """The deviation that a case is expected to show on a kind of target of some version."""
    target, version = identity
    known = load_deviations()
    matches = (d for d in known if d.target == target and d.covers(case, version))
    return next(matches, None)


def shown_by_chance(
    identity: tuple[str, str], case: str, broken: Collection[str]
) -> Deviation | None:
    """The deviation that a failing case shows by chance, having broken these rules."""
    target, version = identity
    for each in load_deviations():
        is_known = each.target == target and version in each.kernels
        if is_known and broken and set(broken) <= set(each.rules) and each.may_be_seen(case):
            return each
    return None


def tolerated(identity: tuple[str, str]) -> list[Enum]:
    """The values of the model's switches that a kind of target of some version is known to play."""
    return [value for each in deviations_of(identity) for value in switches(each)]


def deviations_of(identity: tuple[str, str]) -> list[Deviation]:
    """Those of a kind of target of some version."""
    target, version = identity
    return [d for d in load_deviations() if d.target == target and version in d.kernels]


def switches(deviation: Deviation) -> list[Enum]:
    """The values of the model's switches that deviate like that."""
    return [_switch_value(name, deviation.id) for name in deviation.plays]


def _versions(owner: str, kernels: object) -> Versions:
    versions = Versions.read(str(kernels))
    if versions is None:
        raise DeviationError(
            f"{owner}: kernels = {kernels!r} is no range: say 6.1, 6.1-6.12 or 6.1-"
        )
    return versions


def judged_kernels() -> list[str]:
    """The kernels on which the whole suite has been run, and all that differs been declared."""
    return list(tomllib.loads(TABLE.read_text(encoding="utf-8")).get("judged", []))


def _switch_value(name: str, owner: str) -> Enum:
    for value in DEVIATIONS:
        if f"{type(value).__name__}.{value.name}" == name:
            return value
    raise DeviationError(f"{owner}: {name} is none of the DEVIATIONS of responder_policy")
