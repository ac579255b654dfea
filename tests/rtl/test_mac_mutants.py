# SPDX-License-Identifier: BSD-2-Clause
"""Every fault of rtl/mutants/mac in the MAC itself fails one of its tests."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import test_mac_rtl
from mac_bench import build

from roceproof.conformance.mutants.rtl import MAC_MUTANTS, Mutant, load_mutants, mutants_in

pytestmark = [*test_mac_rtl.pytestmark, pytest.mark.slow]

OF_THE_BENCH = ("roceproof_mutant_pkg", "crc32_matrix_pkg", "xgmii_pkg", "crc32_word",
                "crc32_accumulate", "crc32_unwind", "ram_1r1w", "frame_padder", "fcs_engine",
                "frame_fifo", "xgmii_transmitter", "xgmii_receiver", "pause_sender",
                "pause_receiver", "transmit_gate", "mac_xgmii")  # fmt: skip


def calls() -> Iterator[Callable[..., None]]:
    """Those of the MAC, one by one, to be given a bench and a folder."""
    for name, test in inspect.getmembers(test_mac_rtl, inspect.isfunction):
        if name.startswith("test_"):
            rows: list[list[tuple[str, Any]]] = [
                [(mark.args[0], value) for value in mark.args[1]]
                for mark in getattr(test, "pytestmark", [])
            ]
            for values in itertools.product(*rows):
                yield partial(test, **dict(values))


def fails(bench: Path, folder: Path) -> bool:
    for call in calls():
        try:
            call(binary=bench, tmp_path=folder)
        except AssertionError:
            return True
    return False


def bench_of(binary: Path, mutant: Mutant | None, folder: Path) -> Path:
    script = folder / "bench"
    plusarg = f"+{mutant.plusarg}" if mutant else ""
    script.write_text(f'#!/bin/sh\nexec {binary} {plusarg} "$@"\n')
    script.chmod(0o755)
    return script


def test_every_fault_fails_a_test_and_without_one_none_does(tmp_path: Path) -> None:
    places = {path.stem: path for path in mutants_in(MAC_MUTANTS).sources}
    binary = build(*(places[name] for name in OF_THE_BENCH), name="mac_tb_mutants")
    assert not fails(bench_of(binary, None, tmp_path), tmp_path)
    faults = [
        mutant
        for mutant in load_mutants(MAC_MUTANTS).mutants
        if all(Path(edit.file).stem in OF_THE_BENCH for edit in mutant.edits)
    ]
    assert len(faults) > 25
    living = [
        mutant.id for mutant in faults if not fails(bench_of(binary, mutant, tmp_path), tmp_path)
    ]
    assert living == []
