# SPDX-License-Identifier: BSD-2-Clause
"""Every MUST rule of a responder has a case that runs on RTL of ours, or a reason why not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from roceproof.conformance.rules.open_rules import OPEN_RULES
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.runner import rtl_rule_coverage as rtl_coverage
from roceproof.conformance.runner import rule_coverage as coverage
from roceproof.conformance.runner.rtl_rule_coverage import Found, cases_on_rtl, is_owed, problems
from roceproof.conformance.runner.rule_coverage import coverage_of


@pytest.fixture(scope="module")
def found() -> Found:
    return cases_on_rtl()


@pytest.mark.whole
def test_no_rule_is_lost_and_none_is_open_that_has_a_case(found: Found) -> None:
    assert problems(found) == []


def test_each_open_rule_is_one_that_a_responder_must_keep() -> None:
    assert [rule for rule in OPEN_RULES if not is_owed(RULES[rule])] == []


@pytest.mark.whole
def test_a_rule_whose_last_case_is_gone_is_lost(found: Found) -> None:
    without = {rule: shown for rule, shown in found.items() if rule != "RNR-08"}
    (problem,) = problems(without)
    assert problem.startswith("RNR-08: no case decides it on reference-responder or byte_endpoint")


@pytest.mark.whole
def test_an_open_rule_that_has_a_case_is_told(
    found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rtl_coverage, "OPEN_RULES", {**OPEN_RULES, "RNR-08": "any reason"})
    (problem,) = problems(found)
    assert problem.startswith("RNR-08: responder_rnr.write_read_and_atomic_need_no_receive[WRITE]")


@pytest.mark.parametrize("collect", [cases_on_rtl, lambda: coverage_of(["model"])])
def test_an_interruption_ends_it_and_no_rule_is_said_to_be_lost(
    collect: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(rtl_coverage, "rules_of", interrupted)
    monkeypatch.setattr(coverage, "rules_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        collect()


def test_a_case_that_skips_on_the_way_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its marks ask for no READ, which the small device does not execute."""
    case = "a_read_is_answered_whether_it_asks_for_an_ack_or_not"
    assert "READ-11" in cases_on_rtl(expression=case)
    monkeypatch.setattr(rtl_coverage, "DEVICES", rtl_coverage.DEVICES[1:])
    assert cases_on_rtl(expression=case) == {}
