# SPDX-License-Identifier: BSD-2-Clause
"""docs/tutorial.md leads where it says, and the first frame comes soon."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import time
import tomllib
from pathlib import Path

import pytest
from example_bench import COMMAND
from tutorial_steps import declare, fill, gap, steps

from roceproof.common.paths import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "telemetry"
NUMBER = re.compile(r"\d+")
FIRST_FRAME_SECONDS = 600
SECONDS_OF_A_LINE = 2
"""To copy it from the page into a file."""


def follow(place: Path, told: list[str]) -> float:
    """Do what the page says; the seconds until there is a capture."""
    began, written, first = time.monotonic(), 0, 0.0
    station = place / "station"
    for kind, text in steps():
        if kind == "sh":
            told.clear()
            for line in text.splitlines():
                run = subprocess.run(
                    [COMMAND, *shlex.split(line)[1:]],
                    cwd=place,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert run.returncode in (0, 1), run.stderr
                told.append(run.stdout)
        elif kind == "toml":
            declare(station / "dut.toml", text)
            written += text.count("\n")
        elif kind == "systemverilog":
            fill(station / "roceproof_wrapper.sv", text)
            written += text.count("\n")
        else:
            seen = NUMBER.sub("0", "".join(told))
            assert all(NUMBER.sub("0", line) in seen for line in text.splitlines()), seen
        if not first and list(place.glob("build/gate/*.pcapng")):
            first = time.monotonic() - began + SECONDS_OF_A_LINE * written
            print(f"the first frame after {time.monotonic() - began:.0f} s and {written} lines")
    return first


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("examples", "rtl"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    return tmp_path


@pytest.mark.slow  # test_telemetry.py tries the result, and the next test that it is the result
@pytest.mark.sim
@pytest.mark.rxe
@pytest.mark.skipif(not shutil.which("ghdl"), reason="ghdl is not installed")
def test_the_tutorial_leads_to_a_green_gate_and_to_a_frame_within_ten_minutes(
    place: Path,
) -> None:
    told: list[str] = []
    assert 0 < follow(place, told) < FIRST_FRAME_SECONDS
    assert "PASS station, 64 bit" in told[-1]


def test_what_the_tutorial_writes_is_the_example(place: Path) -> None:
    """Gap by gap, and what the manifest says of the core."""
    station = place / "station"
    subprocess.run([COMMAND, "new", "station", "--uc", "WRITE"], cwd=place, check=True)
    for kind, text in steps():
        if kind == "toml":
            declare(station / "dut.toml", text)
        elif kind == "systemverilog":
            fill(station / "roceproof_wrapper.sv", text)
    mine, whole = ((folder / "roceproof_wrapper.sv").read_text() for folder in (station, EXAMPLE))
    for number in range(1, 7):
        assert mine[slice(*gap(mine, number))] == whole[slice(*gap(whole, number))]
    made, kept = (tomllib.loads((folder / "dut.toml").read_text()) for folder in (station, EXAMPLE))
    made["limits"].pop("qps", None)
    for key in ("vhdl_top", "capabilities", "limits", "fixed", "waivers"):
        assert made[key] == kept[key]
    assert [re.sub(r".*/", "", name) for name in made["sources"]] == [
        re.sub(r".*/", "", name) for name in kept["sources"]
    ]
