# SPDX-License-Identifier: BSD-2-Clause
"""What confirms the rules, and what they leave open: the tables agree with model and documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.model.components import Components
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.responder.policy import DEVIATIONS, ResponderPolicy
from roceproof.conformance.rules.choices import CHOICES, Choice, left_open_by
from roceproof.conformance.rules.sources import (
    SOURCES,
    Kind,
    Status,
    marked_anchor,
    sources_of,
    status_of,
)
from roceproof.conformance.rules.table import RULES, Severity

POLICIES = (ResponderPolicy, RequesterPolicy, Components)
LAW = (REPOSITORY / "docs" / "law.md").read_text(encoding="utf-8")
HABITS = (REPOSITORY / "docs" / "habits.md").read_text(encoding="utf-8")


def test_a_clause_is_marked_where_a_document_has_it_and_nowhere_else() -> None:
    assert marked_anchor(RULES["RETH-05"]) == "C9-88✔"
    assert marked_anchor(RULES["READ-05"]) == "9.7.3"
    for rule in RULES.values():
        marks = {clause for clause in marked_anchor(rule).split(", ") if clause.endswith("✔")}
        wanted = {f"{each.clause}✔" for each in sources_of(rule) if each.kind is not Kind.TOLD}
        assert marks == wanted - {"None✔"}


def test_a_document_that_is_quoted_names_a_clause() -> None:
    found = [source for each in SOURCES.values() for source in each]
    assert all(source.clause for source in found if source.kind is not Kind.TOLD)


def test_the_status_tells_a_clause_from_hearsay_and_both_from_memory() -> None:
    names = ("CNP-02", "OPC-06", "PAD-02", "PSN-08")
    assert [status_of(RULES[name]) for name in names] == list(Status)


def test_at_least_150_rules_are_confirmed() -> None:
    counts = Counter(status_of(rule) for rule in RULES.values())
    assert counts[Status.CLAUSE] + counts[Status.TOLD] >= 150


def test_the_document_counts_as_the_tables_do() -> None:
    counts = Counter(status_of(rule) for rule in RULES.values())
    musts = Counter(status_of(rule) for rule in RULES.values() if rule.severity is Severity.MUST)
    for status in Status:
        row = next(line for line in LAW.splitlines() if line.startswith(f"| {status} |"))
        told = [int(number) for number in row.split("|")[2:4]]
        assert told == [pytest.approx(each[status], abs=10) for each in (counts, musts)]


def test_habits_are_listed_as_in_the_table() -> None:
    rows = [line for line in HABITS.splitlines() if line.startswith("| ")]
    start = rows.index("| what is left open | values that are drawn | where |") + 1
    assert rows[start : start + len(CHOICES)] == [told(choice) for choice in CHOICES]


def told(choice: Choice) -> str:
    rules = f" ({', '.join(choice.rules)})" if choice.rules else ""
    where = ", ".join(f"`{name}`" for name in choice.where)
    return f"| {choice.open}{rules} | {choice.values} | {where} |"


def test_a_choice_is_one_of_the_models() -> None:
    names = {field.name for policy in POLICIES for field in fields(policy)}
    where = {name for choice in CHOICES for name in choice.where if not name.startswith("[")}
    assert where <= names


def test_a_switch_with_two_conforming_values_is_a_choice() -> None:
    policy = ResponderPolicy()
    values = {
        switch: [each for each in type(getattr(policy, switch)) if each not in DEVIATIONS]
        for switch in ResponderPolicy.switches()
    }
    free = {switch for switch, conforming in values.items() if len(conforming) > 1}
    assert free == {*values} & {name for choice in CHOICES for name in choice.where}


def test_a_rule_knows_what_it_leaves_open() -> None:
    assert [choice.where for choice in left_open_by("DUP-07")] == [("replay_msn",)]
    assert left_open_by("PSN-02") == []


def test_no_must_is_from_memory() -> None:
    musts = [rule for rule in RULES.values() if rule.severity is Severity.MUST]
    assert [rule.id for rule in musts if status_of(rule) is Status.MEMORY] == []
