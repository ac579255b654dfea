# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate of the endpoint that sends again what is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import assert_passes

from roceproof.common.paths import RECOVERY_DUT

pytestmark = pytest.mark.sim

DEVICE = ("--dut", str(RECOVERY_DUT))


@pytest.mark.whole
def test_it_passes_what_depends_on_repetition(tmp_path: Path) -> None:
    words = ["-k", "(requester_retransmission or requester_rnr) and not as_often"]
    assert_passes(tmp_path, *DEVICE, "--suite", "smoke", "--width", "64", *words, cases=15)


@pytest.mark.whole
@pytest.mark.long
def test_it_passes_the_full_suite_but_for_the_longest_random_plans(tmp_path: Path) -> None:
    words = ["--width", "64", "-k", "not much_that_nobody_has_thought_of"]
    assert_passes(tmp_path, *DEVICE, "--suite", "full", *words, cases=900)


@pytest.mark.slow
@pytest.mark.long
def test_it_passes_the_full_suite(tmp_path: Path) -> None:
    """The longest random plans wait half a minute each at 512 bits."""
    assert_passes(tmp_path, *DEVICE, "--suite", "full", cases=1900)
