# SPDX-License-Identifier: BSD-2-Clause
"""What a simulation reports: stops, frames, completions and counters."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum, IntFlag
from typing import Self

from roceproof.dpi.contract.receive_records import ReceiveCompletion
from roceproof.dpi.contract.records import Completion
from roceproof.dpi.session import wire
from roceproof.dpi.session.streams import Signals, Stream


class Until(IntFlag):
    """What ends a run before its cycles are over."""

    CYCLES = 0
    FRAME = 1
    COMPLETION = 2


@dataclass(frozen=True)
class Stop:
    """Where a run ended, and what ended it: CYCLES, or the events that came."""

    cycle: int
    reason: Until


@dataclass(frozen=True)
class Frame:
    """A frame the device sent; its last beat moved in `cycle`."""

    cycle: int
    data: bytes


@dataclass(frozen=True)
class TimedCompletion:
    """A completion and the cycle in which it was taken."""

    cycle: int
    completion: Completion


@dataclass(frozen=True)
class TimedReceive:
    """The completion of a receive and the cycle in which it was taken."""

    cycle: int
    completion: ReceiveCompletion


class Inbound(IntEnum):
    """A stream into the device whose frames and records are told when it has taken them."""

    FRAME = 0
    CONFIGURATION = 2
    WORK_REQUEST = 3
    REGION = 6
    RECEIVE = 7


@dataclass(frozen=True)
class Taken:
    """The device took the last beat of a frame, or a record, in `cycle`."""

    cycle: int
    stream: Inbound


@dataclass(frozen=True, kw_only=True)
class PortStatistics:
    """A port's counters; in is towards the device."""

    frames_in: int
    frames_out: int
    bytes_in: int
    bytes_out: int
    discarded_out: int  # frames the device itself marked for discard
    dropped_in: int  # by the link or the kernel behind it
    dropped_out: int
    streams: tuple[Stream, ...]
    """Rx, payload, configurations, work requests, tx and completions, when last looked at."""

    @classmethod
    def of(cls, values: Sequence[int]) -> Self:
        """Read the part of a STATISTICS message that is about one port."""
        names = [field.name for field in fields(cls)][:-1]
        watched = values[len(names) :]
        streams = zip(watched[::3], watched[1::3], watched[2::3], strict=True)
        return cls(
            **dict(zip(names, values, strict=False)),
            streams=tuple(
                Stream(beats, moved, Signals(signals)) for beats, moved, signals in streams
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """A moment of a simulation."""

    cycle: int
    simulated_seconds: float
    wall_seconds: float
    ports: tuple[PortStatistics, ...]

    @property
    def ratio(self) -> float:
        """Simulated time over wall time."""
        return self.simulated_seconds / self.wall_seconds if self.wall_seconds else 0.0

    @classmethod
    def unpack(cls, body: bytes, *, clock_ps: int) -> Self:
        cycle, wall_ns = wire.STATISTICS.unpack_from(body)
        return cls(
            cycle=cycle,
            simulated_seconds=cycle * clock_ps * 1e-12,
            wall_seconds=wall_ns * 1e-9,
            ports=tuple(
                PortStatistics.of(values)
                for values in wire.PORT_STATISTICS.iter_unpack(body[wire.STATISTICS.size :])
            ),
        )
