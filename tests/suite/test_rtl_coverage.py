# SPDX-License-Identifier: BSD-2-Clause
"""Every rule of a requester and of a responder has a case on RTL of ours, or a reason why not."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from roceproof.common.paths import REFERENCE_DUT, REPOSITORY
from roceproof.conformance.rules.open_rules import OPEN_RULES, Duty
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.runner import rtl_rule_coverage as rtl_coverage
from roceproof.conformance.runner import rule_coverage as coverage
from roceproof.conformance.runner import rule_coverage_report
from roceproof.conformance.runner.rtl_rule_coverage import (
    DEVICES,
    Found,
    cases_on_rtl,
    duties_of,
    problems,
)
from roceproof.conformance.runner.rule_coverage import coverage_of
from roceproof.conformance.runner.rule_coverage_report import run_coverage


@pytest.fixture(scope="module")
def found() -> Found:
    return cases_on_rtl()


@pytest.mark.whole
def test_no_rule_is_lost_and_none_is_open_that_has_a_case(found: Found) -> None:
    assert problems(found) == []


def test_each_open_rule_is_one_that_its_part_must_or_should_keep() -> None:
    assert [duty for duty in OPEN_RULES if duty not in duties_of(RULES[duty.rule])] == []


def test_no_manifest_of_ours_is_forgotten() -> None:
    """The first claims nothing that others do not; the second is none."""
    others = {REFERENCE_DUT, REPOSITORY / "rtl" / "coverage.toml"}
    assert {*(REPOSITORY / "rtl").glob("*.toml")} - others <= {*DEVICES}


@pytest.mark.whole
@pytest.mark.parametrize("duty", [Duty("R", "RNR-08"), Duty("T", "RTX-09")])
def test_a_rule_whose_last_case_is_gone_is_lost(found: Found, duty: Duty) -> None:
    without = {each: shown for each, shown in found.items() if each != duty}
    (problem,) = problems(without)
    assert problem.startswith(f"{duty.rule} ({duty.role}): no case decides it on RTL of ours")


@pytest.mark.whole
@pytest.mark.parametrize(
    ("duty", "case"),
    [
        (Duty("R", "RNR-08"), "responder_rnr.write_read_and_atomic_need_no_receive[WRITE]"),
        (Duty("T", "RNR-11"), "requester_rnr.the_ack_timer_rests_while_the_requester_waits"),
    ],
)
def test_an_open_rule_that_has_a_case_is_told(
    found: Found, duty: Duty, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rtl_coverage, "OPEN_RULES", {**OPEN_RULES, duty: "any reason"})
    (problem,) = problems(found)
    assert problem.startswith(f"{duty}: {case}")


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
    assert Duty("R", "READ-11") in cases_on_rtl(expression=case)
    monkeypatch.setattr(rtl_coverage, "DEVICES", DEVICES[-1:])
    assert cases_on_rtl(expression=case) == {}


@pytest.mark.parametrize(
    ("case", "is_shown"),
    [
        ("one_write_longer_than_half_of_all_psns_waits", True),
        ("no_more_than_half_of_all_psns_are_outstanding", False),
    ],
)
def test_of_cases_for_one_target_only_those_for_simulations_count(
    case: str, is_shown: bool
) -> None:
    assert (Duty("T", "PSN-11") in cases_on_rtl(expression=case)) == is_shown


@pytest.mark.whole
def test_each_part_is_told_by_itself(
    found: Found, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rule_coverage_report, "cases_on_rtl", lambda: found)
    rules = [RULES[name] for name in ("CNP-01", "RNR-08", "RNR-11")]
    assert run_coverage(rules, as_json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "rtl: 0 of the 1 MUST and 1 of the 1 SHOULD rules of a requester decided" in lines
    assert "rtl: 2 of the 2 MUST rules of a responder decided" in lines
    assert run_coverage(rules, as_json=True) == 0
    cnp, rnr, timer = json.loads(capsys.readouterr().out)["rules"]
    assert (cnp["rtl"].keys(), cnp["open"].keys()) == ({"R"}, {"T"})
    assert (rnr["rtl"]["R"]["device"], rnr["open"]) == ("reference-responder", {})
    assert timer["rtl"]["T"]["device"] == "reference-recovery"
