# SPDX-License-Identifier: BSD-2-Clause
"""How a process of ours ends where nobody has thought of it: never as if a device had failed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

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
    needs = "import os, signal\nfrom roceproof.common.outcome import end_with"
    job = f"{needs}\ndef job():\n    {does}\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{job}    return 0\nend_with(job)"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert done.returncode == code, done.stderr
    assert done.stdout == ""


TOOLS = [
    path
    for path in sorted((REPOSITORY / "conformance").rglob("*.py"))
    if "\n@click.command(" in (text := path.read_text()) and '__name__ == "__main__"' in text
]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_tools_that_are_modules_end_as_the_command_does(tool: Path) -> None:
    assert tool.read_text().endswith('if __name__ == "__main__":\n    end_as(main)\n')


def test_such_a_tool_refuses_what_it_does_not_know() -> None:
    tool = [sys.executable, "-m", "roceproof.conformance.calibration", "--nonsense"]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such option" in done.stderr.lower()
    assert "--help" in done.stderr
