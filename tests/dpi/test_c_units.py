# SPDX-License-Identifier: BSD-2-Clause
"""The bridge's C code under AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from roceproof.dpi.compile.verilate import BRIDGE, BRIDGE_C, C_FLAGS

UNITS = sorted((Path(__file__).parent / "c").glob("test_*.c"))
SANITIZE = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
COMPILE_SECONDS = 120
RUN_SECONDS = 60


def compiler() -> list[str]:
    return [*(("ccache",) if shutil.which("ccache") else ()), "cc"]


@pytest.fixture(scope="module")
def bridge_objects(tmp_path_factory) -> list[Path]:
    """Everything but the DPI shim, which needs a simulator's header."""
    directory = tmp_path_factory.mktemp("bridge")
    objects = []
    for source in BRIDGE_C:
        if source.stem != "bridge_dpi":
            objects.append(directory / f"{source.parent.name}_{source.stem}.o")
            compile_c(source, objects[-1], "-c")
    return objects


def compile_c(source: Path, target: Path, *words: str | Path) -> None:
    command = [*compiler(), *C_FLAGS, *SANITIZE, f"-I{BRIDGE}", source, *words, "-o", target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_unit_passes_under_the_sanitizers(unit, bridge_objects, tmp_path):
    program = tmp_path / unit.stem
    compile_c(unit, program, *bridge_objects, "-lcmocka", "-lpcap")
    done = subprocess.run([program], capture_output=True, text=True, timeout=RUN_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
