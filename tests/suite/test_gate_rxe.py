# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate: Soft-RoCE passes it but for its declared deviations."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import assert_passes
from judged_kernel import needs_judged_kernel

pytestmark = [pytest.mark.rxe, pytest.mark.long]

# Each half of a queue pair, recovery, and two files with declared deviations.
SAMPLE = "responder_nak or responder_rnr or requester_operations"


def test_soft_roce_passes_a_sample_but_for_its_declared_deviations(tmp_path: Path) -> None:
    needs_judged_kernel()
    assert_passes(tmp_path, "--target", "rxe", "-k", SAMPLE, cases=20)


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "cases"), [("smoke", 100), ("full", 400)])
def test_soft_roce_passes_the_suite_but_for_its_declared_deviations(
    suite: str, cases: int, tmp_path: Path
) -> None:
    needs_judged_kernel()
    assert_passes(tmp_path, "--target", "rxe", "--suite", suite, cases=cases)
