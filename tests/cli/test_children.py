# SPDX-License-Identifier: BSD-2-Clause
"""Tools that we run end with us, and so does what they have started."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from roceproof.children import run_to_end


def test_a_late_tool_may_tidy_up_and_its_children_end(tmp_path: Path) -> None:
    script = (
        f"trap 'touch {tmp_path}/tidied; exit' TERM; sleep 600 & echo $! > {tmp_path}/pid; wait"
    )
    with pytest.raises(subprocess.TimeoutExpired):
        run_to_end(["sh", "-c", script], timeout=0.5)
    assert (tmp_path / "tidied").exists()
    child = Path("/proc", (tmp_path / "pid").read_text().strip())
    assert not child.exists() or "State:\tZ" in (child / "status").read_text()


def test_output_and_exit_code_come_back() -> None:
    done = run_to_end(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout=10)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 3)
