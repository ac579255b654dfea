# SPDX-License-Identifier: BSD-2-Clause
"""The patches for Scapy apply to the version that is installed, and mend what their tests show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import scapy

from roceproof.common.paths import REPOSITORY

PATCHES = sorted((REPOSITORY / "docs/upstream/other/scapy").glob("*.patch"))
JUDGED = "2.8.0"
CODE = Path("scapy/contrib/roce.py")
TESTS = Path("test/contrib/roce_headers.uts")
UTSCAPY_SECONDS = 120

pytestmark = pytest.mark.skipif(scapy.VERSION != JUDGED, reason=f"Scapy is not {JUDGED}")


def patched(tree: Path, patches: list[Path]) -> None:
    """Scapy's RoCE layer with line ends as in git, then these patches."""
    source = Path(scapy.__file__).parent / "contrib" / "roce.py"
    (tree / CODE).parent.mkdir(parents=True, exist_ok=True)
    (tree / CODE).write_bytes(source.read_bytes().replace(b"\r\n", b"\n"))
    for patch in patches:
        subprocess.run(["git", "apply", patch], cwd=tree, check=True)


def counts(tree: Path) -> tuple[int, int]:
    """Tests of the tree's roce_headers.uts that passed and failed."""
    command = [sys.executable, "-m", "scapy.tools.UTscapy", "-P", "load_contrib('roce')"]
    done = subprocess.run(
        [*command, "-t", TESTS, "-F", "-f", "text", "-N"],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        timeout=UTSCAPY_SECONDS,
        check=False,
    )
    told = re.search(r"PASSED=(\d+) FAILED=(\d+)", done.stdout + done.stderr)
    assert told, done.stderr
    return int(told[1]), int(told[2])


def test_they_apply_one_behind_the_other(tmp_path: Path) -> None:
    patched(tmp_path, PATCHES)
    compile((tmp_path / CODE).read_text(), CODE, "exec")
    assert len(re.findall("^= ", (tmp_path / TESTS).read_text(), re.MULTILINE)) == 17


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(PATCHES)), ids=[path.stem for path in PATCHES])
def test_a_patch_is_what_makes_its_tests_pass(place: int, tmp_path: Path) -> None:
    before, tree = tmp_path / "before", tmp_path / "after"
    patched(before, PATCHES[:place])
    shutil.copytree(Path(scapy.__file__).parent, tree / "scapy")
    patched(tree, PATCHES[: place + 1])
    passed, failed = counts(tree)
    assert passed and not failed
    shutil.copy(before / CODE, tree / CODE)
    assert counts(tree)[1] > 0
