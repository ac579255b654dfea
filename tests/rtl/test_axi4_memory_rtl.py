# SPDX-License-Identifier: BSD-2-Clause
"""axi4_memory (rtl/helpers) between a random master and a memory that stalls.

The bench is built with faults of the helper woven in: without one it passes, with each it
fails. The master's own faults are what the checks of its bus are there for.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

import pytest
from module_bench import BUILD_SECONDS, REPOSITORY, RTL, RUN_SECONDS, SHARED

from roceproof.common.lock import locked
from roceproof.conformance.mutants.edits import Replacement
from roceproof.conformance.mutants.schemata import PACKAGE, metamutant

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(
        shutil.which("verilator") is None,
        reason="verilator is not installed: run `make setup`",
    ),
]

WIDTHS = [  # of the streams and of the bus
    (64, 64),
    pytest.param((512, 32), marks=pytest.mark.slow),
    pytest.param((8, 128), marks=pytest.mark.slow),
    pytest.param((64, 8), marks=pytest.mark.slow),
    pytest.param((512, 512), marks=pytest.mark.slow),
]
FULL = "+full"
HOLE = "run_addr != held_addr_q + held_count"
LEFT = "left <= count_t'(Lanes - 1)"
# File behind axi4_, place, what becomes of a part of it, what the bench says, and how it is run.
FAULTS = [
    ("write_order", "assign due             =", "done_q != '0", "1'b1", "before all is in memory"),
    ("write_order", "assign command_ready_o =", "in_q - out_q", "count_t'(0)", "FAIL"),
    ("write_order", "bid_o    <= head.id;", "head.id", "id_i", "another ID"),
    ("write_order", "if (bready_i) bvalid_o <= 1'b0;", "bready_i", "1'b1", "b_valid fell"),
    ("write_memory", ".wrote_i        (!held_empty)", "!held_empty", "1'b1", "a done of tag"),
    ("write_memory", "assign ends        =", HOLE, "1'b0", "FAIL"),
    ("write_memory", "assign ends        =", HOLE, "1'b1", "FAIL"),
    ("write_memory", "addr_q <= ((addr_q", "addr_q >> size_q", "addr_q >> 1'b0", "FAIL"),
    ("write_memory", "assign beat_last =", "rest == '0", "1'b1", "FAIL"),
    ("write_memory", "done_q <= beat_last ?", "done_q | run", "run", "FAIL"),
    ("write_memory", "before_q <= ends ?", "before_q + 32'(held_count)", "32'(held_count)", "FAIL"),
    ("write_memory", "if (mwc_ready_i) mwc_valid_o", "mwc_ready_i", "1'b1", "mwc_valid fell"),
    ("write_memory", "assign s_awready_o =", "burst_ends", "1'b0", "wlast is"),
    ("write_memory", "assign take       =", "!held_q || emit", "!held_q", "beats written in"),
    ("read_memory", "assign mrd_tready_o =", LEFT, "!give && left == '0", "beats written in"),
    ("read_memory", "return whole -", "8'(addr) & (whole - 8'd1)", "8'd0", "FAIL: a read of"),
    ("read_memory", "assign s_rlast_o    =", "burst.len", "burst.len + 8'd1", "RLAST"),
    ("read_memory", "assign mrd_tready_o =", LEFT, "1'b1", "FAIL"),
    ("read_memory", "assign s_rvalid_o   =", "count_q >= wanted", "1'b1", "FAIL"),
    ("read_memory", "assign lane         =", "burst.lane", "InWord", "is read at"),
    ("read_memory", "assign s_rid_o      =", "burst.id", "s_arid_i", "FAIL|r changed"),
    ("read_memory", "assign s_arready_o  =", "in_q - out_q", "index_t'(0)", "FAIL"),
    ("read_memory", "if (mrc_ready_i) mrc_valid_o", "mrc_ready_i", "1'b1", "mrc_valid fell"),
]
"""What the bus's master breaks, and what the check says of it."""
BROKEN = {
    "awvalid": "awvalid fell",
    "wvalid": "wvalid fell",
    "arvalid": "arvalid fell",
    "aw": "aw changed",
    "w": "w changed",
    "ar": "ar changed",
    "awburst": "awburst is 2",
    "arburst": "arburst is 2",
    "awsize": "wider than the bus",
    "arsize": "wider than the bus",
    "awlen": "more than 200 beats",
    "arlen": "more than 200 beats",
    "awpage": "aw crosses a boundary",
    "arpage": "ar crosses a boundary",
    "wstrb": "where the beat's lanes are",
    "wlast_early": "wlast is 1",
    "wlast_missing": "wlast is 0",
}


def statement(source: str, beginning: str) -> str:
    """What begins so, up to its end if that is not said."""
    at = source.index(beginning)
    return source[at : max(source.index(";", at), at + len(beginning))]


def woven(folder: Path) -> list[Path]:
    """The helper's sources with every fault in them, and the package that selects one."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{PACKAGE}.sv"]
    paths[0].write_text(
        f"package {PACKAGE};\n"
        "  function automatic int chosen();\n"
        '    if ($value$plusargs("fault_number=%d", chosen) == 0) chosen = 0;\n'
        "  endfunction\n"
        "  int selected = chosen();\n"
        "endpackage\n"
    )
    for path in sorted((RTL / "helpers").glob("axi4_*.sv")):
        text = path.read_text()
        name = path.stem.removeprefix("axi4_")
        edits = [
            (
                number,
                place,
                Replacement(
                    file=path.name, line=statement(text, place), expression=old, becomes=new
                ),
            )
            for number, (file, place, old, new, _) in enumerate(FAULTS, 1)
            if file == name
        ]
        paths.append(folder / path.name)
        paths[-1].write_text(metamutant(text, edits))
    return paths


@functools.cache
def build(widths: tuple[int, int]) -> Path:
    data_width, bus_width = widths
    directory = REPOSITORY / "build" / "rtl" / f"axi4_memory_tb_{data_width}_{bus_width}"
    with locked(directory.with_suffix(".lock"), "builds the bench of axi4_memory"):
        directory.mkdir(parents=True, exist_ok=True)
        package, *sources = map(str, woven(directory / "woven"))
        command = [
            "verilator",
            "--binary",
            "--timing",
            "--assert",
            "-Wall",
            "-Wno-WIDTH",
            "-j",
            "2",
        ]
        command += ["-CFLAGS", "-std=c++20 -O1", "--top-module", "axi4_memory_tb", "--Mdir"]
        command += [str(directory), f"-GDataWidth={data_width}", f"-GBusWidth={bus_width}"]
        command += [f"-GAddrWidth={64 if bus_width == data_width else 32}"]
        command += ["-y", "helpers", "-y", "test", "-y", "../dpi/sv"]
        command += [f"lint/{name}.vlt" for name in ("benches", "helpers", "packages")]
        command += ["roceproof_dut_pkg.sv", package, *sources, "test/axi4_memory_tb.sv", *SHARED]
        done = subprocess.run(
            command, cwd=RTL, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return directory / "Vaxi4_memory_tb"


@pytest.fixture(scope="module")
def bench() -> Path:
    return build((64, 64))


def run(binary: Path, *plusargs: str) -> str:
    done = subprocess.run(
        [str(binary), *plusargs], capture_output=True, text=True, timeout=RUN_SECONDS, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_what_a_master_writes_and_reads_is_what_memory_hears(widths: tuple[int, int]) -> None:
    binary = build(widths)
    for stall in (0, 30, 70):
        for seed in (1, 2, 3):
            said = run(binary, f"+stall={stall}", f"+verilator+seed+{seed}")
            assert "PASS" in said, f"stall {stall}, seed {seed}: {said}"


@pytest.mark.parametrize("widths", [(64, 64), pytest.param((512, 512), marks=pytest.mark.slow)])
def test_a_beat_moves_in_every_cycle(widths: tuple[int, int]) -> None:
    assert "PASS" in run(build(widths), FULL)


@pytest.mark.parametrize("number", range(1, len(FAULTS) + 1))
def test_a_fault_of_the_helper_is_seen(bench: Path, number: int) -> None:
    words = FAULTS[number - 1][-1].split("|")
    runs = [
        run(bench, f"+fault_number={number}", *options)
        for options in (["+stall=30"], ["+stall=0"], [FULL])
    ]
    assert any(word in said for said in runs for word in words), "\n".join(runs)


@pytest.mark.parametrize(("fault", "words"), BROKEN.items())
def test_a_master_that_breaks_a_rule_is_named(bench: Path, fault: str, words: str) -> None:
    said = run(bench, f"+fault={fault}", "+stall=50")
    assert words in said and "PASS" not in said, said
