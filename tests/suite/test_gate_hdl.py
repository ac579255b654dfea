# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate: the reference endpoint passes all of it, at both widths."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import assert_passes

pytestmark = [pytest.mark.sim, pytest.mark.long]


def test_the_reference_endpoint_passes_the_full_suite(tmp_path: Path) -> None:
    assert_passes(tmp_path, "--target", "hdl", "--suite", "full", cases=400)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 22))
def test_another_seed_finds_nothing_either(seed: int, tmp_path: Path) -> None:
    assert_passes(tmp_path, "--suite", "smoke", "--seed", str(seed), cases=50)
