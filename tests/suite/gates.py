# SPDX-License-Identifier: BSD-2-Clause
"""Runs the suite as a gate does, and the commands that deal it to drawn devices."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from own_cases import COMMAND

from roceproof.common.children import run_to_end
from roceproof.conformance.runner.outcomes import WARNING

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
WITHOUT_LONG = (
    "not (addresses or meetings or power_on or random or side_by_side or storm or tables)"
)
"""Those few cases take half the time of smoke; the full suites of `make test-whole` play them."""
A_QUARTER_OF_PLANS = "not (much_that_nobody or many_requests_that) or " + " or ".join(
    f"{place}{part}]" for part in range(0, 24, 4) for place in ("bit-", "thought_of[")
)
"""They take the longer half of the full suites; `make test-full` plays all."""


def run(out: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """In one process: pytest-xdist has others for the second processor."""
    command = [COMMAND, "test", "--out", out, "--json", "-j1", *arguments]
    done = run_to_end(command, cwd=ROOT, timeout=4800)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def run_room(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of tests/suite, `python -m NAME`."""
    place = f"PYTHONPATH={ROOT / 'tests' / 'suite'}"
    return run_to_end(["env", place, sys.executable, "-m", name, *words], cwd=ROOT, timeout=3600)


def outcomes(document: dict[str, Any], outcome: str) -> list[dict[str, Any]]:
    return [case for case in document["cases"] if case["outcome"] == outcome]


def assert_passes(out: Path, *arguments: str, cases: int) -> None:
    """Nothing fails, and more cases than that pass."""
    code, document, told = run(out, *arguments)
    assert code == 0, told
    assert len(outcomes(document, "passed")) > cases
    assert [case for case in document["cases"] if WARNING in case] == []
