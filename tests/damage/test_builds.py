# SPDX-License-Identifier: BSD-2-Clause
"""A simulation that was damaged, or does not start on this machine, is built anew once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from damages import DAMAGES, Damage

from roceproof.common.checksum_stamp import flaw, seal
from roceproof.dpi import PortOptions, Simulation, build_simulation, load_manifest
from roceproof.dpi.compile import cache
from roceproof.dpi.compile.verilate import EXECUTABLE, Recipe
from roceproof.dpi.session.process import Unstartable

ROOT = Path(__file__).resolve().parents[2]
ECHO = load_manifest(ROOT / "dpi" / "test" / "dut.toml")
READ = "Vroceproof__ver.d"
"""Where Verilator says what it has read."""
HEALTHY = b"#!/bin/sh\nexit 3\n"
# What a machine without a library, and one with an older C library, say of a program.
LOADERS = (
    "./simulation: error while loading shared libraries: libx.so.1: cannot open shared object file",
    "./simulation: /lib/libc.so.6: version `GLIBC_2.99' not found (required by ./simulation)",
)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """Where builds were made; each is a script that ends at once, unless the test replaces it."""
    places: list[Path] = []
    monkeypatch.setattr(cache, "verilator_version", lambda: "Verilator")
    monkeypatch.setattr(cache, "verilate", linker(places, HEALTHY))
    return places


def linker(places: list[Path], program: bytes) -> Callable[[Recipe, Path], None]:
    def verilate(recipe: Recipe, directory: Path) -> None:
        places.append(directory)
        (directory / EXECUTABLE).write_bytes(program)
        (directory / EXECUTABLE).chmod(0o755)
        (directory / READ).write_text(f"{EXECUTABLE} : verilator_bin\n")

    return verilate


def made(root: Path) -> cache.Build:
    return build_simulation(ECHO, data_width=64, ports=1, build_root=root)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_build_is_made_anew(
    damage: Damage, built: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = made(tmp_path)
    damage(first.directory, first.executable)
    sealed = (first.directory / ".seal.json").exists()
    assert made(tmp_path).executable.read_bytes() == HEALTHY
    assert built == [first.directory] * 2
    assert flaw(first.directory) is None
    said = capsys.readouterr().err
    # A build without a seal is one that was interrupted.
    assert (
        said.startswith(f"roceproof: the simulation in {first.directory} was damaged (") == sealed
    )
    assert said.count("\n") == sealed
    assert made(tmp_path) and len(built) == 2


@pytest.mark.parametrize("program", [b"", b"\x7fELF garbage", *LOADERS])
def test_a_build_that_does_not_start_is_made_anew_once(
    program: bytes | str,
    built: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if isinstance(program, str):
        program = (
            f'#!/bin/sh\necho "{program.replace("`", chr(92) + "`")}" >&2\nexit 127\n'.encode()
        )
    monkeypatch.setattr(cache, "verilate", linker(built, program))
    with pytest.raises(Unstartable) as refused:
        Simulation.start(ECHO, data_width=64, ports=[PortOptions()], build_root=tmp_path)
    assert "\n" not in str(refused.value)
    assert len(built) == 2
    assert capsys.readouterr().err == (
        f"roceproof: the simulation in {built[0]} was damaged ({refused.value}); building it anew\n"
    )


@pytest.mark.sim
def test_a_simulation_that_was_sealed_as_garbage_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = build_simulation(ECHO, data_width=64, ports=1)

    def copied(recipe: Recipe, directory: Path) -> None:
        for name in (EXECUTABLE, READ):
            shutil.copy2(good.directory / name, directory / name)

    monkeypatch.setattr(cache, "verilate", copied)
    bad = made(tmp_path)
    bad.executable.write_bytes(b"\x7fELF garbage")
    seal(bad.directory, [EXECUTABLE])
    with Simulation.start(
        ECHO, data_width=64, ports=[PortOptions()], build_root=tmp_path
    ) as simulation:
        assert simulation.run(cycles=10).cycle == 10
    assert (
        "was damaged (simulation: Exec format error); building it anew" in capsys.readouterr().err
    )
