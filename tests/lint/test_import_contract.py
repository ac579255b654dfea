# SPDX-License-Identifier: BSD-2-Clause
"""The contract of imports holds, names every room, and is broken by an import that goes up."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

ROOMS = sorted(
    path.parent.relative_to(REPOSITORY)
    for pattern in ("*/__init__.py", "conformance/*/__init__.py")
    for path in REPOSITORY.glob(pattern)
    if path.parent.name not in ("roceproof", "conformance")
)


def lint(farm: Path) -> subprocess.CompletedProcess[str]:
    """Hold a tree of sources against the contract."""
    ignored = shutil.ignore_patterns("__pycache__", "src", "agent", "*.c", "*.h")
    shutil.copytree(REPOSITORY / "roceproof", farm / "roceproof", ignore=ignored)
    return held(farm)


def held(farm: Path) -> subprocess.CompletedProcess[str]:
    # Without site, so that the finder of the editable installation does not come before the copy;
    # the linter itself puts the current folder first.
    program = (sys.executable, "-S", Path(sys.executable).with_name("lint-imports"))
    packages = sysconfig.get_path("purelib")
    return subprocess.run(
        [*program, "--no-cache", "--config", REPOSITORY / ".importlinter"],
        cwd=farm,
        env={"PYTHONPATH": f"{farm}:{packages}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_room_has_a_place() -> None:
    layers = (REPOSITORY / ".importlinter").read_text(encoding="utf-8").split("ancestors")[0]
    placed = set(re.findall(r"roceproof\.([a-z_.]+)", layers))
    assert placed == {str(room).replace("/", ".") for room in ROOMS}


@pytest.mark.slow
def test_an_import_that_goes_up_is_named(tmp_path: Path) -> None:
    assert lint(tmp_path).returncode == 0
    for place, planted in (
        ("verbs/work.py", "roceproof.dpi.contract.records"),
        ("conformance/wire/opcodes.py", "roceproof.conformance.model.codes"),
        ("common/paths.py", "roceproof.cli.console.main"),
        ("conformance/model/requester/pacing.py", "roceproof.conformance.model.device"),
    ):
        file = tmp_path / "roceproof" / place
        healthy = file.read_text(encoding="utf-8")
        file.write_text(f"{healthy}\nimport {planted}\n", encoding="utf-8")
        broken = held(tmp_path)
        assert broken.returncode == 1
        assert planted in broken.stdout or planted.rpartition(".")[0] in broken.stdout
        file.write_text(healthy, encoding="utf-8")


def test_every_room_is_told_of() -> None:
    text = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [str(room) for room in ROOMS if f"`{room}/`" not in text] == []
