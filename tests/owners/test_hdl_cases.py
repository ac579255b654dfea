# SPDX-License-Identifier: BSD-2-Clause
"""Cases for the owners of Verilator and GHDL: what comes on the version that is here."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

OTHER = REPOSITORY / "docs/upstream/other"
VERILATOR_CASES = sorted((OTHER / "verilator").glob("*.sv"))
BUILD_SECONDS = 240
MENDED = (5, 32)


def version_of(tool: str) -> tuple[int, ...]:
    done = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
    told = re.search(r"(\d+)\.(\d+)", done.stdout)
    return tuple(map(int, told.groups())) if told else ()


@pytest.mark.slow
@pytest.mark.sim
@pytest.mark.skipif(not shutil.which("verilator"), reason="verilator is not installed")
@pytest.mark.parametrize("case", VERILATOR_CASES, ids=lambda path: path.stem)
def test_a_case_of_verilator_deviates_where_it_is_told_to(case: Path, tmp_path: Path) -> None:
    version = version_of("verilator")
    if not version or (5, 6) < version < MENDED:
        pytest.skip("the ledger does not speak of this verilator")
    command = ["verilator", "--binary", "-Wno-fatal", "-CFLAGS", "-O0", "-o", "case"]
    built = subprocess.run(
        [*command, "--Mdir", tmp_path, "--top-module", case.stem, case],
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if case.stem == "two_packages" and version < MENDED:
        assert "internal fault" in built.stderr
        return
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([tmp_path / "case"], capture_output=True, text=True, check=True)
    assert ("as due" if version >= MENDED else "deviates") in ran.stdout


@pytest.mark.skipif(not shutil.which("ghdl"), reason="ghdl is not installed")
def test_ghdl_2_writes_a_case_without_its_others_branch(tmp_path: Path) -> None:
    done = subprocess.run(
        ["ghdl", "--synth", "--std=08", "--out=verilog", OTHER / "ghdl/sel.vhd", "-e", "sel"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "case" in done.stdout
    assert ("default:" in done.stdout) == (version_of("ghdl") >= (3, 0))
