# SPDX-License-Identifier: BSD-2-Clause
"""The news of the next version become notes of the changelog, and those of this one are there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from roceproof import __version__
from roceproof.common.paths import REPOSITORY

NEWS = REPOSITORY / "ci" / "news"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def build(tree: Path, *words: str) -> str:
    """What towncrier makes of a folder's fragments."""
    command = [sys.executable, "-m", "towncrier", "build", "--version", "9.9.9", *words]
    run = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    return run.stdout


def test_fragments_become_notes_above_those_of_the_version_before(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(REPOSITORY / name, tmp_path)
    news = tmp_path / "ci" / "news"
    news.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (news / "+hats.added.md").write_text("Devices may wear hats.\n")
    (news / "+shoes.fixed.md").write_text("Shoes were lost.\n")
    build(tmp_path, "--keep", "--date", "2999-01-01")
    text = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    ours, _, before = text.partition(f"## [{__version__}]")
    assert before
    noted = ours.partition("## [9.9.9] - 2999-01-01")[2].split()
    words = "### Added - Devices may wear hats. ### Fixed - Shoes were lost."
    assert " ".join(noted) == words


def test_each_fragment_is_of_a_kind() -> None:
    kinds = "|".join(each["directory"] for each in PROJECT["tool"]["towncrier"]["type"])
    names = [path.name for path in NEWS.iterdir() if path.name != "README.md"]
    assert [name for name in names if not re.fullmatch(rf"\+[\w-]+\.({kinds})\.md", name)] == []


def test_the_version_is_the_newest_of_the_changelog() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(.*?)\] - \d{4}-\d\d-\d\d$", text, re.MULTILINE)
    assert versions[0] == __version__ == PROJECT["project"]["version"]
    assert "## [Unreleased]" not in text
