# SPDX-License-Identifier: BSD-2-Clause
"""What is said while something takes long: a clock on a terminal, lines in a log."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pseudo_terminal import shown_on_terminal

JOB = """
import time
from roceproof.common.progress import Progress
with Progress(quiet={quiet}) as progress:
    progress.step("a [bold] step")
    time.sleep(1.2)
    with progress.bar("counting", total=2, unit="things") as bar:
        bar.advance()
        bar.advance()
    progress.problem("it broke")
"""


def said_to_a_log(*, quiet: bool) -> str:
    job = JOB.format(quiet=quiet)
    return subprocess.run(
        [sys.executable, "-c", job], capture_output=True, text=True, check=True
    ).stderr


def said_to_a_terminal(*, quiet: bool) -> str:
    command = [sys.executable, "-c", JOB.format(quiet=quiet)]
    return shown_on_terminal(command, env=os.environ, streams=["stderr"])


def test_a_log_holds_one_line_per_step() -> None:
    lines = [line.split(" s  ")[1] for line in said_to_a_log(quiet=False).splitlines()]
    assert lines == ["a [bold] step", "counting (2 things)", "it broke"]


def test_a_clock_runs_on_a_terminal() -> None:
    said = said_to_a_terminal(quiet=False)
    assert "0:00:01" in said
    assert "2/2" in said


@pytest.mark.parametrize("place", [said_to_a_log, said_to_a_terminal])
def test_quiet_keeps_problems_only(place) -> None:
    assert place(quiet=True).split() == ["it", "broke"]


LONG_JOB = """
import threading, time
from roceproof.common import heartbeat
from roceproof.common.progress import Progress

heartbeat.BEAT_SECONDS = 0.02
said = threading.Semaphore(0)
unheard = Progress._print

def heard(self, text):
    unheard(self, text)
    said.release()

def hear(lines):
    for _ in range(lines):
        assert said.acquire(timeout=60)

Progress._print = heard
with Progress(quiet=False) as progress:
    progress.step("resting")
    hear(3)
    with progress.bar("counting", total=2, unit="things") as bar:
        bar.advance()
        hear(9)
"""


def test_a_log_hears_of_long_work_every_so_often() -> None:
    run = subprocess.run(
        [sys.executable, "-c", LONG_JOB], capture_output=True, text=True, check=True
    )
    lines = [line.split(" s  ")[1] for line in run.stderr.splitlines()]
    assert lines[:3] == ["resting", "still resting", "still resting"]
    assert "counting (2 things)" in lines
    assert lines[-1] == "counting: 1 of 2 things"


def test_quiet_work_says_nothing_however_long() -> None:
    job = LONG_JOB.replace("quiet=False", "quiet=True").replace(
        "said.acquire(timeout=60)", "time.sleep(0.02) is None"
    )
    run = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, check=True)
    assert run.stderr == ""
