# SPDX-License-Identifier: BSD-2-Clause
"""A root finding: its troubles, the cases that show it, and what else it accounts for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from roceproof.conformance.rules.consequences import CAUSES_OF
from roceproof.conformance.runner.findings.feature_words import Kind
from roceproof.conformance.runner.findings.observations import FIELD, RULE
from roceproof.conformance.suite.header_displacement import DISPLACING
from roceproof.conformance.suite.reporting import failure_site as stop
from roceproof.conformance.suite.reporting.failure import FIELD_RULES

STREAM, DEAD = "stream", "dead"
"""The trouble of a device of which a stream, or all of it, stands still wherever it is seen; and
that of one that does so sometimes."""
STOPS = (str(stop.Kind.NO_PACKET), str(stop.Kind.NO_COMPLETION))
DECIDES = tuple(FIELD + name for name in ("ip_length", "udp_length", "opcode", *DISPLACING))
"""They say which headers and how much payload a packet has: first of the fields, often alone."""
OF_ONE_FIELD = frozenset({"MSN", "MTU", "OPC", "PAD", "PSN", "UD"})
"""Families of which each rule speaks of the same field of what a device sends."""
_OF_ONE_THING = OF_ONE_FIELD | {"ICRC"}
_DECIDES = frozenset({"ICRC", "MTU", "OPC", "PAD", "PSN"})
"""And those of fields on which it depends what a packet is, and what may follow it."""


@dataclass
class Root:
    troubles: list[str]
    cases: set[str]
    causes: list[tuple[Kind, ...]] = field(default_factory=list)
    has_cause: bool = False
    """Nothing that passed contradicts the causes; no features mean that nothing has passed."""
    passing: int = 0
    limits: tuple[str, ...] = ()
    """Lines of a manifest beyond which all of it lies, and nothing that passes."""
    head: str = ""
    teller: str = ""
    """The case whose words the head is."""
    says: str = ""
    """What it is, where that is true of all cases."""
    hides: bool = False
    """Nothing else can be told from its cases."""
    brings: str = ""
    """What failures of other cases are alike that come of it."""
    covers: bool = False
    """Whatever else its cases lack came of it."""
    rules: set[str] = field(default_factory=set)
    """What is accused besides the rules of its troubles."""
    signs: set[str] = field(default_factory=set)
    """Those of its cases that show only what follows from it."""

    @property
    def stops(self) -> bool:
        """Whether a case goes no further because of it."""
        return self.hides or self.troubles[0] in (
            *STOPS,
            str(stop.Kind.DEATH),
            str(stop.Kind.NO_END),
        )

    @property
    def accuses(self) -> set[str]:
        """The rules that are broken by what it is."""
        return self.rules | {rule for each in self.troubles if (rule := rule_of_trouble(each))}

    @property
    def decides(self) -> bool:
        """Whether it depends on what is wrong what a packet is, and what may follow it."""
        return self.covers or any(family(rule) in _DECIDES for rule in self.accuses)

    def accounts_for(self, rule: str) -> bool:
        """Whether that is broken by the same fault, where both are."""
        accused = self.accuses
        if rule in accused or any(each.cause in accused for each in CAUSES_OF.get(rule, ())):
            return True
        return family(rule) in _OF_ONE_THING and any(family(rule) == family(r) for r in accused)

    def take(self, other: Root) -> None:
        """Make another one a part of this."""
        self.troubles += other.troubles
        self.cases |= other.cases
        self.rules |= other.rules
        self.signs |= other.signs

    def takes_sign(self, other: Root) -> None:
        """Make another one, which only follows from it, a part of this."""
        self.signs |= other.cases - self.cases
        self.cases |= other.cases

    @property
    def tellers(self) -> set[str]:
        """The cases that tell what is broken."""
        return self.cases - self.signs


def rule_of_trouble(trouble: str) -> str | None:
    """The rule that it breaks by itself."""
    if trouble.startswith(RULE):
        return trouble.removeprefix(RULE)
    return FIELD_RULES.get(trouble.removeprefix(FIELD))


def fields_of(troubles: Sequence[str]) -> set[str]:
    """The fields that are wrong."""
    return {each.removeprefix(FIELD) for each in troubles if each.startswith(FIELD)}


def family(rule: str) -> str:
    """What the rule is about."""
    return rule.partition("-")[0]
