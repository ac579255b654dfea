# SPDX-License-Identifier: BSD-2-Clause
"""Builds simulations with Verilator, once per distinct set of inputs.

A build directory's name ends in a hash of everything that went in, so a build that exists is
current. Two processes may ask for the same build: one makes it, the other waits.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from roceproof.dpi.manifest import Manifest
from roceproof.errors import RoceproofError

ROOM = Path(__file__).resolve().parent
DEFAULT_BUILD_ROOT = ROOM.parent / "build" / "sim"

# In compile order; the DUT's own sources come first.
BRIDGE_SV = tuple(
    ROOM / "sv" / f"roceproof_{name}.sv"
    for name in (
        "bridge_pkg",
        "gate",
        "chunk_source",
        "record_source",
        "frame_sink",
        "completion_sink",
        "offer_check",
        "port",
        "top",
    )
)
BRIDGE_C = tuple(sorted((ROOM / "src").glob("*.c")))
BRIDGE_HEADERS = tuple(sorted((ROOM / "src").glob("*.h")))
MAIN = ROOM / "src" / "main.cpp"

MODEL = "Vroceproof"
C_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror")
VERILATOR_FLAGS = (
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--assert",
    "--timescale",
    "1ps/1ps",
    "-Wno-fatal",
)
# Code that runs every cycle is worth -O2; start-up code is not.
MAKE_FLAGS = ("OPT_FAST=-O2", "OPT_SLOW=-O1", "OPT_GLOBAL=-O2")
BUILD_SECONDS = 1800


class BuildError(RoceproofError):
    """A simulation could not be built. The text ends with the tool's own last words."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """A simulation that is ready to run."""

    directory: Path
    executable: Path
    clock_ps: int


@cache
def verilator_version() -> str:
    """The first line of `verilator --version`."""
    try:
        done = subprocess.run(
            ["verilator", "--version"], capture_output=True, text=True, check=True, timeout=60
        )
    except FileNotFoundError as error:
        raise BuildError("verilator is not installed; run: sudo apt install verilator") from error
    except (subprocess.SubprocessError, OSError) as error:
        raise BuildError(f"verilator --version failed: {error}") from error
    return done.stdout.splitlines()[0]


@cache
def _verilator_include() -> Path:
    done = subprocess.run(
        ["verilator", "--getenv", "VERILATOR_ROOT"], capture_output=True, text=True, timeout=60
    )
    return Path(done.stdout.strip()) / "include" / "vltstd"


def _digest(files: Sequence[Path], words: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for word in words:
        digest.update(word.encode() + b"\0")
    for file in files:
        digest.update(file.name.encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: Sequence[str | Path], log: Path) -> None:
    with log.open("ab") as out:
        out.write((" ".join(str(word) for word in command) + "\n").encode())
        out.flush()
        try:
            done = subprocess.run(
                command,
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                timeout=BUILD_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise BuildError(f"{command[0]} took more than {BUILD_SECONDS} s; see {log}") from error
        except FileNotFoundError as error:
            raise BuildError(f"{command[0]} is not installed; install it with apt") from error
    if done.returncode != 0:
        lines = log.read_text(errors="replace").splitlines()
        errors = [line for line in lines if re.search(r"%Error|error:|undefined reference", line)]
        words = "\n".join((errors or lines)[-12:])
        raise BuildError(f"{command[0]} failed with status {done.returncode}; see {log}\n{words}")


def _object_name(source: Path) -> str:
    return f"bridge_{source.stem}.o"


def _compile_bridge(directory: Path, log: Path) -> None:
    """The C side, against the header that Verilator has just generated."""
    compiler = [*(("ccache",) if shutil.which("ccache") else ()), "cc"]
    for source in BRIDGE_C:
        dpi = (
            (f'-DROCEPROOF_DPI_HEADER="{MODEL}__Dpi.h"', f"-I{directory}")
            if source.stem == "bridge_dpi"
            else ()
        )
        include = f"-isystem{_verilator_include()}"
        _run(
            [
                *compiler,
                *C_FLAGS,
                *dpi,
                include,
                "-c",
                source,
                "-o",
                directory / _object_name(source),
            ],
            log,
        )


def _make(directory: Path, manifest: Manifest, words: Sequence[str], fst: bool) -> None:
    log = directory / "build.log"
    clock_define = next(word for word in words if word.startswith("-GClockPs=")).split("=")[1]
    defines = f"-DROCEPROOF_CLOCK_PS={clock_define}" + (" -DROCEPROOF_FST" if fst else "")
    _run(
        [
            "verilator",
            "--cc",
            "--exe",
            *words,
            "--top-module",
            "roceproof_top",
            "--prefix",
            MODEL,
            "--Mdir",
            directory,
            "-o",
            "simulation",
            "-CFLAGS",
            defines,
            "-LDFLAGS",
            " ".join([*(_object_name(source) for source in BRIDGE_C), "-lpcap"]),
            *manifest.sources,
            *BRIDGE_SV,
            MAIN,
        ],
        log,
    )
    _compile_bridge(directory, log)
    cache_tool = ["OBJCACHE=ccache"] if shutil.which("ccache") else ["OBJCACHE="]
    _run(
        [
            "make",
            "-C",
            directory,
            "-f",
            f"{MODEL}.mk",
            f"-j{os.cpu_count() or 1}",
            *MAKE_FLAGS,
            *cache_tool,
        ],
        log,
    )


def build_simulation(
    manifest: Manifest,
    *,
    data_width: int,
    ports: int,
    fst: bool = False,
    build_root: Path | None = None,
) -> Build:
    """Build `ports` devices at `data_width` bits, or find that build; `fst` can write waves."""
    root = build_root or DEFAULT_BUILD_ROOT
    clock_ps = manifest.clock_ps_at(data_width)
    words = [
        *VERILATOR_FLAGS,
        f"-GPorts={ports}",
        f"-GDataWidth={data_width}",
        f"-GClockPs={clock_ps}",
        f"-DROCEPROOF_DUT={manifest.top}",
        *(("--trace-fst", "--trace-structs") if fst else ()),
    ]
    inputs = [*manifest.sources, *BRIDGE_SV, *BRIDGE_C, *BRIDGE_HEADERS, MAIN]
    digest = _digest(inputs, [*words, *MAKE_FLAGS, *C_FLAGS, verilator_version()])
    name = f"{manifest.name}-{data_width}-{ports}{'-fst' if fst else ''}-{digest}"
    directory = root / name
    executable = directory / "simulation"
    result = Build(directory=directory, executable=executable, clock_ps=clock_ps)
    done = directory / "done"
    if done.exists():
        return result
    with _locked(root / f".{name}.lock"):
        if not done.exists():
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            _make(directory, manifest, words, fst)
            done.touch()
    return result
