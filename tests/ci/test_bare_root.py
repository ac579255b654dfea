# SPDX-License-Identifier: BSD-2-Clause
"""What ci/bare_root.sh cannot do it says before it touches anything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

SCRIPT = REPOSITORY / "ci" / "bare_root.sh"


def bare_root(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*words], capture_output=True, text=True, timeout=60, env=os.environ | variables
    )


@pytest.mark.parametrize("words", [(), ("debian99",), ("--fresh",), ("--sideways", "debian13")])
def test_wrong_words_get_the_usage(words: tuple[str, ...], tmp_path: Path) -> None:
    done = bare_root(SCRIPT, *words, ROOTS=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "debian12|debian13|ubuntu24.04" in done.stderr
    assert not list(tmp_path.iterdir())


def test_it_needs_root(tmp_path: Path) -> None:
    as_nobody = ["unshare", "--user"] if os.geteuid() == 0 else []
    done = bare_root(*as_nobody, SCRIPT, "debian13", ROOTS=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "ci/bare_root.sh: debootstrap needs root; run: sudo ci/bare_root.sh debian13"
    ]
    assert not list(tmp_path.iterdir())


def test_a_root_is_removed_on_request(tmp_path: Path) -> None:
    as_root = [] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user"]
    (tmp_path / "debian13").mkdir()
    (tmp_path / "debian13.log").touch()
    done = bare_root(*as_root, SCRIPT, "--remove", "debian13", ROOTS=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())
