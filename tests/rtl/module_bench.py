# SPDX-License-Identifier: BSD-2-Clause
"""Runs the module benches of rtl/test: frames in, expected frames out, the bench compares."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.lock import locked
from roceproof.common.paths import REFERENCE_DUT
from roceproof.dpi.manifest.dut import load_manifest

REPOSITORY = Path(__file__).parents[2]
RTL = REPOSITORY / "rtl"
SOURCES = {path.stem: path for path in load_manifest(REFERENCE_DUT).sources}
LIBRARIES = [f"+incdir+{folder}" for folder in {path.parent: 0 for path in SOURCES.values()}]
WAIVERS = ["lint/packages.vlt", "lint/headers.vlt", "lint/responder.vlt", "lint/benches.vlt"]
BUILD_SECONDS = 300
# One C++ file, and what other benches compiled as well: a third of the processor time.
SHARED = ["-MAKEFLAGS", "VM_PARALLEL_BUILDS=0"]
SHARED += ["-MAKEFLAGS", "OBJCACHE=ccache"] if shutil.which("ccache") else []
RUN_SECONDS = 60


def packages(*names: str) -> list[str]:
    """The files of packages of the endpoint, named without their ending."""
    return [str(SOURCES[f"{name}_pkg"]) for name in names]


PACKAGES = packages("roceproof_dut", "roce", "crc32_matrix", "icrc", "rx_header", "request")


@dataclass(frozen=True)
class Played:
    """A frame to play; `sideband` goes with its first beat, `discard` is tuser at its end."""

    data: bytes
    sideband: int = 0
    discard: bool = False


def line(data: bytes) -> str:
    """Return a frame as the benches read it."""
    return f"{len(data)} {data.hex(' ')}\n"


@dataclass(frozen=True)
class Bench:
    """The compiled benches at one width."""

    binary: Path
    width: int
    directory: Path

    def run(
        self,
        *,
        play: dict[str, Iterable[Played]],
        expect: dict[str, Iterable[bytes]],
        gap: int = 0,
        stall: int = 0,
        stuck: str | None = None,
        frame_gap: int = 0,
        no_idle_output: bool = False,
    ) -> None:
        """Play frames and fail unless exactly the expected ones come out.

        The sink named by `stuck` never takes anything.
        """
        args = [str(self.binary), f"+gap={gap}", f"+stall={stall}", f"+frame_gap={frame_gap}"]
        files = {
            name: "".join(f"{f.sideband} {f.discard:d} {line(f.data)}" for f in frames)
            for name, frames in play.items()
        }
        files |= {name: "".join(map(line, frames)) for name, frames in expect.items()}
        for name, text in files.items():
            path = self.directory / f"{name}.txt"
            path.write_text(text)
            args.append(f"+{name}={path}")
        if stuck is not None:
            args.append(f"+{stuck}_stall=100")
        if no_idle_output:
            args.append("+no_idle_output")
        result = subprocess.run(
            args, capture_output=True, text=True, timeout=RUN_SECONDS, check=False
        )
        assert result.returncode == 0 and "PASS" in result.stdout, (
            f"{result.stdout[:1500]}{result.stderr[-500:]}\nreproduce: {' '.join(args)}"
        )


def build(width: int) -> Path:
    """Compile the benches at `width` bits and return the executable."""
    directory = REPOSITORY / "build" / "rtl" / f"icrc_rx_tb_{width}"
    command = ["verilator", "--binary", "--timing", "--assert", "-Wall", "-j", "2"]
    command += ["-CFLAGS", "-std=c++20 -O1", f"-GDataWidth={width}", "--top-module", "icrc_rx_tb"]
    command += ["--Mdir", str(directory), *LIBRARIES, "-y", "test", *WAIVERS, *PACKAGES]
    command += ["test/icrc_rx_tb.sv", *SHARED]
    with locked(directory.with_suffix(".lock"), "builds the module benches"):
        directory.mkdir(parents=True, exist_ok=True)
        result = subprocess.run(
            command, cwd=RTL, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
        )
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
    return directory / "Vicrc_rx_tb"
