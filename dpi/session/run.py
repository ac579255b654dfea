# SPDX-License-Identifier: BSD-2-Clause
"""A device left running on a link, as `roceproof sim` does, with a heartbeat."""

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from roceproof.dpi.manifest.dut import Manifest
from roceproof.dpi.session.events import Statistics
from roceproof.dpi.session.options import PortOptions
from roceproof.dpi.session.process import SimulationTimeout
from roceproof.dpi.session.simulation import Simulation

HEARTBEAT_SECONDS = 2.0


def heartbeat(now: Statistics) -> str:
    """One line: simulated time, frames each way, drops, simulated over wall time."""
    ports = "; ".join(
        f"port {index}: {port.frames_in} in, {port.frames_out} out"
        + (
            f", {port.dropped_in + port.dropped_out} dropped"
            if port.dropped_in + port.dropped_out
            else ""
        )
        for index, port in enumerate(now.ports)
    )
    speed = now.cycle / now.wall_seconds if now.wall_seconds else 0.0
    return (
        f"{now.simulated_seconds * 1e3:.3f} ms simulated, {ports}, "
        f"{speed / 1e3:.0f} kcycle/s, sim/wall {now.ratio:.2g}"
    )


def run_on_link(
    manifest: Manifest,
    *,
    data_width: int,
    port: PortOptions,
    report: TextIO,
    seed: int = 1,
    duration_ns: int | None = None,
    waves: Path | None = None,
    command: str | None = None,
    pass_fds: Sequence[int] = (),
) -> Statistics:
    """Run free until `duration_ns` of simulated time have passed or Ctrl-C; the last counters.

    Ctrl-C is the ordinary end: the simulation is closed and its capture complete.
    """
    cycles = None
    if duration_ns is not None:
        cycles = max(1, duration_ns * 1000 // manifest.clock_ps_at(data_width))
    with Simulation.start(
        manifest,
        data_width=data_width,
        ports=[port],
        seed=seed,
        free_running=True,
        cycles=cycles,
        waves=waves,
        command=command,
        pass_fds=pass_fds,
    ) as simulation:
        try:
            report.write(f"{manifest.name} on {port.link}: {port.ipv4}, {port.mac}; Ctrl-C ends\n")
            while simulation.stopped is None:
                try:
                    simulation.wait(
                        lambda: simulation.stopped is not None, timeout=HEARTBEAT_SECONDS
                    )
                except SimulationTimeout:
                    report.write(heartbeat(simulation.statistics()) + "\n")
                    report.flush()
        except KeyboardInterrupt:
            report.write("\n")
        last = simulation.statistics()
    report.write(f"ended: {heartbeat(last)}\n")
    return last
