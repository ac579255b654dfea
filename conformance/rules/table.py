# SPDX-License-Identifier: BSD-2-Clause
"""The one table of rules, from rules.tsv: what each says, how much it weighs, who can see it.

The sentence says what holds on a healthy wire. Breaks of a MUST are failures, of
a SHOULD warnings; INFO is recorded only.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from roceproof.conformance.rules.rows import rows_of


class Severity(StrEnum):
    """How much a broken rule weighs."""

    MUST = "must"
    SHOULD = "should"
    INFO = "info"


class Rule(NamedTuple):
    """One row of the table; its columns are described at the head of rules.tsv."""

    id: str
    severity: Severity
    roles: str
    services: str
    anchor: str
    sentence: str

    @property
    def clauses(self) -> list[str]:
        """What its anchor names; empty for what any correct device does."""
        return [] if self.anchor == "-" else self.anchor.split(", ")

    @property
    def observable(self) -> bool:
        """Whether a capture alone can decide it."""
        return "O" in self.roles


def _load() -> dict[str, Rule]:
    return {
        name: Rule(name, Severity(severity), roles, services, anchor, sentence)
        for name, severity, roles, services, anchor, sentence in rows_of("rules.tsv")
    }


RULES: dict[str, Rule] = _load()


def breaks_a_must(rules: Iterable[str]) -> bool:
    """Whether one of these is a must: breaking the others is worth a warning."""
    return any(RULES[rule].severity is Severity.MUST for rule in rules)


def is_warning(rules: Sequence[str]) -> bool:
    """Whether a failure breaks these and no must, and so fails no device; one of none may."""
    return bool(rules) and not breaks_a_must(rules)
