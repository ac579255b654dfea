# SPDX-License-Identifier: BSD-2-Clause
"""The bridge's tests run against a tiny device that returns what it receives."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from roceproof.dpi import Manifest, PortOptions, Simulation, load_manifest

sys.path.insert(0, str(Path(__file__).parent))  # for the helper modules beside this file

REPOSITORY = Path(__file__).resolve().parents[2]


class StartEcho(Protocol):
    def __call__(self, *ports: PortOptions, data_width: int = 64, **options: Any) -> Simulation: ...


@pytest.fixture(scope="session")
def echo_manifest() -> Manifest:
    return load_manifest(REPOSITORY / "dpi" / "test" / "dut.toml")


@pytest.fixture
def start_echo(echo_manifest: Manifest, tmp_path: Path) -> Iterator[StartEcho]:
    """Start echo simulations; those a test leaves running are closed."""
    started: list[Simulation] = []

    def start(*ports: PortOptions, data_width: int = 64, **options: Any) -> Simulation:
        options.setdefault("log", tmp_path / f"simulation{len(started)}.log")
        simulation = Simulation.start(
            echo_manifest, data_width=data_width, ports=ports or (PortOptions(),), **options
        )
        started.append(simulation)
        return simulation

    yield start
    for simulation in started:
        simulation.close()


@pytest.fixture
def socket_directory() -> Iterator[Path]:
    """A directory whose paths are short enough for Unix sockets."""
    with tempfile.TemporaryDirectory(prefix="roceproof-") as name:
        yield Path(name)
