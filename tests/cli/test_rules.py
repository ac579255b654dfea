# SPDX-License-Identifier: BSD-2-Clause
"""The command that prints the rules: all, some, one; and what it says to an unknown name."""

from __future__ import annotations

import json

from roceproof.conformance.rules.observer_contract import sections_of
from roceproof.conformance.rules.table import RULES

USAGE = 2


def listed(output: str) -> list[str]:
    return [line.split()[0] for line in output.splitlines()[1:]]


def test_without_a_name_every_rule_is_one_line(console) -> None:
    assert listed(console.run("rules").stdout) == list(RULES)


def test_a_beginning_names_a_family_and_options_narrow_it(console) -> None:
    run = console.run("rules", "psn", "--role", "o", "--severity", "must")
    expected = [
        rule.id
        for rule in RULES.values()
        if rule.id.startswith("PSN-") and rule.observable and rule.severity == "must"
    ]
    assert listed(run.stdout) == expected
    assert "PSN-17" not in expected


def test_one_rule_is_printed_whole(console) -> None:
    run = console.run("rules", "icrc-02")
    rule = RULES["ICRC-02"]
    marked = "C7-48✔, CA17-22✔, 7.8.1"
    for text in (rule.id, "must", rule.sentence, marked, "requester, passive observer"):
        assert text in run.stdout
    assert "docs/observer.md, section 2" in run.stdout
    assert "a capture alone cannot decide it" in console.run("rules", "ETH-06").stdout


def test_json_holds_every_column(console) -> None:
    document = json.loads(console.run("rules", "--json").stdout)
    assert document["schema"] == 1
    assert [row["id"] for row in document["rules"]] == list(RULES)
    by_name = {row["id"]: row for row in document["rules"]}
    assert by_name["UC-02"] == {
        "id": "UC-02",
        "severity": "should",
        "roles": "TO",
        "services": ["UC"],
        "anchor": "9.2",
        "sentence": "AckReq is 0 on UC.",
        "status": "memory",
        "sources": [],
        "left_open": [],
        "observer_sections": ["2"],
    }


def test_a_rule_tells_what_confirms_it_and_what_it_leaves_open(console) -> None:
    lines = console.run("rules", "PAD-02", "PAD-06", "RETH-06").stdout.splitlines()
    assert "  open      a pad that contradicts the payload: dropped, refused" in lines
    assert lines.count("  status    from memory") == 1
    assert [line.split()[0] for line in lines[-4:]] == ["observer", "quoted", "told", "told"]


def test_an_unknown_name_is_a_usage_error_that_offers_similar_ones(console) -> None:
    run = console.run("rules", "PSM-02")
    assert run.returncode == USAGE
    assert run.stdout == ""
    assert "PSM-02: no such rule; did you mean" in run.stderr
    assert "PSN-02" in run.stderr


def test_the_contract_has_a_section_for_each_rule_that_is_observed() -> None:
    assert all(sections_of(rule.id) for rule in RULES.values() if rule.observable)
    assert not any(sections_of(rule.id) for rule in RULES.values() if not rule.observable)
