# SPDX-License-Identifier: BSD-2-Clause
"""The documents' commands exist as written, and their links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from roceproof.cli.console.main import cli
from roceproof.common.paths import REPOSITORY

DOCUMENTS = sorted(
    path for place in ("*.md", "docs/*.md", "examples/*/*.md") for path in REPOSITORY.glob(place)
)
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
INSTALLERS = ("pipx", "uv", "uvx")
MADE = "build/dist"
LINK = re.compile(r"\]\((?!https?://)([^)#]+)[^)]*\)")


def commands_of(document: Path) -> list[str]:
    blocks = BLOCK.findall(document.read_text())
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def check_make(target: str) -> None:
    subprocess.run(["make", "-n", target], cwd=REPOSITORY, capture_output=True, check=True)


def check_pytest(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True, check=True
    )
    known = set(re.findall(r"--[a-z-]+", done.stdout))
    assert {word for word in words if word.startswith("--")} <= known


def check_installer(words: list[str]) -> None:
    # tests/wheel installs what make dist builds.
    assert MADE in (REPOSITORY / "ci" / "dist.sh").read_text()
    assert f"{MADE}/roceproof-*.whl" in words
    if words[0] == "uvx":
        check_roceproof(words[words.index("roceproof") + 1 :])


def check_roceproof(words: list[str]) -> None:
    command: click.Command | None = cli
    while words and isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))
    assert command is not None
    options = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options


@pytest.mark.parametrize("document", [*filter(commands_of, DOCUMENTS)], ids=lambda path: path.name)
def test_documented_commands_exist_as_written(document: Path, subtests: pytest.Subtests) -> None:
    for line in commands_of(document):
        with subtests.test(line):
            check_command(line)


def check_command(line: str) -> None:
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        check_make(words[1])
    elif words[0] == "pytest":
        check_pytest(words[1:])
    elif words[0] == "roceproof":
        check_roceproof(words[1:])
    elif words[0] in INSTALLERS:
        check_installer(words)
    else:
        # tests/cli/test_demo.py runs the tshark lines on a real capture.
        assert words[0] == "tshark", f"nothing tests this command: {line}"


def test_links_lead_to_files() -> None:
    links = [(each, target) for each in DOCUMENTS for target in LINK.findall(each.read_text())]
    assert [
        f"{document.name} links to {target}"
        for document, target in links
        if not (document.parent / target).exists()
    ] == []


def test_the_readme_stays_under_two_screens() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 100
