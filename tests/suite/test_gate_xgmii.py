# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate of the endpoint behind its MAC, whose wire is XGMII."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import A_QUARTER_OF_PLANS, assert_passes

from roceproof.common.paths import XGMII_DUT

pytestmark = pytest.mark.sim

DEVICE = ("--dut", str(XGMII_DUT))


def test_it_passes_what_depends_on_the_mac(tmp_path: Path) -> None:
    words = ["-k", "requester_pause or requester_link or no_timer_runs_while"]
    assert_passes(tmp_path, *DEVICE, "--suite", "smoke", *words, cases=20)


@pytest.mark.whole
@pytest.mark.long
def test_it_passes_the_full_suite(tmp_path: Path) -> None:
    assert_passes(tmp_path, *DEVICE, "-k", A_QUARTER_OF_PLANS, "--suite", "full", cases=700)
