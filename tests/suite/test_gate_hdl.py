# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate: the reference endpoint passes it at both widths."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import A_QUARTER_OF_PLANS, WITHOUT_LONG, assert_passes

pytestmark = [pytest.mark.sim, pytest.mark.long]


def test_the_reference_endpoint_passes_smoke_without_what_is_long(tmp_path: Path) -> None:
    words = ["--width", "64", "--suite", "smoke", "-k", WITHOUT_LONG]
    assert_passes(tmp_path, *words, cases=150)


def test_it_passes_at_512_bits_what_depends_on_the_width(tmp_path: Path) -> None:
    words = ["-k", "requester_lengths or requester_headers"]
    assert_passes(tmp_path, "--width", "512", "--suite", "smoke", *words, cases=20)


@pytest.mark.whole
def test_it_passes_the_full_suite_and_no_bin_is_left_empty(tmp_path: Path) -> None:
    words = ["-k", A_QUARTER_OF_PLANS, "--suite", "full", "--coverage"]
    assert_passes(tmp_path, *words, cases=700)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 22))
def test_another_seed_finds_nothing_either(seed: int, tmp_path: Path) -> None:
    assert_passes(tmp_path, "--suite", "smoke", "--seed", str(seed), cases=50)
