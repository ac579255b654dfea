# SPDX-License-Identifier: BSD-2-Clause
"""What real devices are known to do although a rule forbids it, from known_devices.tsv."""

import re
from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple

from roceproof.conformance.rules.rows import rows_of
from roceproof.conformance.rules.table import RULES


class Evidence(StrEnum):
    PUBLISHED = "published"
    OBSERVED = "observed"


class Practice(NamedTuple):
    """One row of the table; its columns are described at the head of known_devices.tsv."""

    rule: str
    got: str
    practice: str
    evidence: Evidence
    source: str


def _load() -> list[Practice]:
    found = [
        Practice(rule, got, what, Evidence(how), where)
        for rule, got, what, how, where in rows_of("known_devices.tsv")
    ]
    assert all(each.rule in RULES for each in found)
    return found


PRACTICES: list[Practice] = _load()


def known_practice(rule: str, got: Collection[str]) -> Practice | None:
    """The practice that findings of a rule fit, whatever they got."""
    for each in PRACTICES:
        if each.rule == rule and all(re.fullmatch(each.got, text) for text in got):
            return each
    return None
