# SPDX-License-Identifier: BSD-2-Clause
"""The table of rules is whole and well formed, and the contract of the observers agrees with it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.rules.table import RULES, Severity

TABLE = (REPOSITORY / "conformance" / "rules" / "rules.tsv").read_text(encoding="utf-8")
ROWS = [line.split("\t") for line in TABLE.splitlines() if not line.startswith("#")][1:]
CLAUSE = r"C(A17|\d+)-[\d.]+|o\d+-\d+|A\d+(\.\d+)*|\d+(\.\d+)*|table \d+|RFC \d+|802\.\w+( 31B)?"
ANCHOR = re.compile(rf"-|({CLAUSE})(, ({CLAUSE}))*")


def test_the_table_is_complete_and_names_each_rule_once() -> None:
    assert len(ROWS) == len({row[0] for row in ROWS}) == len(RULES)


def test_the_rules_of_a_family_are_numbered_without_a_gap() -> None:
    families = Counter(name.rpartition("-")[0] for name in RULES)
    assert set(RULES) == {f"{f}-{n:02}" for f, size in families.items() for n in range(1, size + 1)}


def test_a_row_is_well_formed(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(row[0]):
            name, severity, roles, services, anchor, sentence = row
            assert re.fullmatch(r"[A-Z]{2,4}-\d\d", name)
            assert severity in set(Severity)
            assert re.fullmatch(r"T?R?O?", roles) and roles
            assert re.fullmatch(r"all|(RC ?)?(UC ?)?(UD)?(?<! )", services) and services
            assert ANCHOR.fullmatch(anchor), anchor
            assert re.fullmatch(r"[A-Z0-9][^\t]{10,118}[^.]\.", sentence), sentence


def test_the_contract_speaks_of_every_rule_that_an_observer_sees_and_of_no_other() -> None:
    text = (REPOSITORY / "docs" / "observer.md").read_text()
    text = re.sub(r"(ICRC-)02 / -03 / -05", r"\g<1>02 \g<1>03 \g<1>05", text)
    named = set(re.findall(r"\b[A-Z]{2,4}-\d\d\b", text))
    assert named == {rule.id for rule in RULES.values() if rule.observable}
