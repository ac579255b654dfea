# SPDX-License-Identifier: BSD-2-Clause
"""Builds simulations once per distinct set of inputs.

A build directory's name ends in a hash of everything that went in, so a build that exists is
current. Two processes may ask for the same build: one makes it, the other waits.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.paths import BUILD
from roceproof.dpi.manifest import Manifest
from roceproof.dpi.verilate import (
    C_FLAGS,
    MAKE_FLAGS,
    ROOM,
    BuildError,
    Recipe,
    verilate,
    verilator_version,
)

__all__ = ["BRIDGE_SV", "Build", "BuildError", "build_recipe", "build_simulation"]

DEFAULT_BUILD_ROOT = BUILD / "sim"

# In compile order, after the device's own sources.
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


@dataclass(frozen=True, kw_only=True)
class Build:
    """A simulation that is ready to run."""

    directory: Path
    executable: Path
    clock_ps: int


def _digest(recipe: Recipe) -> str:
    digest = hashlib.sha256()
    for word in (*recipe.words, *MAKE_FLAGS, *C_FLAGS, verilator_version()):
        digest.update(word.encode() + b"\0")
    for file in recipe.inputs:
        digest.update(file.name.encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file, so that one process at a time builds a thing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_recipe(recipe: Recipe, *, name: str, build_root: Path | None = None) -> Build:
    """Build a recipe below `build_root`, or find that build."""
    root = build_root or DEFAULT_BUILD_ROOT
    directory = root / f"{name}-{_digest(recipe)}"
    done = directory / "done"
    if not done.exists():
        with locked(root / f".{directory.name}.lock"):
            if not done.exists():
                shutil.rmtree(directory, ignore_errors=True)
                directory.mkdir(parents=True)
                verilate(recipe, directory)
                done.touch()
    return Build(
        directory=directory,
        executable=directory / "simulation",
        clock_ps=recipe.parameters["ClockPs"],
    )


def build_simulation(
    manifest: Manifest,
    *,
    data_width: int,
    ports: int,
    fst: bool = False,
    build_root: Path | None = None,
) -> Build:
    """Build `ports` devices at `data_width` bits with the bridge; `fst` can write waves."""
    recipe = Recipe(
        sources=(*manifest.sources, *BRIDGE_SV),
        parameters={
            "Ports": ports,
            "DataWidth": data_width,
            "ClockPs": manifest.clock_ps_at(data_width),
        },
        dut=manifest.top,
        fst=fst,
    )
    name = f"{manifest.name}-{data_width}-{ports}{'-fst' if fst else ''}"
    return build_recipe(recipe, name=name, build_root=build_root)
