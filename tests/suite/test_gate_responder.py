# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate of responders: the endpoint that has one passes its cases at both widths."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from gates import A_QUARTER_OF_PLANS, ROOT, WITHOUT_LONG, assert_passes

from roceproof.conformance.mutants.rtl import RESPONDER_MUTANTS, load_mutants

pytestmark = pytest.mark.sim

DEVICE = ("--dut", str(ROOT / "rtl" / "responder.toml"))


SAMPLE = "psn or nak or ack or duplicates or memory or read or receives or states"


def test_the_responder_passes_smoke_without_what_is_long(tmp_path: Path) -> None:
    """Of the themes that others build on; `make test-whole` plays all."""
    cases = f"responder and ({SAMPLE}) and {WITHOUT_LONG}"
    words = ["--width", "512", "--suite", "smoke", "-k", cases]
    assert_passes(tmp_path, *DEVICE, *words, cases=250)


@pytest.mark.whole
@pytest.mark.long
def test_it_passes_the_full_suite_at_both_widths(tmp_path: Path) -> None:
    cases = f"responder and ({A_QUARTER_OF_PLANS})"
    assert_passes(tmp_path, *DEVICE, "-k", cases, "--suite", "full", cases=700)


@pytest.mark.slow
@pytest.mark.long
def test_the_first_fault_of_each_theme_is_found(tmp_path: Path) -> None:
    """`make mutants` finds all of them."""
    mutants = load_mutants(RESPONDER_MUTANTS).mutants
    firsts = {mutant.theme: f"responder:{mutant.id}" for mutant in reversed(mutants)}
    command = [sys.executable, "-m", "roceproof.conformance.matrix", "-q", "--brief"]
    done = subprocess.run(
        [*command, "--out", tmp_path, *firsts.values()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "part.json").read_text())["mutants"]
    assert sorted(row["id"] for row in rows) == sorted(firsts.values())
