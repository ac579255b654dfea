# SPDX-License-Identifier: BSD-2-Clause
"""Declared deviations: each names cases that exist, has its story and its capture."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged_kernel import needs_judged_kernel

from roceproof.conformance.capture.reader import read
from roceproof.conformance.runner.coverage import coverage_of
from roceproof.conformance.suite.deviations import Deviation, DeviationError, load_deviations

ROOT = Path(__file__).resolve().parents[2]
FINDINGS = ROOT / "docs" / "findings.md"
DEVIATIONS = load_deviations()
FEW_FRAMES = 1000


@pytest.fixture(scope="module")
def cases() -> set[str]:
    (entries,) = coverage_of(["rxe"]).values()
    return {case for entry in entries.values() for case in entry.cases}


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda d: d.id)
def test_a_deviation_names_cases_that_run(deviation: Deviation, cases: set[str]) -> None:
    assert any(deviation.covers(case, deviation.kernels) for case in cases)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda d: d.id)
def test_a_deviation_has_a_story_and_a_small_capture(deviation: Deviation) -> None:
    assert f"### {deviation.id}\n" in FINDINGS.read_text()
    records = list(read(FINDINGS.parent / "findings" / f"{deviation.id}.pcapng"))
    assert 1 <= len(records) <= FEW_FRAMES


def test_no_story_is_left_over() -> None:
    told = {line[4:] for line in FINDINGS.read_text().splitlines() if line.startswith("### ")}
    assert told == {deviation.id for deviation in DEVIATIONS}


def test_a_deviation_holds_for_its_kernels_only() -> None:
    deviation = DEVIATIONS[0]
    known = Deviation(**{**vars(deviation), "cases": ("^a_case",), "kernels": "6.1"})
    assert known.covers("a_case[RC]", "6.1.0-56-amd64")
    assert not known.covers("a_case[RC]", "6.12.3")
    assert not known.covers("another_case", "6.1.0")


def test_what_is_declared_for_a_kernel_is_tested_on_that_kernel_only() -> None:
    needs_judged_kernel("6.1.0-56-amd64")
    with pytest.raises(pytest.skip.Exception, match=r"recorded with .* 6\.1.*; this is 5\.10"):
        needs_judged_kernel("5.10.0")


def test_an_entry_that_lacks_something_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "deviations.toml"
    table.write_text('[[deviation]]\nid = "x"\n')
    with pytest.raises(DeviationError, match="lacks 'target'"):
        load_deviations(table)
    table.write_text(
        '[[deviation]]\nid = "x"\ntarget = "rxe"\nrules = ["NONE-1"]\ncases = []\n'
        'says = "s"\nkernels = "6.1"\n'
    )
    with pytest.raises(DeviationError, match="NONE-1 is no rule"):
        load_deviations(table)
