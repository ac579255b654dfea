# SPDX-License-Identifier: BSD-2-Clause
"""What docs/api.md declares public has docstrings, and nothing else has to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

BARE = "def bare() -> None:\n    return\n"


@pytest.mark.parametrize(
    ("file", "ends_with"), [("suite/case.py", 1), ("wire/layers.py", 1), ("suite/inner.py", 0)]
)
def test_only_public_files_owe_docstrings(tmp_path: Path, file: str, ends_with: int) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "api.md").write_text(
        ".. automodule:: roceproof.suite.case\n.. autoclass:: roceproof.wire.Layer\n"
    )
    for name in ("suite/case.py", "suite/inner.py", "wire/layers.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('"""Nothing to say."""\n' + (BARE if name == file else ""))
    ruff = Path(sys.executable).with_name("ruff")
    linted = subprocess.run(
        [REPOSITORY / "ci" / "lint_docstrings.sh", ruff], cwd=tmp_path, capture_output=True
    )
    assert linted.returncode == ends_with
    assert (b"D103" in linted.stdout) == bool(ends_with)
