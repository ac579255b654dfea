# SPDX-License-Identifier: BSD-2-Clause
"""The frame of a faulty ICRC engine: which packet it works on, and how a stream runs through it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from roceproof.conformance.faults.conversation.network import TimedFrame
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import ICRC_BYTES, UDP_BYTES, Layout, locate

SentBy = Callable[[bytes], bool]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A right packet on its way through the engine."""

    time_ns: int
    frame: bytes
    layout: Layout

    @property
    def bth(self) -> int:
        return self.layout.udp + UDP_BYTES

    @property
    def body_end(self) -> int:
        return self.layout.end - ICRC_BYTES

    @property
    def right(self) -> bytes:
        return self.frame[self.body_end : self.layout.end]

    @property
    def flow(self) -> bytes:
        """Equal for the packets of one direction of one queue pair."""
        return self.frame[0:12] + self.frame[self.bth + 5 : self.bth + 8]

    def right_over(self, changed: Mapping[int, bytes]) -> bytes:
        """The right ICRC of the packet with other bytes at some offsets."""
        seen = bytearray(self.frame)
        for at, data in changed.items():
            seen[at : at + len(data)] = data
        return icrc.compute_at(bytes(seen), self.layout)

    def with_icrc(self, value: bytes) -> bytes:
        """The frame with that in its ICRC field."""
        return self.frame[: self.body_end] + value + self.frame[self.layout.end :]


class Engine:
    """An ICRC engine with a fault; right where a subclass does not say otherwise."""

    looks_ahead: ClassVar[bool] = False  # works on a whole stream only
    residue = 0
    stalls = False

    def value(self, out: Outgoing) -> bytes:
        """What it writes into the ICRC field."""
        return out.right

    def frame(self, out: Outgoing) -> bytes:
        return out.with_icrc(self.value(out))

    def prepare(self, packets: Iterable[Outgoing]) -> None:
        """See the stream that is to come, and choose what is to be wrong of it."""

    def run(self, packets: list[Outgoing]) -> list[bytes]:
        """What leaves for a whole stream."""
        return [self.frame(out) for out in packets]

    def transmit(self, time_ns: int, frame: bytes) -> bytes:
        """What leaves for the next packet of a stream that is being made."""
        out = outgoing(time_ns, frame)
        return frame if out is None else self.frame(out)


def outgoing(time_ns: int, frame: bytes) -> Outgoing | None:
    """A frame as the engine sees it; None if it is no sound RoCE packet."""
    layout = locate(frame)
    return None if layout is None or layout.fault else Outgoing(time_ns, frame, layout)


def through(engine: Engine, frames: Iterable[TimedFrame], sent_by: SentBy) -> list[TimedFrame]:
    """A capture in which the packets of the chosen stations went through the engine."""
    capture = list(frames)
    chosen = [
        (index, out)
        for index, (time, frame) in enumerate(capture)
        if sent_by(frame) and (out := outgoing(time, frame)) is not None
    ]
    packets = [out for _, out in chosen]
    engine.prepare(packets)
    for (index, out), frame in zip(chosen, engine.run(packets), strict=True):
        capture[index] = TimedFrame(out.time_ns, frame)
    return capture
