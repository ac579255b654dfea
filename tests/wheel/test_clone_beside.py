# SPDX-License-Identifier: BSD-2-Clause
"""Python started in the folder that holds the clone imports the package, not the clone's folder.

A folder `roceproof` in the current directory is a namespace package to Python where nothing else of
that name is found first.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

CASE = """
def test_it(request):
    import roceproof.cli.console.main
    assert roceproof.cli.console.main.cli.name == "cli"
    assert request.config.pluginmanager.hasplugin("roceproof")
"""


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    """A folder that holds the clone, called as everybody calls it."""
    (tmp_path / "roceproof").symlink_to(REPOSITORY)
    return tmp_path


def run(parent: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=parent, capture_output=True, text=True, timeout=120
    )


def test_a_command_line_and_a_script_import_the_package(parent: Path) -> None:
    words = "import roceproof.cli.console.main; print(roceproof.cli.console.main.__file__)"
    (parent / "script.py").write_text(words)
    for done in (run(parent, "-c", words), run(parent, "script.py")):
        assert done.returncode == 0, done.stderr
        assert Path(done.stdout.strip()).samefile(REPOSITORY / "cli" / "console" / "main.py")


def test_pytest_as_a_module_runs_cases_of_ones_own(parent: Path) -> None:
    (parent / "test_own.py").write_text(CASE)
    done = run(parent, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_own.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
