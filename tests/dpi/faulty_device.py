# SPDX-License-Identifier: BSD-2-Clause
"""The smoke suite on a test device that is told by a plusarg what to do wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WITH_FAULT = """
import functools, sys
import pytest
from roceproof.conformance.runner.session.options import session_arguments
from roceproof.common.paths import CASES
from roceproof.conformance.targets.hdl.factory import HdlFactory
fault, dut, *options = sys.argv[1:]
HdlFactory.__init__ = functools.partialmethod(HdlFactory.__init__, plusargs=[fault])
options = ["--roce-dut", dut, "--roce-suite", "smoke", *options]
sys.exit(pytest.main([*session_arguments("hdl"), *options, str(CASES)]))
"""


def suite(dut: Path, plusarg: str, cases: str, folder: Path) -> int:
    """Run the cases of this expression, all if empty: the exit code; junit.xml is in the folder."""
    command = [sys.executable, "-c", WITH_FAULT, plusarg, str(dut), "--junitxml", "junit.xml"]
    done = subprocess.run(
        [*command, *(["-k", cases] if cases else [])],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode
