# SPDX-License-Identifier: BSD-2-Clause
"""What a netlist that Yosys has mapped holds, and its longest path, from the JSON of Yosys."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

# Kinds of cells by the beginning of their types: of Yosys itself, of Xilinx and of Lattice.
KINDS = {
    "LUT": ("$lut", "LUT", "CCU2C"),
    "flip-flop": ("$_DFF", "$_SDFF", "FD", "TRELLIS_FF"),
    "LUT RAM": ("RAM16", "RAM32", "RAM64", "RAM128", "RAM256", "RAM512", "SRL", "TRELLIS_DPR16X4"),
    "block RAM": ("RAMB", "DP16KD", "PDPW16KD"),
    "carry": ("CARRY",),
    "free": ("MUXF", "PFUMX", "L6MUX21", "INV", "VCC", "GND"),
}
LATTICE_CARRY = "CCU2C"  # two LUTs with the carry between them

Cell = dict[str, Any]
Arc = tuple[int, list[int], int]


@dataclass(frozen=True)
class Contents:
    """Cells of each kind, as far as they are counted."""

    luts: int
    flip_flops: int
    lut_ram: int
    block_ram: int


def kind_of(cell_type: str) -> str:
    """The kind of a cell; one that nobody has a place for is an error, not a zero."""
    for kind, beginnings in KINDS.items():
        if cell_type.startswith(beginnings):
            return kind
    raise ValueError(f"cell type {cell_type}: of no kind; add it to KINDS in {__file__}")


def contents(module: Cell) -> Contents:
    """How much of each kind a mapped module has."""
    counts: Counter[str] = Counter()
    for cell in module["cells"].values():
        counts[kind_of(cell["type"])] += 2 if cell["type"] == LATTICE_CARRY else 1
    return Contents(counts["LUT"], counts["flip-flop"], counts["LUT RAM"], counts["block RAM"])


def _arcs(cell: Cell) -> Iterator[Arc]:
    """Of each output bit that follows inputs without a clock: the bit, these inputs, its levels."""
    kind = kind_of(cell["type"])
    bits: dict[str, list[int]] = cell["connections"]
    inputs = {name: bits[name] for name, way in cell["port_directions"].items() if way == "input"}
    outputs = {name: bits[name] for name, way in cell["port_directions"].items() if way == "output"}
    for name, wires in outputs.items():
        for index, wire in enumerate(wires):
            if kind in ("LUT", "free"):
                sources = [source for port in inputs.values() for source in port]
                yield wire, sources, int(kind == "LUT")
            elif kind == "carry":
                # A bit of the chain hears those below it.
                sources = [source for port in inputs.values() for source in port[: index + 1]]
                yield wire, sources, 0
            elif kind == "LUT RAM" and "WCLK" in inputs:
                yield wire, _read_address(name, inputs), 1


def _read_address(output: str, inputs: dict[str, list[int]]) -> list[int]:
    """The address that an output of a distributed RAM is read at: DOx by ADDRx, DPO by DPRA."""
    if output.startswith("DO"):
        return inputs["ADDR" + output[2:]]
    beginning = "DPRA" if output == "DPO" else "A"
    return [bit for name, bits in inputs.items() if name.startswith(beginning) for bit in bits]


def longest_path(module: Cell) -> int:
    """The most LUTs in a row between registers, block RAMs and ports; asynchronous RAM is one."""
    arcs = {
        wire: (sources, levels)
        for cell in module["cells"].values()
        for wire, sources, levels in _arcs(cell)
    }
    order = TopologicalSorter(
        {wire: [bit for bit in sources if bit in arcs] for wire, (sources, _) in arcs.items()}
    )
    depth: dict[int, int] = {}
    for wire in order.static_order():
        sources, levels = arcs[wire]
        depth[wire] = levels + max((depth.get(bit, 0) for bit in sources), default=0)
    return max(depth.values(), default=0)
