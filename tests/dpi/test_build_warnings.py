# SPDX-License-Identifier: BSD-2-Clause
"""Warnings after which another circuit may be simulated are told, and an error unless accepted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from roceproof.dpi import BuildError, build_simulation
from roceproof.dpi.compile.verilate import meaningful_warnings
from roceproof.dpi.manifest.circuit import Circuit

LATCHES = """\
module latches (input logic a_i, input logic b_i, output logic c_o);
  always_comb if (a_i) c_o = b_i;
endmodule
"""
LOG = """\
%Warning-WIDTHTRUNC: a.sv:1:1: no matter
%Warning-COMBDLY: b.v:12:5: Non-blocking assignment '<=' in combinational logic process
        : ... This will be executed as a blocking assignment '='!
%Warning-COMBDLY: b.v:40:5: Non-blocking
%Warning-LATCH: c.sv:3:3: Latch inferred
"""


def test_each_kind_is_one_line_with_its_number_and_first_place() -> None:
    combinational, latch = meaningful_warnings(LOG)
    assert combinational.startswith("COMBDLY, 2 times, first: b.v:12:5: Non-blocking assignment")
    assert latch == "LATCH, 1 times, first: c.sv:3:3: Latch inferred"
    assert meaningful_warnings(LOG, {"COMBDLY"}) == [latch]


@pytest.mark.sim
def test_a_latch_is_an_error_that_says_how_to_accept_it(echo_manifest, tmp_path: Path) -> None:
    source = tmp_path / "latches.sv"
    source.write_text(LATCHES)
    echo = tmp_path / "echo.sv"
    text = echo_manifest.sources[-1].read_text()
    echo.write_text(
        text.replace("endmodule", "latches u(.a_i(clk_i), .b_i(1'b0), .c_o());\nendmodule")
    )
    manifest = replace(echo_manifest, sources=(*echo_manifest.sources[:-1], source, echo))

    circuit = Circuit(accepted_warnings=frozenset({"COMBDLY"}))
    with pytest.raises(BuildError) as caught:
        build_simulation(
            replace(manifest, circuit=circuit), data_width=64, ports=1, build_root=tmp_path
        )
    assert 'accept it with warnings = ["LATCH"] in the manifest' in str(caught.value)
    assert "LATCH, 1 times, first: " in str(caught.value)
