# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate of the endpoint that sends VLAN tags."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import assert_passes

from roceproof.common.paths import VLAN_DUT

pytestmark = pytest.mark.sim

DEVICE = ("--dut", str(VLAN_DUT))


@pytest.mark.whole
def test_it_passes_what_depends_on_tags(tmp_path: Path) -> None:
    words = ["-k", "vlan or tag"]
    assert_passes(tmp_path, *DEVICE, "--suite", "full", "--width", "64", *words, cases=60)


@pytest.mark.slow
@pytest.mark.long
def test_it_passes_the_full_suite(tmp_path: Path) -> None:
    assert_passes(tmp_path, *DEVICE, "--suite", "full", cases=3000)
