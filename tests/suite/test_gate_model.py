# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate: the reference model passes it, and no rule is left out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from gates import A_QUARTER_OF_PLANS, WITHOUT_LONG, assert_passes
from own_cases import COMMAND

from roceproof.conformance.runner.rule_coverage import coverage_of, missing

pytestmark = pytest.mark.long


ON_RTL = "headers or icrc or ip_udp or lengths or psn or soak or sweep"


def test_the_reference_model_passes_what_of_smoke_our_rtl_does_not_play(tmp_path: Path) -> None:
    cases = f"not (requester and ({ON_RTL})) and {WITHOUT_LONG}"
    assert_passes(tmp_path, "--target", "model", "--suite", "smoke", "-k", cases, cases=100)


@pytest.mark.whole
def test_it_passes_the_full_suite(tmp_path: Path) -> None:
    words = ["--target", "model", "-k", A_QUARTER_OF_PLANS, "--suite", "full"]
    assert_passes(tmp_path, *words, cases=1200)


def test_no_must_rule_lacks_a_case() -> None:
    assert missing(coverage_of()) == []


@pytest.mark.slow  # the test before it, and test_rtl_coverage.py, stand for the command
def test_the_command_says_so() -> None:
    done = subprocess.run(
        [COMMAND, "rules", "--coverage", "--json"], capture_output=True, text=True, check=False
    )
    document = json.loads(done.stdout)
    assert document["missing"] == []
    assert done.returncode == 0
