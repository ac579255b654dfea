# SPDX-License-Identifier: BSD-2-Clause
"""A manifest or source that changes during a run is noticed, and a touch alone is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.dpi import load_manifest
from roceproof.dpi.manifest.snapshot import Snapshot

MANIFEST = """\
schema = 2
name = "mine"
top = "mine"
sources = ["core/*.sv"]
includes = ["."]
clock_ps = 6400
data_widths = [64]
[capabilities]
RC = ["WRITE"]
"""
MODULE = "module mine; endmodule\n"


@pytest.fixture
def dut(tmp_path: Path) -> Path:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "mine.sv").write_text('`include "more/all.svh"\n' + MODULE)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "all.svh").write_text('`include "one.svh"\n`include "more/all.svh"\n')
    (tmp_path / "one.svh").write_text("// one\n")
    (tmp_path / "gate.log").write_text("begun\n")
    (tmp_path / "dut.toml").write_text(MANIFEST)
    return tmp_path / "dut.toml"


CHANGES = {
    "manifest": ("dut.toml", MANIFEST.replace('"mine"', '"other"', 1)),
    "source": ("core/mine.sv", "module mine; wire x; endmodule\n"),
    "one more": ("core/more.sv", "module more; endmodule\n"),
    "same size": ("core/mine.sv", '`include "more/all.svh"\n' + MODULE.upper()),
    "included": ("more/all.svh", "// nothing"),
    "included by what is included": ("one.svh", "// two\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_ends_the_run_with_its_file(dut: Path, change: str) -> None:
    snapshot = Snapshot(load_manifest(dut))
    snapshot.must_hold()
    place, text = CHANGES[change]
    (dut.parent / place).write_text(text)
    named = "dut.toml" if change == "one more" else Path(place).name
    with pytest.raises(RoceproofError, match=rf"{named} has changed since the run began"):
        snapshot.must_hold()


def test_a_source_that_is_gone_has_changed(dut: Path) -> None:
    snapshot = Snapshot(load_manifest(dut))
    (dut.parent / "core" / "mine.sv").unlink()
    assert snapshot.changed() == dut.parent / "core" / "mine.sv"


def test_what_was_touched_or_written_alike_has_not_changed(dut: Path) -> None:
    snapshot = Snapshot(load_manifest(dut))
    os.utime(dut, (1, 1))
    source = dut.parent / "core" / "mine.sv"
    source.write_text(source.read_text())
    assert snapshot.changed() is None
    snapshot.must_hold()


def test_what_lies_beside_what_is_included_may_change(dut: Path) -> None:
    snapshot = Snapshot(load_manifest(dut))
    (dut.parent / "gate.log").write_text("begun\nended\n")
    snapshot.must_hold()
