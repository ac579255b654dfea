# SPDX-License-Identifier: BSD-2-Clause
"""Builds rtl/test/responder_tb.sv, and plays into it the scripts that are described there."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from module_bench import (
    BUILD_SECONDS,
    LIBRARIES,
    REPOSITORY,
    RTL,
    RUN_SECONDS,
    SHARED,
    packages,
)

from roceproof.common.lock import locked
from roceproof.dpi.contract.receive_records import ReceiveCompletion

TOP = "responder_tb"
PACKAGES = ["roceproof_dut", "roce", "roce_tx", "icrc", "crc32_matrix", "rx_header"]
PACKAGES += ["request", "responder"]
WAIVERS = ["packages", "headers", "records", "benches", "responder"]


def build_bench(width: int) -> Path:
    """Compile the bench at `width` bits and return the executable."""
    directory = REPOSITORY / "build" / "rtl" / f"{TOP}_{width}"
    command = ["verilator", "--binary", "--timing", "--assert", "-Wall", "-j", "2"]
    command += ["-CFLAGS", "-std=c++20 -O1", f"-GDataWidth={width}", "--top-module", TOP]
    command += ["--Mdir", str(directory), *LIBRARIES, "-y", "test"]
    command += [f"lint/{name}.vlt" for name in WAIVERS]
    command += [*packages(*PACKAGES), f"test/{TOP}.sv", *SHARED]
    with locked(directory.with_suffix(".lock"), "builds the responder's bench"):
        directory.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            command, cwd=RTL, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
        )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return directory / f"V{TOP}"


@dataclass(frozen=True)
class Happened:
    """What the device did: all of it, in order, and by kind with its cycle."""

    frames: list[tuple[int, bytes]]
    completions: list[tuple[int, ReceiveCompletion]]
    writes: list[tuple[int, int, bytes]]
    reads: list[tuple[int, int, int]]
    told: list[int]  # when a configuration or a region was taken
    stalled: int  # cycles in which a frame had to wait


def play(binary: Path, steps: list[str], directory: Path, plusargs: dict[str, int]) -> Happened:
    """Simulate a script, and read what happened."""
    script, log = directory / "script.txt", directory / "log.txt"
    script.write_text("\n".join(steps) + "\n")
    args = [str(binary), f"+script={script}", f"+log={log}"]
    args += [f"+{name}={value}" for name, value in plusargs.items()]
    done = subprocess.run(args, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    reproduce = f"{done.stdout[:1500]}{done.stderr[-500:]}\nreproduce: {' '.join(args)}"
    assert done.returncode == 0 and "PASS" in done.stdout, reproduce
    happened = Happened([], [], [], [], [], 0)
    for line in log.read_text().splitlines():
        cycle, what, *rest = line.split()
        match what:
            case "T":
                happened.frames.append((int(cycle), bytes.fromhex(rest[0])))
            case "K":
                record = ReceiveCompletion.unpack(bytes.fromhex(rest[0]))
                happened.completions.append((int(cycle), record))
            case "X":
                data = bytes.fromhex(rest[1])
                happened.writes.append((int(cycle), int(rest[0], 16), data))
            case "L":
                happened.reads.append((int(cycle), int(rest[0], 16), int(rest[1])))
            case "H":
                happened.told.append(int(cycle))
            case "S":
                happened = replace(happened, stalled=int(rest[0]))
    return happened
