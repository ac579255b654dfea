# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate: a healthy device of another style passes it, its faulty copy does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import EXAMPLES, assert_passes, outcomes, run

pytestmark = pytest.mark.sim

# Where its faults are; the whole suite finds them again and again.
SAMPLE = ("-k", "requester_icrc or requester_psn or requester_lengths")


@pytest.mark.whole
def test_a_device_of_another_style_passes_what_it_claims(tmp_path: Path) -> None:
    dut = EXAMPLES / "uc_writer" / "dut.toml"
    assert_passes(tmp_path, "--dut", str(dut), "--suite", "full", cases=50)


@pytest.mark.parametrize(
    "part",
    [pytest.param(SAMPLE, id="sample"), pytest.param((), id="smoke", marks=pytest.mark.slow)],
)
def test_the_three_faults_of_its_copy_are_found_and_explained(
    part: tuple[str, ...], tmp_path: Path
) -> None:
    dut = EXAMPLES / "uc_writer_buggy" / "dut.toml"
    code, document, _ = run(tmp_path, "--dut", str(dut), "--suite", "smoke", *part)
    assert code == 1
    failed = outcomes(document, "failed")
    broken = {rule for case in failed for rule in case["broken"]}
    explained = {name for case in failed for name in case.get("explained", [])}
    assert {"ICRC-02", "PAD-01", "PSN-03"} <= broken
    assert {"S01", "P04"} <= explained
    told = [finding["sentence"] for finding in document["findings"]]
    assert len(told) == 3, told
