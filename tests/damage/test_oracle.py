# SPDX-License-Identifier: BSD-2-Clause
"""A wire oracle that was damaged since it was linked, or an object of it, is built anew."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from damages import DAMAGES

from roceproof.conformance.check.build import CHECKSUMS, build_tool

IGNORED = shutil.ignore_patterns("checked", ".lock")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of a build, since others use the original."""
    return shutil.copytree(build_tool().parent, tmp_path / "pcap", ignore=IGNORED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "name"),
    [
        ("emptied", "roce-check"),
        ("not_executable", "roce-check"),
        ("flipped", "packet/packet.o"),
        ("cut", "libroceproof.a"),
        ("a_directory", "oracle/oracle.o"),
        ("garbage", CHECKSUMS),
    ],
)
def test_a_damaged_build_is_made_anew(
    damage: str, name: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    DAMAGES[damage](copy, copy / name)
    tool = build_tool.__wrapped__(copy)
    assert os.access(tool, os.X_OK)
    assert tool.stat().st_size == build_tool().stat().st_size
    said = f"roceproof: roce-check or an object of it in {copy} was damaged; building it anew\n"
    assert capsys.readouterr().err == said
    before = tool.stat().st_mtime_ns
    assert build_tool.__wrapped__(copy).stat().st_mtime_ns == before


@pytest.mark.slow
def test_a_build_whose_last_attempt_failed_is_made_anew_without_a_word(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (copy / CHECKSUMS).unlink()
    before = (copy / "packet" / "packet.o").stat().st_mtime_ns
    build_tool.__wrapped__(copy)
    assert (copy / "packet" / "packet.o").stat().st_mtime_ns > before
    assert capsys.readouterr().err == ""
