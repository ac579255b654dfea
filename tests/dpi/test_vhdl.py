# SPDX-License-Identifier: BSD-2-Clause
"""VHDL among the sources: what a manifest must say, and what GHDL makes of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from roceproof.dpi import BuildError, Manifest, ManifestError, load_manifest
from roceproof.dpi.compile.verilate import ToolError
from roceproof.dpi.compile.vhdl import verilog_sources

needs_ghdl = pytest.mark.skipif(not shutil.which("ghdl"), reason="ghdl is not installed")
MANIFEST = """\
schema = 2
name = "mine"
top = "wrapper"
sources = ["first.sv", "inner.vhd", "second.sv", "Outer.vhdl"]
vhdl_top = "Outer"
clock_ps = 6400
data_widths = [64]
[capabilities]
RC = ["WRITE"]
"""
INNER = """\
library ieee;
use ieee.std_logic_1164.all;
entity inner is port (byte : in std_logic; do : out std_logic); end entity;
architecture rtl of inner is begin
  do <= not byte;
end architecture;
"""
OUTER = """\
library ieee;
use ieee.std_logic_1164.all;
entity Outer is port (a : in std_logic; b : out std_logic); end entity;
architecture rtl of Outer is begin
  u : entity work.inner port map (byte => a, do => b);
end architecture;
"""
CASE = """\
library ieee;
use ieee.std_logic_1164.all;
entity inner is port (byte : in std_logic; do : out std_logic); end entity;
architecture rtl of inner is
  signal two : std_logic_vector(1 downto 0);
begin
  two <= byte & byte;
  process (two) begin
    case two is
      when "00" => do <= '1';
      when "01" => do <= '0';
      when "10" => do <= '1';
      when others => do <= '0';
    end case;
  end process;
end architecture;
"""
FAKE = """\
#!/bin/sh
echo 'module outer;'
echo '  always @*'
echo '    case (n)'
echo '    endcase'
echo 'endmodule'
"""
Write = Callable[..., Manifest]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str = MANIFEST, *, inner: str = INNER) -> Manifest:
        files = {"first.sv": "", "inner.vhd": inner, "second.sv": "", "Outer.vhdl": OUTER}
        for name, content in {**files, "dut.toml": text}.items():
            (tmp_path / name).write_text(content)
        return load_manifest(tmp_path / "dut.toml")

    return write


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('vhdl_top = "Outer"\n', "", "vhdl_top: missing; name the entity"),
        ('"inner.vhd", "second.sv", "Outer.vhdl"', '"second.sv"', "none of the sources is VHDL"),
        ('"Outer"', '"work.Outer"', "'work.Outer' is no identifier"),
        ("schema = 2", "schema = 1", "VHDL needs a manifest of schema 2"),
    ],
)
def test_a_manifest_says_which_entity_it_wants_of_its_vhdl(write: Write, old, new, told) -> None:
    with pytest.raises(ManifestError) as caught:
        write(MANIFEST.replace(old, new))
    assert told in str(caught.value)


@needs_ghdl
def test_all_vhdl_becomes_one_file_where_the_first_of_it_stood(write, tmp_path: Path) -> None:
    _, first, verilog, second = verilog_sources(write(), tmp_path / "build")
    assert (first.name, second.name) == ("first.sv", "second.sv")
    text = verilog.read_text()
    assert "module outer\n" in text.lower()
    # Names that are keywords of SystemVerilog, but none of Verilog.
    assert text.startswith('`begin_keywords "1364-2005"\n')


@needs_ghdl
def test_changed_vhdl_becomes_another_file(write, tmp_path: Path) -> None:
    before = verilog_sources(write(), tmp_path)
    again = verilog_sources(write(), tmp_path)
    after = verilog_sources(write(inner=INNER.replace("not byte", "byte")), tmp_path)
    assert before == again != after


@needs_ghdl
def test_what_is_no_vhdl_is_told_by_file_and_line(write, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"ghdl cannot synthesize Outer\n.*inner\.vhd:5:"):
        verilog_sources(write(inner=INNER.replace("not byte", "not bite")), tmp_path)


@needs_ghdl
def test_a_case_keeps_its_others_or_is_refused(write, tmp_path: Path) -> None:
    try:
        *_, verilog, _ = verilog_sources(write(inner=CASE), tmp_path)
    except BuildError as error:
        assert "install ghdl 3.0 or later" in str(error)
    else:
        assert "default:" in verilog.read_text()


def test_a_ghdl_that_drops_others_is_refused(write, tmp_path: Path, monkeypatch) -> None:
    fake = tmp_path / "bin" / "ghdl"
    fake.parent.mkdir()
    fake.write_text(FAKE)
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    with pytest.raises(BuildError, match="without their others branch"):
        verilog_sources(write(inner="-- of this test alone"), tmp_path)


def test_without_ghdl_one_line_says_what_to_install(write, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("roceproof.dpi.compile.vhdl.GHDL", ("no-ghdl-here",))
    with pytest.raises(ToolError, match="is not installed: apt-get install no-ghdl-here"):
        verilog_sources(write(inner="-- of this test, too"), tmp_path)
