# SPDX-License-Identifier: BSD-2-Clause
"""How a process of ours ends where nobody has thought of it: never as if a device had failed."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

ENDS = {
    "raise AssertionError('ours')": 2,
    "raise RecursionError": 2,
    "raise KeyError('x')": 2,
    "os.kill(os.getpid(), signal.SIGTERM)": 128 + signal.SIGTERM,
    "os.kill(os.getpid(), signal.SIGINT)": 128 + signal.SIGINT,
    "os.kill(os.getpid(), signal.SIGHUP)": 128 + signal.SIGHUP,
    "raise KeyboardInterrupt": 128 + signal.SIGINT,
    "return 1": 1,
}


@pytest.mark.parametrize(("does", "code"), ENDS.items())
def test_only_findings_end_with_1(does: str, code: int) -> None:
    job = f"import os, signal\nfrom roceproof.outcome import end_with\ndef job():\n    {does}\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{job}    return 0\nend_with(job)"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
