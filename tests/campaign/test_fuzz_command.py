# SPDX-License-Identifier: BSD-2-Clause
"""`roceproof fuzz`: runs share a folder, go on behind any end, and tell what they have found."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from roceproof.cli.console.main import cli
from roceproof.conformance.campaign.folder import Folder, read_entry
from roceproof.conformance.stimulus.plan import Plan, Step

TOOL = Path(sys.executable).parent / "roceproof"
FAULTY = ("--target", "model", "--mutant", "ip-ttl-fixed")
SHORT = ("--minutes", "0.01", "-j", "1", "-q")


def fuzz(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [TOOL, "fuzz", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def told(*words: str | Path) -> tuple[int, str]:
    """Of a command that starts no process."""
    done = CliRunner().invoke(cli, ["fuzz", *map(str, words)])
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of a faulty device, whose entry says too much."""
    place = tmp_path_factory.mktemp("campaign")
    steps = (Step("connect", {"key": 0, "hop_limit": 7}), Step("wait", {"ns": 9}))
    Folder(place).keep(Plan(steps=steps))
    done = fuzz("run", place, *FAULTY, *SHORT)
    assert done.returncode == 1, done.stdout + done.stderr
    return place


def test_a_finding_is_told_with_the_command_that_repeats_it(campaign: Path) -> None:
    code, text = told("report", campaign)
    assert code == 1 and "def test_found_by_random_stimulus_" in text
    (replay,) = (line for line in text.splitlines() if line.startswith("replay: "))
    program, *words = shlex.split(replay.removeprefix("replay: "))
    ran = subprocess.run(
        [TOOL.with_name(program), *words], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1 and "accuses IP-06" in ran.stdout, ran.stdout + ran.stderr


def test_what_breaks_no_must_is_a_warning(campaign: Path, tmp_path: Path) -> None:
    shutil.copytree(campaign, place := tmp_path / "mild", symlinks=True)
    (path,) = (place / "findings").glob("*/finding.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"rules": ["RTX-09"]}))
    code, text = told("report", place)
    assert code == 0 and "; a warning: no must is broken\n" in text and "0 findings, 1 warn" in text


def test_runs_are_told(campaign: Path) -> None:
    code, text = told("status", campaign)
    assert code == 0 and text.startswith("run 1: the reference model with ip-ttl-fixed: ")
    assert text.splitlines()[0].endswith("; over")
    code, text = told("status", campaign, "--json")
    (run,) = json.loads(text)["runs"]
    (metrics, *_) = (campaign / "runs/0001.jsonl").read_text().splitlines()
    assert 0 < json.loads(metrics)["programs"] <= run["programs"]
    assert 'roceproof_fuzz_findings{run="1",' in (campaign / "runs/0001.prom").read_text()
    code, text = told("report", campaign, "--json")
    (finding,) = json.loads(text)["findings"]
    assert code == 1 and finding["programs"] == sum(run["found"].values())


def test_devices_that_share_a_folder_stand_side_by_side(campaign: Path, tmp_path: Path) -> None:
    both = tmp_path / "both"
    shutil.copytree(campaign, both)
    assert fuzz("run", both, "--target", "model", *SHORT).returncode == 0
    code, text = told("report", both)
    assert code == 1 and "  on the reference model with ip-ttl-fixed: " in text
    assert "  on the reference model: no programs\n" in text
    _, text = told("report", both, "--json")
    (finding,) = json.loads(text)["findings"]
    assert finding["devices"]["the reference model"] == 0 < finding["programs"]


def test_a_healthy_device_is_played_until_time_is_up(tmp_path: Path) -> None:
    done = fuzz("run", tmp_path, "--target", "model", *SHORT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 findings, " in done.stdout
    assert told("report", tmp_path) == (0, "0 findings\n")


def test_a_folder_without_a_campaign_is_refused(tmp_path: Path) -> None:
    for command in ("status", "report"):
        assert fuzz(command, tmp_path).returncode == 2


def test_an_entry_is_made_small_where_it_fails(tmp_path: Path) -> None:
    steps = (Step("connect", {"key": 0, "hop_limit": 7}), Step("wait", {"ns": 9}))
    entry, small = Folder(tmp_path).keep(Plan(steps=steps)), tmp_path / "small.plan"
    code, text = told("minimise", entry, *FAULTY, "-o", small, "-q")
    assert code == 1 and "ttl: want 7, got 0x40" in text
    assert read_entry(small).steps == steps[:1]
    code, text = told("minimise", small, "--target", "model", "-q")
    assert (code, text) == (0, f"{small} passes on the reference model\n")
    assert told("minimise", Path(__file__), "--target", "model", "-q")[0] != 0


@pytest.mark.slow
def test_what_is_killed_goes_on(tmp_path: Path) -> None:
    """The quick stand-in is `test_what_was_found_is_not_lost_while_it_is_made_small`."""
    command = [TOOL, "fuzz", "run", tmp_path, *FAULTY, "--minutes", "10", "-j", "1"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, process_group=0) as run:
        deadline = time.monotonic() + 240
        while not Folder(tmp_path).entries() and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGKILL)
    before = Folder(tmp_path).entries()
    done = fuzz("run", tmp_path, *FAULTY, *SHORT)
    assert done.returncode == 1 and before, done.stdout + done.stderr
    assert Folder(tmp_path).findings()
    assert [run["is_over"] for run in Folder(tmp_path).runs()] == [False, True]
