# SPDX-License-Identifier: BSD-2-Clause
"""docs/neighbours.md is right about non-blocking assignments in combinational logic."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.dpi.compile.verilate import verilator_version

DOCUMENT = (REPOSITORY / "docs" / "neighbours.md").read_text(encoding="utf-8")
BENCH = """\
module bench;
  logic go = 0;
  logic [7:0] b = 0;
  wire [7:0] c;
  chain u_chain (.go, .b, .c);
  initial begin
    #1 go = 1; b = 10;
    #1 $display("c=%0d", c);
    $finish;
  end
endmodule
"""


def block(language: str) -> str:
    """The only block of a language that is shown as it stands."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    return found


def simulated(place: Path, source: str) -> tuple[str, str]:
    """What Verilator says of it, and what it makes of b = 10."""
    words = ["verilator", "--binary", "-Wno-fatal", "--top-module", "bench", "--Mdir", source[:-2]]
    built = subprocess.run(
        [*words, "bench.sv", source], cwd=place, capture_output=True, text=True, check=True
    )
    ran = subprocess.run(
        [place / source[:-2] / "Vbench"], capture_output=True, text=True, check=True
    )
    return built.stderr, ran.stdout.splitlines()[0]


@pytest.mark.slow  # tests/dpi/test_build_warnings.py refuses such a device in seconds
@pytest.mark.skipif(not shutil.which("yosys"), reason="yosys is not installed")
def test_yosys_mends_what_verilator_makes_another_circuit(tmp_path: Path) -> None:
    (tmp_path / "chain.v").write_text(block("verilog"))
    (tmp_path / "bench.sv").write_text(BENCH)
    told, value = simulated(tmp_path, "chain.v")
    assert "COMBDLY" in told
    assert value == "c=1" or "5.006" not in verilator_version()
    subprocess.run(shlex.split(block("console")), cwd=tmp_path, capture_output=True, check=True)
    told, value = simulated(tmp_path, "flat.v")
    assert "COMBDLY" not in told
    assert value == "c=12"
