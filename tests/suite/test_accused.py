# SPDX-License-Identifier: BSD-2-Clause
"""Which rules the cases of one finding accuse together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from roceproof.conformance.runner.findings.accused import (
    about_alone,
    accused,
    in_common,
    none_passes,
)
from roceproof.conformance.runner.findings.root_findings import roots
from roceproof.conformance.runner.findings.words.documents import documents

PLAN = {"rules": [], "broken": ["ACK-08", "ACK-09"]}
"""A random one, which knows rules of very different faults alone."""


UNHEEDED = {"rules": ["RNR-05"], "broken": ["RNR-05"], "differed": ["ACK-08"]}


def test_a_case_that_was_not_reached_accuses_what_differed() -> None:
    unreached = {"rules": ["QPS-04"], "broken": ["LIVE-01"], "differed": ["ACK-01"]}
    assert accused(unreached) == ["ACK-01"]
    assert accused({**unreached, "broken": ["QPS-04"]}) == ["QPS-04"]
    assert accused({**unreached, "differed": []}) == ["LIVE-01"]


def case(*rules: str) -> dict[str, Any]:
    return {"rules": [*rules], "broken": [*rules]}


@pytest.mark.parametrize(
    ("cases", "rules"),
    [
        ([case("PSN-16", "ACK-05", "ACK-08"), PLAN], ["PSN-16", "ACK-08"]),
        ([case("PSN-16", "ACK-08"), PLAN, PLAN], ["ACK-08"]),
        ([{"rules": [], "broken": ["AETH-04", "ACK-08"]}, PLAN], ["ACK-08"]),
        ([case("RTX-05", "ACK-08"), case("RTX-05", "ACK-08"), PLAN], ["RTX-05"]),
        (
            [{"rules": ["BTH-07"], "broken": ["BTH-07"], "differed": ["ACK-08"]}] * 2,
            ["BTH-07", "ACK-08"],
        ),
        ([UNHEEDED, {**UNHEEDED, "differed": ["RNR-05"]}], ["RNR-05", "ACK-08"]),
    ],
    ids=["half", "fewer", "no case is about it", "most", "all, whatever differed", "all of them"],
)
def test_a_rule_that_half_the_cases_are_about_goes_before_one_of_many_faults(
    cases: Sequence[dict[str, Any]], rules: list[str]
) -> None:
    assert in_common(cases) == rules


@pytest.mark.parametrize(
    ("about", "passing", "told"),
    [
        ([["NAK-03"], ["NAK-03"], ["NAK-01", "PSN-14"]], ["NAK-01", "PSN-14"], "NAK-03"),
        ([["NAK-03"], ["NAK-03"], ["NAK-01", "PSN-14"]], ["NAK-03"], "NAK-01"),
        ([["BTH-07"], ["NAK-01"]], ["NAK-01"], "NAK-01"),
        ([["BTH-07"], ["BTH-07"], ["NAK-01"]], ["NAK-01"], "BTH-07"),
        ([["BTH-07"], ["BTH-07"], *[["NAK-01"]] * 3], ["NAK-01"], "NAK-01"),
    ],
    ids=["of its family", "one passes", "no more than the first", "most", "too few"],
)
def test_a_finer_rule_of_which_no_case_passes_goes_before_one_of_many_faults(
    about: list[list[str]], passing: list[str], told: str
) -> None:
    cases: dict[str, dict[str, Any]] = {
        f"{n}": {"outcome": "failed", "rules": rules} for n, rules in enumerate(about)
    }
    cases["passes"] = {"outcome": "passed", "rules": passing}
    failing = {name for name in cases if name != "passes"}
    assert none_passes("NAK-01", failing, cases) == told
    assert none_passes("RTX-07", failing, cases) == "RTX-07"


@pytest.mark.parametrize(
    ("first", "told"),
    [
        (["QPS-04", "QPS-04"], ["QPS-04", "RNR-01"]),
        (["QPS-04", "RNR-01"], ["RNR-01"]),
        (["DUP-01"], ["RNR-01"]),
    ],
    ids=["all", "some", "no rule of lives"],
)
def test_where_all_is_in_doubt_the_life_that_cases_are_about_is_named(
    first: list[str], told: list[str]
) -> None:
    failed = {"outcome": "failed", "differed": ["RNR-01"], "head": "no RNR", "replay": ""}
    failing = {
        f"{n}": {"case": f"{n}", "broken": ["RNR-01"], "rules": [rule, "RNR-01"], **failed}
        for n, rule in enumerate(first)
    }
    passing = {
        f"passes {n}": {"case": f"p{n}", "rules": [*failing["0"]["rules"]], "outcome": "passed"}
        for n in range(9)
    }
    cases: dict[str, dict[str, Any]] = {**failing, **passing}
    (found,) = documents(roots(cases, {}), cases, {})
    assert found["rules"] == found["in_doubt"] == told


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ([["PFC-01", "LIVE-01"], ["LIVE-01", "PFC-01"]], ["PFC-01"]),
        ([["PFC-01", "LIVE-01"], ["PFC-02", "LIVE-01"]], []),
        ([["PFC-01", "PFC-02", "LIVE-01"]], []),
    ],
    ids=["one thing", "two", "two at once"],
)
def test_of_a_death_the_one_thing_is_told_that_its_cases_are_about(broken, told) -> None:
    assert about_alone({"broken": each} for each in broken) == told
