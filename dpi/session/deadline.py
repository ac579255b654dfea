# SPDX-License-Identifier: BSD-2-Clause
"""Waiting for a free-running device by its own clock: cycles count, whatever the simulator's speed.

A device has stood still for long enough when so many cycles have passed since its last beat of
payload or of a frame. Cycles in which the other end of the link takes nothing do not count.
"""

from collections.abc import Callable
from dataclasses import dataclass

from roceproof.common.exit_codes import Exit
from roceproof.dpi.session.events import PortStatistics, Statistics
from roceproof.dpi.session.process import SimulationTimeout
from roceproof.dpi.session.simulation import Simulation
from roceproof.dpi.session.streams import Signals, told_streams

LOOK_SECONDS = 0.2
HELD_LOOKS = 300
"""So often in a row the other end may be found to take nothing: a minute of its time."""
_PAYLOAD, _TX = 1, 4


class Overdue(SimulationTimeout):
    """The device is late by its own clock; the text ends with the state of its streams."""

    exit_code = Exit.FINDINGS


@dataclass(frozen=True, kw_only=True)
class Due:
    """What must come, until when, and why then."""

    what: str
    cycles: int
    frames: int
    """More than that nobody sends for it."""
    why: str


def wait_until_due(simulation: Simulation, until: Callable[[], bool], due: Due) -> None:
    """Take in what the simulation sends until the condition holds; `Overdue` if it is late."""
    start = simulation.statistics()
    last, held = start.cycle, 0
    while True:
        try:
            simulation.wait(until, timeout=LOOK_SECONDS)
            return
        except SimulationTimeout:
            now = simulation.statistics()
        if until():
            return
        held = held + 1 if _is_held(now.ports[0]) else 0
        last = now.cycle if held else max(last, _last_beat(now.ports[0]))
        if late := _late(start, now, last, held, due):
            told = [late, *told_streams(now.ports[0].streams, now.cycle)]
            raise Overdue("\n".join(told), log=simulation.log)


def _late(start: Statistics, now: Statistics, last: int, held: int, due: Due) -> str | None:
    if held >= HELD_LOOKS:
        return f"no {due.what}: the other end of the link takes no frame, in cycle {now.cycle:,}"
    frames = now.ports[0].frames_out - start.ports[0].frames_out
    if frames > due.frames:
        return f"no {due.what}: {frames:,} frames were sent for it, want at most {due.frames:,}"
    if now.cycle - last > due.cycles:
        return (
            f"no {due.what} in {now.cycle - start.cycle:,} cycles: due {due.cycles:,} cycles "
            f"behind the last beat in cycle {last:,} ({due.why}), now is {now.cycle:,}"
        )
    return None


def _is_held(port: PortStatistics) -> bool:
    return port.streams[_TX].signals & (Signals.VALID | Signals.READY) == Signals.VALID


def _last_beat(port: PortStatistics) -> int:
    return max(port.streams[_PAYLOAD].moved, port.streams[_TX].moved)
