# SPDX-License-Identifier: BSD-2-Clause
"""Runs a tool to its end. When we are interrupted or it is late, it and its children end with us.

A compiler that is told to end removes its temporary files; one that is killed does not.
"""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from roceproof.common.interruption import interruptions_held

END_SECONDS = 3.0
POLL_SECONDS = 0.01


def told_status(status: int) -> str:
    """How a process has ended, in words."""
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def run_to_end(
    command: Sequence[str | Path],
    *,
    timeout: float | None,
    stdin: int = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = subprocess.PIPE,
    stderr: int | None = subprocess.PIPE,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command; what it printed is in the result where it was piped."""
    with ExitStack() as stack:
        process = None
        try:
            with interruptions_held():
                process = stack.enter_context(
                    subprocess.Popen(
                        command,
                        cwd=cwd,
                        stdin=stdin,
                        stdout=stdout,
                        stderr=stderr,
                        text=True,
                        process_group=0,
                    )
                )
            output, errors = process.communicate(timeout=timeout)
        except BaseException:
            if process is not None:
                _end(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _end(process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + END_SECONDS
    with suppress(ProcessLookupError):  # when the whole group has ended
        os.killpg(process.pid, signal.SIGTERM)
        while time.monotonic() < deadline:
            process.poll()
            if not _is_alive(process.pid):
                return
            time.sleep(POLL_SECONDS)
        os.killpg(process.pid, signal.SIGKILL)


def _is_alive(group: int) -> bool:
    """Whether any of the group runs. The dead count as gone, whenever they are waited for."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group, *_ = stat.read_text().rpartition(")")[2].split()
            if int(its_group) == group and state not in ("Z", "X"):
                return True
    return False
