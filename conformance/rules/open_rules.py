# SPDX-License-Identifier: BSD-2-Clause
"""The rules of requesters and responders that no case decides on RTL of ours, with reasons."""

from typing import NamedTuple

from roceproof.conformance.rules.rows import rows_of
from roceproof.conformance.rules.table import RULES


class Duty(NamedTuple):
    """What one part, T or R as in the table of rules, has to keep."""

    role: str
    rule: str

    def __str__(self) -> str:
        return f"{self.rule} ({self.role})"


def _load() -> dict[Duty, str]:
    found = {
        Duty(role, rule): why for rule, roles, why in rows_of("open_rules.tsv") for role in roles
    }
    for (role, rule), why in found.items():
        known = rule in RULES and role in RULES[rule].roles
        assert known and why, f"open_rules.tsv: {rule} is no rule of {role}, or has no reason"
    return found


OPEN_RULES: dict[Duty, str] = _load()
"""The reason of each."""
