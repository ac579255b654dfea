# SPDX-License-Identifier: BSD-2-Clause
"""Builds simulations once per distinct set of inputs.

A build directory's name ends in a hash of everything that went in, so a build that exists is
current; a seal tells whether its executable is still the one that was linked, and whether what
sources include from elsewhere is as it was. Two processes may ask for the same build: one makes it,
the other waits.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from roceproof.common.checksum_stamp import SEAL, flaw, seal, seal_of
from roceproof.common.lock import locked
from roceproof.common.notice import notice
from roceproof.common.paths import BUILD
from roceproof.dpi.compile.verilate import (
    BACKDOOR,
    C_FLAGS,
    EXECUTABLE,
    MAKE_FLAGS,
    ROOM,
    BuildError,
    Recipe,
    files_read,
    verilate,
    verilator_version,
)
from roceproof.dpi.compile.vhdl import verilog_sources
from roceproof.dpi.manifest.circuit import Circuit
from roceproof.dpi.manifest.dut import XGMII, Manifest

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
        "record_sink",
        "memory",
        "memory_reader",
        "xgmii_pkg",
        "xgmii_source",
        "xgmii_sink",
        "xgmii",
        "stream_watch",
        "offer_check",
        "frame_streams",
        "requester_streams",
        "responder_streams",
        "port",
        "top",
    )
)


@dataclass(frozen=True, kw_only=True)
class Build:
    """A simulation that is ready to run."""

    directory: Path
    executable: Path
    made: bytes
    clock_ps: int


def _digest(recipe: Recipe) -> str:
    digest = hashlib.sha256()
    for word in (*recipe.words, *MAKE_FLAGS, *C_FLAGS, verilator_version()):
        digest.update(os.fsencode(word) + b"\0")
    for file in recipe.inputs:
        digest.update(os.fsencode(file.name) + b"\0")
        found = file.stat()
        digest.update(_content(file, found.st_ino, found.st_size, found.st_ctime_ns))
    return digest.hexdigest()[:16]


@cache
def _content(file: Path, *_state: int) -> bytes:
    """A hash of what it holds, read once for hundreds of simulations if it stays as it is."""
    return hashlib.sha256(file.read_bytes()).digest()


def build_recipe(
    recipe: Recipe,
    *,
    name: str,
    build_root: Path | None = None,
    begins: Callable[[], None] = lambda: None,
) -> Build:
    """Build a recipe below `build_root`, or find that build; `begins` is called before a build."""
    root = build_root or DEFAULT_BUILD_ROOT
    directory = root / f"{name}-{_digest(recipe)}"
    if flaw(directory):
        begins()
        with locked(_lock(directory), f"builds {name}"):
            _make(recipe, directory)
    return Build(
        directory=directory,
        executable=directory / EXECUTABLE,
        made=seal_of(directory),
        clock_ps=recipe.parameters["ClockPs"],
    )


def discard(build: Build, reason: str) -> None:
    """Forget a build that does not start here, unless another process has built it anew."""
    with locked(_lock(build.directory), f"discards {build.directory.name}"):
        if seal_of(build.directory) == build.made:
            notice(_damaged(build.directory, reason))
            (build.directory / SEAL).unlink(missing_ok=True)


def _make(recipe: Recipe, directory: Path) -> None:
    reason = flaw(directory)
    if reason is None:
        return  # another process has built it meanwhile
    if (directory / SEAL).exists():
        notice(_damaged(directory, reason))
    _remove(directory)
    directory.mkdir(parents=True)
    try:
        verilate(recipe, directory)
    except KeyboardInterrupt:
        _remove(directory)
        raise
    seal(directory, [EXECUTABLE, *map(str, files_read(directory) - {*recipe.inputs})])


def _remove(directory: Path) -> None:
    if directory.is_dir() and not directory.is_symlink():
        shutil.rmtree(directory)
    else:
        directory.unlink(missing_ok=True)


def _damaged(directory: Path, reason: str) -> str:
    return f"the simulation in {directory} was damaged ({reason}); building it anew"


def _lock(directory: Path) -> Path:
    return directory.with_name(f".{directory.name}.lock")


def circuit_of(manifest: Manifest) -> Circuit:
    """The device's; what it claims besides requests says which ports it and the bridge have."""
    parts: dict[str, str] = {}
    if manifest.wire == XGMII:
        parts["ROCEPROOF_XGMII"] = ""
    if manifest.cm is not None:
        parts["ROCEPROOF_CM"] = ""
    if responder := manifest.responder:
        parts["ROCEPROOF_RESPONDER"] = ""
        if responder.static_regions:
            parts["ROCEPROOF_STATIC_KEYS"] = ""
        if responder.backdoor:
            parts[BACKDOOR] = responder.backdoor
        elif responder.reads_memory:
            parts["ROCEPROOF_MEMORY_READS"] = ""
    return replace(manifest.circuit, defines={**manifest.circuit.defines, **parts})


def build_simulation(
    manifest: Manifest,
    *,
    data_width: int,
    ports: int,
    fst: bool = False,
    coverage: bool = False,
    build_root: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Build:
    """Build `ports` devices at `data_width` bits with the bridge; `fst` can write waves, `coverage`
    which parts of the design were exercised.

    `progress` is told when there is something to build.
    """
    variant = "-fst" * fst + "-coverage" * coverage
    name = f"{manifest.name}-{data_width}-{ports}{variant}"
    what = f"{manifest.name}, {data_width} bit"
    try:
        recipe = Recipe(
            sources=(*verilog_sources(manifest, build_root or DEFAULT_BUILD_ROOT), *BRIDGE_SV),
            parameters={
                "Ports": ports,
                "DataWidth": data_width,
                "ClockPs": manifest.clock_ps_at(data_width),
            },
            dut=manifest.top,
            circuit=circuit_of(manifest),
            fst=fst,
            coverage=coverage,
        )
        hint = "minutes at the first time"
        hint += ", half as long again for the waves: take one --width" * fst
        return build_recipe(
            recipe,
            name=name,
            build_root=build_root,
            begins=lambda: progress(f"building {what} ({hint})"),
        )
    except BuildError as error:
        raise BuildError(f"{manifest.path}: {what} does not build: {error}") from error
