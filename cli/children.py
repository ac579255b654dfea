# SPDX-License-Identifier: BSD-2-Clause
"""Runs a tool to its end. When we are interrupted or it is late, it and its children end with us.

A compiler that is told to end removes its temporary files; one that is killed does not.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

END_SECONDS = 5.0


def run_to_end(
    command: Sequence[str | Path],
    *,
    timeout: float | None,
    stdout: int | IO[bytes] | None = subprocess.PIPE,
    stderr: int | None = subprocess.PIPE,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command that reads no input; what it printed is in the result where it was piped."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        text=True,
        process_group=0,
    ) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except BaseException:
            _end(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
