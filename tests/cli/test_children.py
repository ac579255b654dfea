# SPDX-License-Identifier: BSD-2-Clause
"""Tools that we run end with us, and so does what they have started."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from roceproof.common import children
from roceproof.common.children import run_to_end
from roceproof.common.interruption import SIGNALS, raise_interruptions


def test_a_late_tool_may_tidy_up_and_its_children_end(tmp_path: Path) -> None:
    script = (
        f"trap 'touch {tmp_path}/tidied; exit' TERM; sleep 600 & echo $! > {tmp_path}/pid; wait"
    )
    with pytest.raises(subprocess.TimeoutExpired):
        run_to_end(["sh", "-c", script], timeout=0.5)
    assert (tmp_path / "tidied").exists()
    child = Path("/proc", (tmp_path / "pid").read_text().strip())
    assert not child.exists() or "State:\tZ" in (child / "status").read_text()


def test_the_dead_that_nobody_waits_for_are_not_waited_for(monkeypatch) -> None:
    subreaper = 36  # of prctl: orphans become our children, and we leave them
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(subreaper, 1, 0, 0, 0) == 0
    monkeypatch.setattr(children, "END_SECONDS", 60.0)
    began = time.monotonic()
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            run_to_end(["sh", "-c", "sleep 600 & wait"], timeout=0.2)
    finally:
        prctl(subreaper, 0, 0, 0, 0)
    assert time.monotonic() - began < children.END_SECONDS / 2


def test_output_and_exit_code_come_back() -> None:
    done = run_to_end(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout=10)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 3)


def test_an_interruption_while_a_child_starts_waits_until_it_can_be_ended(monkeypatch) -> None:
    started: list[subprocess.Popen[str]] = []
    real = subprocess.Popen

    def interrupted_start(*arguments, **options):
        process = real(*arguments, **options)
        started.append(process)
        os.kill(os.getpid(), signal.SIGINT)
        return process

    before = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)}
    monkeypatch.setattr(subprocess, "Popen", interrupted_start)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    try:
        raise_interruptions()
        with pytest.raises(KeyboardInterrupt):
            run_to_end(["sleep", "60"], timeout=None)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert started[0].poll() is not None
