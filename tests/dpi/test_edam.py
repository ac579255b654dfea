# SPDX-License-Identifier: BSD-2-Clause
"""Sources from FuseSoC and edalize: as they say, in their order, with what they depend on."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest

from roceproof.common.paths import REFERENCE_DUT, REPOSITORY
from roceproof.dpi import ManifestError, load_manifest
from roceproof.dpi.manifest.file_list import FileList

CORE = """\
CAPI=2:
name: a:b:mine:1.0
filesets:
  rtl:
    files:
      - rtl/a.sv
      - rtl/b.vhd: {file_type: vhdlSource-2008}
      - inc/x.svh: {is_include_file: true}
      - pins.xdc: {file_type: xdc}
    file_type: systemVerilogSource
    depend: [a:b:sub]
parameters:
  DEPTH: {datatype: int, default: 4, paramtype: vlogdefine}
  FAST: {datatype: bool, default: true, paramtype: vlogdefine}
  Width: {datatype: int, default: 8, paramtype: vlogparam}
targets:
  default:
    filesets: [rtl]
    toplevel: mine
    parameters: [DEPTH, FAST, Width]
"""
SUB = """\
CAPI=2:
name: a:b:sub:0
filesets: {rtl: {files: [s.v], file_type: verilogSource}}
targets: {default: {filesets: [rtl]}}
"""
EDAM = {
    "name": "mine",
    "files": [
        {"name": "rtl/b.vhd", "file_type": "vhdlSource-2008"},
        {"name": "rtl/a.sv", "file_type": "systemVerilogSource"},
        {"name": "inc/x.svh", "file_type": "verilogSource", "is_include_file": True},
        {"name": "pins.xdc", "file_type": "xdc"},
    ],
    "parameters": {"DEPTH": {"paramtype": "vlogdefine", "default": 4}},
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    files = {"mine.core": CORE, "sub/sub.core": SUB, "mine.eda.json": json.dumps(EDAM)}
    files |= dict.fromkeys(("rtl/a.sv", "rtl/b.vhd", "inc/x.svh", "sub/s.v", "pins.xdc"), "")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def read(home: Path, name: str) -> FileList:
    files = FileList()
    files.add(name, home)
    return files


def names(files: FileList, home: Path) -> list[str]:
    return [str(path.relative_to(home)) for path in files.sources]


def test_a_core_gives_what_it_depends_on_first(home: Path) -> None:
    files = read(home, "mine.core")
    assert names(files, home) == ["sub/s.v", "rtl/a.sv", "rtl/b.vhd"]
    assert files.includes == [home / "inc"]
    assert files.defines == {"DEPTH": "4", "FAST": ""}


def test_a_description_of_edalize_is_read_in_its_order(home: Path) -> None:
    files = read(home, "mine.eda.json")
    assert names(files, home) == ["rtl/b.vhd", "rtl/a.sv"]
    assert (files.includes, files.defines) == ([home / "inc"], {"DEPTH": "4"})


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("mine.core", CORE.replace("a:b:sub]", "a:b:gone]"), "depends on missing packages"),
        ("mine.core", "CAPI=2:\n- list\n", "no table of keys"),
        ("mine.eda.yml", "files: [", "while parsing"),
        ("mine.eda.yml", "files: {a: 1}", "files is no list"),
        ("mine.eda.yml", "files: [{name: c.sv, file_type: verilogSource}]", "does not exist"),
        (
            "mine.eda.yml",
            "files: [{name: rtl/b.vhd, file_type: vhdlSource, logical_name: ip}]",
            "of VHDL library 'ip'",
        ),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(home: Path, name: str, text, told) -> None:
    (home / name).write_text(text)
    with pytest.raises(ManifestError) as caught:
        read(home, name)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_fusesoc_one_line_says_what_to_install(home: Path, monkeypatch) -> None:
    monkeypatch.setattr("roceproof.dpi.manifest.edam._BESIDE_US", str(home))
    with pytest.raises(ManifestError, match=re.escape('pip install "roceproof[fusesoc]"')):
        read(home, "mine.core")


def test_our_own_lists_are_in_step_with_the_manifest_and_the_build() -> None:
    place = REPOSITORY / "ci" / "file_lists.py"
    spec = importlib.util.spec_from_file_location("file_lists", place)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for path, text in module.file_lists():
        assert path.read_text() == text, "run: .venv/bin/python ci/file_lists.py"


@pytest.mark.parametrize("name", ["rtl/endpoint.core", "rtl/endpoint.f"])
def test_other_tools_see_the_endpoint_as_its_manifest_does(name: str) -> None:
    assert tuple(read(REPOSITORY, name).sources) == load_manifest(REFERENCE_DUT).sources


def test_the_list_for_wrappers_has_all_that_receiving_needs() -> None:
    sources = read(REPOSITORY, "rtl/rx_path.f").sources
    words = ["verilator", "--lint-only", "--top-module", "rx_path"]
    done = subprocess.run([*words, *map(str, sources)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    needed = {path.name for path in sources}
    assert needed <= {path.name for path in load_manifest(REFERENCE_DUT).sources}


def test_the_list_of_the_bridge_stands_behind_the_endpoints() -> None:
    sources = read(REPOSITORY, "dpi/bridge.f").sources
    assert sources[0].name == "roceproof_dut_pkg.sv"
    assert sources[-1].name == "roceproof_top.sv"
