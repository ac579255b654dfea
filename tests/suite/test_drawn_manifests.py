# SPDX-License-Identifier: BSD-2-Clause
"""Whatever a device cannot do or choose: a right one passes what is left, and is asked no more.

The quick tests of test_within_limits.py stand for what these have found.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn_manifests import drawn_manifest
from gates import assert_passes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_the_model_passes_within_limits_drawn_at_random(seed: int, tmp_path: Path) -> None:
    manifest = tmp_path / "dut.toml"
    manifest.write_text(drawn_manifest(seed))
    words = ["--target", "model", "--dut", str(manifest), "--suite", "gate", "--seed", str(seed)]
    assert_passes(tmp_path / "out", *words, cases=50)
