# SPDX-License-Identifier: BSD-2-Clause
"""make sees that its Python environment does not work, says so and makes it anew."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READY = ".venv/.ready"
SAID = "roceproof: .venv does not work here; making it anew\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What the environment's rule looks at, and an environment that is said to be ready."""
    for name in ("Makefile", "pyproject.toml", "ci", "cli"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / READY).touch()
    return tmp_path


def make(clone: Path, *, python: str) -> subprocess.CompletedProcess[str]:
    """Ask make what it would do."""
    (clone / ".venv" / "bin" / "python").symlink_to(python)
    command = ["make", "-n", READY]
    return subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True)


def test_one_that_works_stays(clone: Path) -> None:
    shutil.rmtree(clone / ".venv")
    (clone / ".venv").symlink_to(sys.prefix)
    done = subprocess.run(
        ["make", "-n", READY], cwd=clone, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert (clone / READY).exists()


@pytest.mark.parametrize("python", ["/nowhere/python3", "/bin/true", "/bin/false"])
def test_one_without_its_python_is_made_anew(clone: Path, python: str) -> None:
    done = make(clone, python=python)
    assert done.stderr == SAID
    assert "python3 -m venv --clear .venv" in done.stdout
    assert not (clone / ".venv").exists()


def test_one_of_a_folder_that_was_moved_is_made_anew(clone: Path) -> None:
    (clone / "cli").unlink()
    (clone / "cli").mkdir()
    (clone / "cli" / "entry.py").touch()
    done = make(clone, python=sys.executable)
    assert done.stderr == SAID
    assert not (clone / ".venv").exists()
