# SPDX-License-Identifier: BSD-2-Clause
"""What docs/extending.md tells to type does what it promises, from its edits to its proof.

An edit is a block ```diff PATH: lines with a plus are new, with a minus gone, and those around them
say where; they have to be there exactly once. A file of which every line is new did not exist.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

PAGE = REPOSITORY / "docs" / "extending.md"
_EDIT = re.compile(r"^```diff (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROOF = re.compile(r"^Proof: (.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
_LINT_ROOMS = [sys.executable, "ci/lint_rooms.py"]
_COMMAND = """#!{0}/python -S
from roceproof.cli.entry import main
main()
"""


@dataclass(frozen=True)
class Recipe:
    title: str
    edits: tuple[tuple[str, str], ...]
    proofs: tuple[str, ...]

    def apply(self, tree: Path) -> None:
        for name, lines in self.edits:
            path = tree / name
            old, new = (
                "".join(line[1:] for line in lines.splitlines(keepends=True) if line[0] != sign)
                for sign in "+-"
            )
            text = path.read_text(encoding="utf-8") if old else ""
            assert path.exists() == bool(old), name
            assert not old or text.count(old) == 1, f"{name} does not have this once:\n{old}"
            path.write_text(text.replace(old, new) if old else new, encoding="utf-8")

    def prove(self, tree: Path) -> None:
        """Without site, which would lead to the tree that is installed."""
        path = os.pathsep.join([str(tree), sysconfig.get_path("purelib")])
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        python, command = tools_of(tree)
        for proof in self.proofs:
            tool, *words = shlex.split(proof.removeprefix(".venv/bin/"))
            start = {
                "pytest": [python, "-S", "-m", "pytest"],
                "python": [python, "-S"],
                "roceproof": [command],
            }[tool]
            run = subprocess.run(
                [*start, *words],
                cwd=tree,
                env=environment | {"PYTHONPATH": path, "ROCEPROOF_CACHE": str(tree / "cache")},
                capture_output=True,
                text=True,
                check=False,
            )
            assert run.returncode == 0, f"{proof}\n{run.stdout[-4000:]}{run.stderr[-2000:]}"


def tools_of(tree: Path) -> tuple[Path, Path]:
    """A Python and the command beside it, as tests look for it, that know of no other tree."""
    place = tree / ".venv" / "bin"
    if not place.exists():
        place.mkdir(parents=True)
        (place / "python").symlink_to(Path(sys.executable).resolve())
        (place / "roceproof").write_text(_COMMAND.format(place), encoding="utf-8")
        (place / "roceproof").chmod(0o755)
    return place / "python", place / "roceproof"


def recipes() -> list[Recipe]:
    """Those that have edits."""
    found = []
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        if edits := _EDIT.findall(section):
            words = " ".join(_PROOF.findall(section)).replace("\n", " ")
            proofs = tuple(re.findall(r"`([^`]+)`", words))
            found.append(Recipe(section.splitlines()[0], tuple(edits), proofs))
    return found


def copy_of_the_tree(place: Path) -> Path:
    """What git knows or would, without its history; links stay links."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    for name in filter(None, names):
        if os.path.lexists(REPOSITORY / name):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, place / name, follow_symlinks=False)
    return place


RECIPES = recipes()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return copy_of_the_tree(tmp_path)


def test_things_that_people_add_have_a_recipe() -> None:
    assert len(RECIPES) >= 6
    assert all(recipe.proofs for recipe in RECIPES)


def test_no_recipe_is_stale(tree: Path, subtests: pytest.Subtests) -> None:
    for recipe in RECIPES:  # one on top of the other
        with subtests.test(recipe.title):
            recipe.apply(tree)


def faults_in(tree: Path) -> str:
    """What the quick checks of `make lint` find in it."""
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    runs = [
        subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
        for words in ([*ruff, "check", "-q"], [*ruff, "format", "-q", "--diff"], _LINT_ROOMS)
    ]
    return "".join(run.stdout + run.stderr for run in runs if run.returncode)


def test_what_recipes_add_passes_the_lint(tree: Path) -> None:
    for recipe in RECIPES:
        recipe.apply(tree)
    assert faults_in(tree) == ""


def test_a_recipe_that_the_lint_refuses_fails(tree: Path) -> None:
    edits = [(f"cli/command_{number}.py", "+import os\n+x=1\n") for number in range(25)]
    Recipe("untidy", tuple(edits), ()).apply(tree)
    found = faults_in(tree)
    for told in ("F401", "+x = 1", "source files; give it rooms"):
        assert told in found


@pytest.mark.whole
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)
def test_a_recipe_works(recipe: Recipe, tree: Path) -> None:
    recipe.apply(tree)
    recipe.prove(tree)


def test_a_recipe_that_is_stale_fails(tree: Path) -> None:
    recipe = Recipe("gone", (("README.md", " no such line\n+another\n"),), ())
    with pytest.raises(AssertionError, match="does not have this once"):
        recipe.apply(tree)


def test_a_proof_that_finds_something_fails(tree: Path) -> None:
    unknown = Recipe("unknown", (), (".venv/bin/roceproof rules NO-99",))
    with pytest.raises(AssertionError, match="no such rule"):
        unknown.prove(tree)
