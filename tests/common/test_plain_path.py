# SPDX-License-Identifier: BSD-2-Clause
"""A folder that makefiles cannot build in is refused in one line, by make and by the commands."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REPOSITORY
from roceproof.common.plain_path import unbuildable
from roceproof.dpi.compile.verilate import Recipe, verilate

HOSTILE = [
    "a b",
    "it's",
    "50%",
    "$HOME",
    "#1",
    "x;y",
    "(old)",
    "a,b",
    "a=b",
    "a:b",
    "new\nline",
    "*",
]
FINE = ["plain", "a+b@c~d-e_f.g", "Prüfstand", "設計"]


def make_in(folder: Path) -> subprocess.CompletedProcess[str]:
    folder.mkdir()
    shutil.copy(REPOSITORY / "Makefile", folder)
    command = ["make", "--no-print-directory", "help"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_path_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    done = make_in(tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "move the clone" in done.stderr
    reason = unbuildable([tmp_path / name])
    assert reason is not None
    assert len(reason.splitlines()) == 1


@pytest.mark.parametrize("name", FINE)
def test_a_plain_path_is_taken(name: str, tmp_path: Path) -> None:
    assert make_in(tmp_path / name).returncode == 0
    assert unbuildable([tmp_path / name]) is None


def test_no_simulation_is_built_in_a_hostile_path(tmp_path: Path) -> None:
    recipe = Recipe(sources=(), parameters={"ClockPs": 1000}, dut="none")
    with pytest.raises(RoceproofError, match="makefiles cannot build with ' '"):
        verilate(recipe, tmp_path / "a b")
