# SPDX-License-Identifier: BSD-2-Clause
"""The limit of 2^23 outstanding PSNs, which no simulation of whole frames can reach."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from module_bench import (
    BUILD_SECONDS,
    LIBRARIES,
    REPOSITORY,
    RTL,
    RUN_SECONDS,
    SHARED,
    packages,
)

TOP = "psn_window_tb"
PACKAGES = packages("roceproof_dut", "roce", "roce_tx")
WAIVERS = ["lint/packages.vlt", "lint/records.vlt", "lint/benches.vlt"]

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(
        shutil.which("verilator") is None,
        reason="verilator is not installed: run `make setup`",
    ),
]


def test_no_message_starts_beyond_2_to_the_23_outstanding_psns() -> None:
    directory = REPOSITORY / "build" / "rtl" / TOP
    directory.mkdir(parents=True, exist_ok=True)
    command = [
        "verilator",
        "--binary",
        "--timing",
        "--assert",
        "-Wall",
        "-CFLAGS",
        "-std=c++20 -O1",
    ]
    command += ["--top-module", TOP, "--Mdir", str(directory), *LIBRARIES]
    command += [*WAIVERS, *PACKAGES, f"test/{TOP}.sv", *SHARED]
    built = subprocess.run(
        command, cwd=RTL, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
    )
    assert built.returncode == 0, f"{' '.join(command)}\n{built.stdout}{built.stderr}"
    ran = subprocess.run(
        [directory / f"V{TOP}"], capture_output=True, text=True, timeout=RUN_SECONDS, check=False
    )
    assert ran.returncode == 0 and ran.stdout.startswith("PASS"), ran.stdout + ran.stderr
