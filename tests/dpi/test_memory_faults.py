# SPDX-License-Identifier: BSD-2-Clause
"""What a device may not say to memory ends the simulation."""

from __future__ import annotations

from pathlib import Path

import pytest

from roceproof.dpi import Flow, PortOptions, Simulation, SimulationError, load_manifest

pytestmark = pytest.mark.sim

MANIFEST = load_manifest(Path(__file__).parent / "memory_dut" / "dut.toml")


def start(log: Path, fault: int, flow: Flow | None = None, *, seed: int = 1) -> Simulation:
    ports = [PortOptions(flow=flow or Flow())]
    options = [f"write={fault}"]
    return Simulation.start(
        MANIFEST, data_width=64, ports=ports, plusargs=options, log=log, seed=seed
    )


@pytest.mark.parametrize("flow", [Flow(), Flow(memory_stall=90), Flow(memory_gap=90)], ids=str)
def test_what_is_written_is_read_and_written_again(flow: Flow, tmp_path: Path) -> None:
    with start(tmp_path / "log", 0, flow) as simulation:
        simulation.run(cycles=1000)
        assert simulation.peek(0, 0, 13) == bytes([*range(1, 9), *range(1, 5), 0])
        assert simulation.peek(0, 64, 13) == simulation.peek(0, 0, 13)


def cycles_until_copied(log: Path, flow: Flow, seed: int) -> int:
    with start(log, 0, flow, seed=seed) as simulation:
        cycles = 0
        while not simulation.peek(0, 64, 1)[0]:
            simulation.run(cycles=1)
            cycles += 1
        return cycles


@pytest.mark.parametrize("name", ["memory_stall", "memory_gap", "memory_lag"])
def test_a_seed_says_when_memory_stalls(name: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    disturbed = [cycles_until_copied(log, Flow(**{name: 90}), seed) for seed in (1, 1, 2, 3)]
    assert disturbed[0] == disturbed[1]
    assert len(set(disturbed)) > 1
    assert min(disturbed) > cycles_until_copied(log, Flow(), 1)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (1, "mwd_tkeep is no run"),
        (2, "not full before"),
        (3, "a write of no bytes"),
        (8, "not as long as it says"),
        (9, "a write of over 2\\^31 bytes"),
        (10, "a read of no bytes"),
        (11, "a read of over 2\\^31 bytes"),
        (12, "a write of tag 0, as one that is not done"),
        (13, "a read of tag 0, as one that has no answer yet"),
    ],
)
def test_a_malformed_command_is_refused(tmp_path: Path, fault: int, words: str) -> None:
    with start(tmp_path / "log", fault) as simulation, pytest.raises(SimulationError, match=words):
        simulation.run(cycles=100)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (4, "mwc_valid fell before ready rose"),
        (5, "mwd changed while it waited"),
        (6, "mrc_valid fell before ready rose"),
        (7, "mwc changed while it waited"),
    ],
)
def test_an_offer_to_memory_stays_while_it_is_stalled(
    tmp_path: Path, fault: int, words: str
) -> None:
    with (
        start(tmp_path / "log", fault, Flow(memory_stall=98)) as simulation,
        pytest.raises(SimulationError, match=words),
    ):
        simulation.run(cycles=3000)
