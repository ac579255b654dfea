# SPDX-License-Identifier: BSD-2-Clause
"""What is built in OSS-Fuzz's form runs from where it was put, from its seeds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

FUZZ = Path(__file__).resolve().parents[2] / "fuzz"
ADDRESS = "-fsanitize=address"

pytestmark = pytest.mark.slow  # it needs clang, which `make fuzz` installs


def test_every_target_runs_from_its_seeds(tmp_path: Path) -> None:
    form = {
        "OUT": str(tmp_path / "out"),
        "CC": "clang",
        "CXX": "clang++",
        "CFLAGS": f"-O1 -g {ADDRESS},fuzzer-no-link",
        "CXXFLAGS": ADDRESS,
        "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer",
        "PYTHON": sys.executable,
    }
    subprocess.run([FUZZ / "oss_fuzz.sh"], env=os.environ | form, check=True)
    targets = {path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.c*")}
    programs = {path for path in (tmp_path / "out").iterdir() if os.access(path, os.X_OK)}
    assert {path.name for path in programs if path.is_file()} == targets
    for name in targets:
        program = tmp_path / "out" / name
        seeds = tmp_path / name
        with ZipFile(f"{program}_seed_corpus.zip") as archive:
            archive.extractall(seeds)
        assert len([path for path in seeds.rglob("*") if path.is_file()]) > 10
        done = subprocess.run([program, "-runs=100", seeds], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
        assert name == "xgmii" or f"libpcap.so.0.8 => {tmp_path / 'out' / 'lib'}" in libraries
