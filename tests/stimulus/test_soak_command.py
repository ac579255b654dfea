# SPDX-License-Identifier: BSD-2-Clause
"""`roceproof soak`: ends when time is up, tells what it found and what it did not reach."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from roceproof.common.exit_codes import Exit
from roceproof.conformance.regression.soak import verdict
from roceproof.conformance.runner.plan_player import PlanFinding
from roceproof.conformance.stimulus.plan import Plan

FOUND = PlanFinding(1, ("RNR-02",), "head", "text", "story", Plan(steps=()))
MILD = FOUND._replace(rules=("RTX-09",))
NAMELESS = FOUND._replace(rules=())
DECLARED = FOUND._replace(declared="rxe-late-rnr")


@pytest.mark.parametrize(
    ("findings", "broke", "ends"),
    [
        ([], [], Exit.FINE),
        ([], ["a plan"], Exit.UNUSABLE),
        ([DECLARED], [], Exit.FINE),
        ([MILD], [], Exit.FINE),
        ([MILD, FOUND], [], Exit.FINDINGS),
        ([NAMELESS], [], Exit.FINDINGS),
        ([DECLARED], ["a plan"], Exit.UNUSABLE),
        ([DECLARED, FOUND], ["a plan"], Exit.FINDINGS),
    ],
)
def test_what_is_declared_is_no_finding_and_what_broke_was_not_judged(
    findings: list[PlanFinding], broke: list[str], ends: Exit
) -> None:
    assert verdict({"a kind": findings} if findings else {}, broke=broke) is ends


def soak(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).parent / "roceproof"
    command = [str(tool), "soak", "--out", str(place), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.whole
def test_a_healthy_model_is_played_until_time_is_up(tmp_path: Path) -> None:
    done = soak(tmp_path, "--target", "model", "--minutes", "0.02", "-j", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 findings" in done.stdout and "empty: " in done.stdout
    assert json.loads((tmp_path / "coverage.json").read_text())["hits"]


@pytest.mark.sim
@pytest.mark.slow
def test_a_mutant_is_found_and_left_as_a_case(tmp_path: Path) -> None:
    words = ("--mutant", "psn-per-message", "--width", "64", "--minutes", "0.05", "-j", "1")
    done = soak(tmp_path, *words)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "def test_found_by_random_stimulus_" in next(tmp_path.glob("test_*.py")).read_text()


@pytest.mark.whole
def test_what_is_found_is_repeated_by_the_command_beside_it(tmp_path: Path) -> None:
    words = ("--target", "model", "--mutant", "ip-ttl-fixed", "--minutes", "0.01", "-j", "1")
    done = soak(tmp_path, *words)
    assert done.returncode == 1, done.stdout + done.stderr
    (replay,) = (line for line in done.stdout.splitlines() if line.startswith("replay: "))
    program, *again = shlex.split(replay.removeprefix("replay: "))
    tool = Path(sys.executable).with_name(program)
    ran = subprocess.run([tool, *again], capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "accuses IP-06" in ran.stdout


def test_a_device_needs_its_kind_of_target(tmp_path: Path) -> None:
    assert soak(tmp_path, "--target", "model", "--dut", "mine.toml").returncode == 2


@pytest.mark.sim
def test_an_interruption_leaves_no_log(tmp_path: Path) -> None:
    tool, scratch = Path(sys.executable).parent / "roceproof", tmp_path / "scratch"
    scratch.mkdir()
    with subprocess.Popen(
        [tool, "soak", "--out", tmp_path / "out", "--minutes", "10", "--width", "64", "-j", "1"],
        env={**os.environ, "TMPDIR": str(scratch)},
        stderr=subprocess.DEVNULL,
        process_group=0,
    ) as run:
        deadline = time.monotonic() + 240
        while not any(scratch.rglob("*.log")) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGINT)
        assert run.wait() == 130
    assert [*scratch.iterdir()] == []
