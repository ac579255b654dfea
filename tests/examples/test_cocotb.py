# SPDX-License-Identifier: BSD-2-Clause
"""A testbench of cocotb imports wire layers, model and checker, and hears of a fault from them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

EXAMPLES = REPOSITORY / "examples"


def run(examples: Path, build: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, examples / "cocotb" / "run.py", build]
    # Its runner does otherwise inside pytest.
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return subprocess.run(words, capture_output=True, text=True, check=False, env=env)


@pytest.mark.slow  # the quick tests of uc_writer, and of all that it imports, stand for it
@pytest.mark.sim
def test_the_cores_frames_pass_and_a_wrong_tag_is_named_by_its_rule(tmp_path: Path) -> None:
    healthy = run(EXAMPLES, tmp_path / "healthy")
    assert healthy.returncode == 0, healthy.stdout + healthy.stderr

    for name in ("cocotb", "uc_writer"):
        shutil.copytree(EXAMPLES / name, tmp_path / name)
    faulty = tmp_path / "uc_writer" / "core" / "ucw_icrc_mask.v"
    buggy = EXAMPLES / "uc_writer_buggy" / "core" / "ucw_icrc_mask.v"
    shutil.copy(buggy, faulty)
    found = run(tmp_path, tmp_path / "faulty")
    assert found.returncode == 1
    assert "ICRC-02" in found.stdout + found.stderr
