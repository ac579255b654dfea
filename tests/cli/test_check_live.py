# SPDX-License-Identifier: BSD-2-Clause
"""Live checks end with their report: after the time asked for, and on Ctrl-C."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from corrupted_captures import HEALTHY, middles, wrong_icrc

from roceproof.conformance.capture.reader import read

CLEAN, FINDINGS, UNREADABLE = 0, 1, 2
INSIDE = Path(__file__).parent / "live_inside.py"
NAMESPACE = ["unshare", "--user", "--map-root-user", "--net"]

pytestmark = pytest.mark.skipif(
    subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode != 0,
    reason="user namespaces do not work here",
)


def frame(number: int) -> bytes:
    return next(record.frame for record in read(HEALTHY) if record.number == number)


def check_live(console, data: bytes, ending: str, *options: str) -> subprocess.CompletedProcess:
    command = [console.command, "check", "-i", "lo", "--json", *options]
    return subprocess.run(
        [*NAMESPACE, sys.executable, INSIDE, data.hex(), ending, *command],
        env=console.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_live_check_reports_when_its_time_is_over(console) -> None:
    bad = wrong_icrc(frame(middles(HEALTHY)[0]))
    run = check_live(console, bad, "duration", "--duration", "1")
    assert run.returncode == FINDINGS, run.stderr
    document = json.loads(run.stdout)
    assert document["file"] == "lo"
    assert document["icrc"]["bad"] == document["roce_frames"] > 0
    assert document["rules"]["ICRC-02"] == document["roce_frames"]
    assert "capturing on lo" in run.stderr


def test_ctrl_c_ends_a_live_check_with_its_report(console) -> None:
    run = check_live(console, frame(middles(HEALTHY)[0]), "interrupt")
    assert run.returncode == CLEAN, run.stderr
    document = json.loads(run.stdout)
    assert document["icrc"]["bad"] == 0
    assert console.leftovers() == []


def test_an_interface_that_does_not_exist_is_named(console) -> None:
    run = console.run("check", "-i", "nosuchif0", "--duration", "1")
    assert (run.returncode, run.stdout) == (UNREADABLE, "")
    assert "nosuchif0" in run.stderr


def test_whoever_may_not_capture_is_told_which_program_needs_the_right(console) -> None:
    stripped = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"]
    run = subprocess.run(
        [*NAMESPACE, *stripped, console.command, "check", "-i", "lo", "--duration", "1"],
        env=console.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == UNREADABLE
    advice = run.stderr.strip().rpartition("sudo setcap cap_net_raw+ep ")[2]
    assert Path(advice).is_file() and Path(advice).name == "roce-check"
