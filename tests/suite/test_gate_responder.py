# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate of responders: the endpoint that has one passes its cases at both widths."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import ROOT, assert_passes

pytestmark = pytest.mark.sim

DEVICE = ("--dut", str(ROOT / "rtl" / "responder.toml"), "-k", "responder")


def test_the_responder_passes_smoke(tmp_path: Path) -> None:
    assert_passes(tmp_path, *DEVICE, "--width", "512", "--suite", "smoke", cases=15)


@pytest.mark.slow
@pytest.mark.long
def test_it_passes_the_full_suite_at_both_widths(tmp_path: Path) -> None:
    assert_passes(tmp_path, *DEVICE, "--suite", "full", cases=700)
