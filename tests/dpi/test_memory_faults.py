# SPDX-License-Identifier: BSD-2-Clause
"""What a device may not say to memory ends the simulation."""

from __future__ import annotations

from pathlib import Path

import pytest

from roceproof.dpi import PortOptions, Simulation, SimulationError, load_manifest

pytestmark = pytest.mark.sim

MANIFEST = load_manifest(Path(__file__).parent / "memory_dut" / "dut.toml")


def start(log: Path, fault: int) -> Simulation:
    options = [f"write={fault}"]
    return Simulation.start(
        MANIFEST, data_width=64, ports=[PortOptions()], plusargs=options, log=log
    )


def test_a_write_arrives(tmp_path: Path) -> None:
    with start(tmp_path / "log", 0) as simulation:
        simulation.run(cycles=100)
        assert simulation.peek(0, 0, 13) == bytes([*range(1, 9), *range(1, 5), 0])


@pytest.mark.parametrize(
    ("fault", "words"), [(1, "mwd_tkeep is no run"), (2, "not full before"), (3, "of no bytes")]
)
def test_a_malformed_write_is_refused(tmp_path: Path, fault: int, words: str) -> None:
    with start(tmp_path / "log", fault) as simulation, pytest.raises(SimulationError, match=words):
        simulation.run(cycles=100)
