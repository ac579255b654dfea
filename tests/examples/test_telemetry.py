# SPDX-License-Identifier: BSD-2-Clause
"""The example in VHDL passes the gate within its declared limits, by two waivers and no more."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from example_bench import COMMAND

from roceproof.common.paths import REPOSITORY

DUT = REPOSITORY / "examples" / "telemetry" / "dut.toml"


@pytest.mark.sim
@pytest.mark.skipif(not shutil.which("ghdl"), reason="ghdl is not installed")
def test_a_device_in_vhdl_passes_the_gate_within_its_limits(tmp_path: Path) -> None:
    words = [COMMAND, "gate", "--suite", "smoke", "--plans", "2", "--no-guest"]
    run = subprocess.run(
        [*words, "--out", tmp_path, DUT], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    verdict = json.loads((tmp_path / "gate.json").read_text())
    assert verdict["failures"] == []
    assert verdict["cases"]["passed"] > 10
    assert verdict["cases"]["waived"] > 0
    assert [waiver["rule"] for waiver in verdict["waivers"]] == ["IP-04", "LIVE-03"]
