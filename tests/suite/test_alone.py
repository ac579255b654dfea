# SPDX-License-Identifier: BSD-2-Clause
"""What steers pytest, or Python, from outside leaves no case out and takes no assertion away."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_cases import Suite

FAILS = """
@case("PSN-02")
def test_right(bench):
    pass

@case("PSN-02")
def test_wrong(bench):
    assert bench.claims.qps < 0
"""


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("PYTEST_ADDOPTS", "--deselect=test_mine.py::test_wrong", 1),
        ("PYTEST_PLUGINS", "nonsense", 1),
        ("PYTHONOPTIMIZE", "1", 2),
    ],
)
def test_a_case_that_fails_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, code: int
) -> None:
    suite = Suite(tmp_path)
    suite.write(FAILS)
    monkeypatch.setenv(name, value)
    done = suite.run("--target", "model", "-j", "1")
    assert done.returncode == code, done.stdout + done.stderr
    if code == 2:
        assert "unset PYTHONOPTIMIZE" in done.stderr
    else:
        assert "1 passed, 1 failed" in done.stdout


def test_an_assertion_is_told_without_how_pytest_came_by_it(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write(FAILS)
    done = suite.run("--target", "model", "-j", "1")
    assert "bench.claims.qps < 0" in done.stdout
    assert "+  where" not in done.stdout and "; + where" not in done.stdout
