# SPDX-License-Identifier: BSD-2-Clause
"""What `make synth` says of a netlist and of a report, and that its page keeps what it claims."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from roceproof.common.paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "bench"))
from netlist import Contents, contents, longest_path
from synthesis import DESIGNS, PAGE, Result, slowest, table


def cell(type_: str, ways: dict[str, str], **bits: list[int | str]) -> dict[str, Any]:
    return {"type": type_, "port_directions": ways, "connections": bits}


def lut(output: int, *inputs: int | str) -> dict[str, Any]:
    return cell("$lut", {"A": "input", "Y": "output"}, A=list(inputs), Y=[output])


def register(output: int, source: int) -> dict[str, Any]:
    return cell("$_DFF_P_", {"D": "input", "Q": "output"}, D=[source], Q=[output])


def module(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": {str(index): each for index, each in enumerate(cells)}}


def test_a_path_ends_at_a_register() -> None:
    through = [lut(10, 1, "0"), lut(11, 10), register(12, 11), lut(13, 12, 10)]
    assert longest_path(module(*through)) == 2
    assert longest_path(module(*through, lut(14, 13), lut(15, 14))) == 4


def test_a_carry_chain_costs_no_level_and_hears_what_is_below() -> None:
    ways = {"S": "input", "CI": "input", "O": "output"}
    # The upper bit is made of the lower one, which is no loop.
    chain = cell("CARRY4", ways, S=[10, 11], CI=["0"], O=[20, 21])
    assert longest_path(module(lut(10, 1), lut(11, 20), chain)) == 2


def test_a_distributed_ram_is_a_level_behind_its_read_address() -> None:
    ways = {"ADDRA": "input", "DIA": "input", "WCLK": "input", "DOA": "output"}
    ram = cell("RAM32M", ways, ADDRA=[10], DIA=[11], WCLK=[1], DOA=[20])
    assert longest_path(module(lut(10, 2), lut(9, 3), lut(11, 9), ram)) == 2


def test_a_loop_is_an_error() -> None:
    with pytest.raises(ValueError, match="cycle"):
        longest_path(module(lut(10, 11), lut(11, 10)))


def test_cells_are_counted_by_kind_and_none_is_overlooked() -> None:
    counted = contents(module(lut(1, 2), register(3, 1), cell("CCU2C", {}), cell("DP16KD", {})))
    assert (counted.luts, counted.flip_flops, counted.lut_ram, counted.block_ram) == (3, 1, 0, 1)
    with pytest.raises(ValueError, match="cell type ODD: of no kind"):
        contents(module(cell("ODD", {})))


def test_the_slowest_path_is_that_from_register_to_register() -> None:
    def path(begin: str, end: str, clock: str) -> dict[str, Any]:
        hops = [{"from": {"cell": begin}, "to": {"cell": "via"}}, {"from": {}, "to": {"cell": end}}]
        return {"from": clock, "to": "posedge clk", "path": hops}

    report = {
        "fmax": {"clk": {"achieved": 43.81}},
        "critical_paths": [path("pin", "q", "<async>"), path("a_q", "b_q", "posedge clk")],
    }
    assert slowest(report) == (43.8, ("a_q", "b_q"))


def test_the_page_has_all_designs_and_icrc_at_512_bits_takes_four_luts_in_a_row() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]
    wanted = [
        [each.module, str(each.parameters.get("DataWidth", "")), each.feature, flow]
        for each in DESIGNS
        for flow in each.flows
    ]
    assert [line[:4] for line in cells] == wanted
    (levels,) = (line[8] for line in cells if line[:4] == ["icrc_engine", "512", "", "generic"])
    assert int(levels) <= 4


def test_a_row_of_the_file_is_a_row_of_the_page() -> None:
    row = Result("m", None, "", "f", Contents(1, 2, 3, 4), mhz=5.5).row()
    assert {"contents", "lut_ram"} & {*row} == {"lut_ram"}
    assert table([row]).splitlines()[-1] == "| m |  |  | f | 1 | 2 | 3 | 4 |  | 5.5 |"


@pytest.mark.slow
def test_yosys_and_nextpnr_take_a_module_as_it_is() -> None:
    subprocess.run(["make", "synth", "ONLY=header_builder"], cwd=REPOSITORY, check=True)
