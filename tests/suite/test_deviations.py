# SPDX-License-Identifier: BSD-2-Clause
"""Declared deviations: each names cases that exist, has its story and its capture."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import pytest
from judged_kernel import needs_judged_kernel

from roceproof.conformance.capture.reader import read
from roceproof.conformance.runner.rule_coverage import coverage_of
from roceproof.conformance.suite.limits import deviations
from roceproof.conformance.suite.limits.deviations import (
    Deviation,
    DeviationError,
    declared,
    judged_kernels,
    load_deviations,
    shown_by_chance,
)
from roceproof.conformance.suite.limits.versions import Versions

ROOT = Path(__file__).resolve().parents[2]
FINDINGS = ROOT / "docs" / "findings.md"
DEVIATIONS = load_deviations()
FEW_FRAMES = 1000


@pytest.fixture(scope="module")
def cases() -> set[str]:
    (entries,) = coverage_of(["rxe"]).values()
    return {case for entry in entries.values() for case in entry.cases}


def test_a_deviation_names_cases_that_run(cases: set[str], subtests: pytest.Subtests) -> None:
    for deviation in DEVIATIONS:
        with subtests.test(deviation.id):
            assert any(deviation.names(case) or deviation.may_be_seen(case) for case in cases)
            for pattern in deviation.cases + deviation.may:
                assert any(re.search(pattern, case) for case in cases), pattern


def test_a_deviation_was_seen_on_a_kernel_that_was_judged(subtests: pytest.Subtests) -> None:
    judged = judged_kernels()
    for deviation in DEVIATIONS:
        with subtests.test(deviation.id):
            assert any(version in deviation.kernels for version in judged)
            assert ".".join(map(str, deviation.kernels.first)) in judged
            last = deviation.kernels.last
            assert last is None or ".".join(map(str, last)) in judged


def test_a_deviation_has_a_story_and_a_small_capture(subtests: pytest.Subtests) -> None:
    for deviation in DEVIATIONS:
        with subtests.test(deviation.id):
            assert f"### {deviation.id}\n" in FINDINGS.read_text()
            records = list(read(FINDINGS.parent / "findings" / f"{deviation.id}.pcapng"))
            assert 1 <= len(records) <= FEW_FRAMES


def test_no_story_is_left_over() -> None:
    told = {line[4:] for line in FINDINGS.read_text().splitlines() if line.startswith("### ")}
    assert told == {deviation.id for deviation in DEVIATIONS}


def test_a_deviation_holds_for_its_kernels_only() -> None:
    known = one(kernels="6.1", cases=["^a_case"])
    assert known.covers("a_case[RC]", "6.1.0-56-amd64")
    assert not known.covers("a_case[RC]", "6.12.3")
    assert not known.covers("another_case", "6.1.0")


def test_what_is_declared_for_a_kernel_is_tested_on_that_kernel_only() -> None:
    for release in ("6.1.0-56-amd64", "6.12.117+deb12-amd64"):
        needs_judged_kernel(release)
    with pytest.raises(pytest.skip.Exception, match=r"judged is .* 6\.1.*; this is 5\.10"):
        needs_judged_kernel("5.10.0")
    with pytest.raises(pytest.skip.Exception, match=r"judged is .* 6\.1; this is 6\.12"):
        needs_judged_kernel("6.12.117", judged=["6.1"])


RANGES = {
    "6.1": (["6.1.0-56-amd64", "6.1"], ["6.12.3", "6.0", "5.10", ""]),
    "6.1-6.12": (["6.1.0-56-amd64", "6.6.1", "6.12.117+deb12-amd64"], ["6.13", "6.0.9", "7.1"]),
    "6.12-": (["6.12.1", "7.3.4+deb13-amd64"], ["6.1.0-56-amd64", "6.11.9"]),
    "6.12.100-": (["6.12.117", "6.13"], ["6.12.99", "6.12"]),
}


@pytest.mark.parametrize("text", RANGES)
def test_a_range_of_kernels(text: str) -> None:
    versions = Versions.read(text)
    assert versions is not None
    within, without = RANGES[text]
    assert [each for each in within if each not in versions] == []
    assert [each for each in without if each in versions] == []


@pytest.mark.parametrize("text", ["all", "6.12-6.1", "-6.1", "6.x", ""])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(DeviationError, match=r"some-device: kernels = .* is no range"):
        one(kernels=text, cases=["^a_case"])


def test_what_a_case_shows_by_chance_breaks_no_rule_but_those_of_the_entry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = one(kernels="6.12-", cases=["^certain"], may=["^by_chance"])
    monkeypatch.setattr(deviations, "load_deviations", lambda: [known])
    here = ("rxe", "6.12.1")
    assert declared(here, "certain[1]") is known
    assert declared(here, "by_chance[1]") is None
    assert shown_by_chance(here, "by_chance[1]", ["RNR-06"]) is known
    assert shown_by_chance(here, "by_chance[1]", ["RNR-06", "PSN-02"]) is None
    assert shown_by_chance(here, "by_chance[1]", []) is None
    assert shown_by_chance(("rxe", "6.1.0"), "by_chance[1]", ["RNR-06"]) is None
    assert shown_by_chance(here, "another", ["RNR-06"]) is None


def one(**fields: object) -> Deviation:
    """The only entry of a table."""
    entry = {"target": "rxe", "rules": ["RNR-06"], "says": "it does otherwise"}
    lines = [f"{name} = {json.dumps(value)}" for name, value in {**entry, **fields}.items()]
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as table:
        table.write("[deviation.some-device]\n" + "\n".join(lines))
        table.flush()
        (deviation,) = load_deviations.__wrapped__(Path(table.name))
    return deviation


def test_an_entry_that_lacks_something_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "deviations.toml"
    table.write_text("[deviation.x]\n")
    with pytest.raises(DeviationError, match=r"deviations\.toml: x lacks 'target'"):
        load_deviations(table)
    table.write_text(
        '[deviation.x]\ntarget = "rxe"\nrules = ["NONE-1"]\ncases = []\n'
        'says = "s"\nkernels = "6.1"\n'
    )
    with pytest.raises(DeviationError, match="NONE-1 is no rule"):
        load_deviations(table)


def test_an_entry_is_of_the_target_of_its_table_unless_it_says_another(tmp_path: Path) -> None:
    rest = 'rules = []\ncases = []\nsays = "s"\nkernels = "6.1"\n'
    table = tmp_path / "deviations.toml"
    table.write_text(f'target = "rxe"\n[deviation.a]\n{rest}[deviation.b]\ntarget = "nic"\n{rest}')
    assert [each.target for each in load_deviations(table)] == ["rxe", "nic"]
