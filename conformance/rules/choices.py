# SPDX-License-Identifier: BSD-2-Clause
"""What rules leave open, from choices.tsv: the choices of a device that no case may accuse."""

from typing import NamedTuple

from roceproof.conformance.rules.rows import rows_of
from roceproof.conformance.rules.table import RULES


class Choice(NamedTuple):
    """One row; its columns are described at the head of choices.tsv."""

    rules: tuple[str, ...]
    open: str
    values: str
    where: tuple[str, ...]


def _load() -> list[Choice]:
    found = [
        Choice(tuple(rules.split()) if rules != "-" else (), what, values, tuple(where.split()))
        for rules, what, values, where in rows_of("choices.tsv")
    ]
    unknown = {rule for each in found for rule in each.rules} - RULES.keys()
    assert not unknown, f"choices.tsv: {', '.join(unknown)}: no rule"
    return found


CHOICES: list[Choice] = _load()
"""All rows, in the order of the file."""


def left_open_by(rule: str) -> list[Choice]:
    return [each for each in CHOICES if rule in each.rules]
