# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate of the endpoint that sends READs and atomics."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import assert_passes

from roceproof.common.paths import READS_DUT

pytestmark = pytest.mark.sim

DEVICE = ("--dut", str(READS_DUT))


@pytest.mark.whole
def test_it_passes_what_depends_on_reads(tmp_path: Path) -> None:
    words = ["-k", "requester_read or requester_crosses or requester_random"]
    assert_passes(tmp_path, *DEVICE, "--suite", "smoke", *words, cases=45)


@pytest.mark.slow
@pytest.mark.long
def test_it_passes_the_full_suite(tmp_path: Path) -> None:
    assert_passes(tmp_path, *DEVICE, "--suite", "full", cases=3000)
