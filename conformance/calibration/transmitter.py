# SPDX-License-Identifier: BSD-2-Clause
"""The transmitter of a device: it shapes packets, has their ICRC computed, and joins both.

Packets and results meet at the end of two queues. A healthy one pushes and pops
in step; a result that is lost, doubled or overtaken lets them slip.
"""

from collections import deque
from collections.abc import Callable, Sequence
from random import Random

from roceproof.conformance.faults.icrc.packet import ICRC_BYTES, Packet
from roceproof.conformance.faults.icrc.stages import Stage
from roceproof.conformance.faults.icrc.unit import IcrcUnit

Shape = Callable[[Packet], None]


class Results:
    """The queue of results of a healthy device: what goes in comes out."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._queue: deque[bytes] = deque()
        self.setup()

    def setup(self) -> None:
        """Draw the design."""

    def push(self, value: bytes, packet: Packet) -> None:
        self._queue.append(value)

    def ready(self) -> bool:
        """Whether there is one for the packet at the end of the other queue."""
        return bool(self._queue)

    def pop(self) -> bytes:
        """The result for that packet."""
        return self._queue.popleft()


class Overflows(Results):
    """S65: under load a result finds the queue full and is lost, or one is written twice."""

    def setup(self) -> None:
        self._left = self.random.choice((1, 1, 2))
        self._after = self.random.randrange(3, 30)
        self._kind = self.random.choice(("lost", "lost", "doubled", "swapped"))
        self._many = self.random.choice((1, 1, 2, 3))
        self._held: bytes | None = None

    def push(self, value: bytes, packet: Packet) -> None:
        self._after -= 1
        if self._held is not None:
            self._queue.extend((value, self._held))
            self._held = None
        elif self._after > 0 or not self._left:
            self._queue.append(value)
        elif self._kind == "lost":
            if self._after <= 1 - self._many:
                self._again()
        elif self._kind == "doubled":
            self._queue.extend([value] * (1 + self._many))
            self._again()
        else:
            self._held = value
            self._again()

    def _again(self) -> None:
        self._left -= 1
        self._after = self.random.randrange(8, 40)


class Overtakes(Results):
    """S60: of two engines at work the one with the shorter packet is done first."""

    def setup(self) -> None:
        self._slow: tuple[bytes, int, int] | None = None

    def push(self, value: bytes, packet: Packet) -> None:
        size = len(packet.payload)
        if self._slow is not None:
            held, long, queue = self._slow
            self._slow = None
            first = (value, held) if size < long and queue != packet.queue else (held, value)
            self._queue.extend(first)
        elif self.random.random() < 0.4:
            self._slow = value, size, packet.queue
        else:
            self._queue.append(value)

    def ready(self) -> bool:
        return bool(self._queue)


class Transmitter:
    """All that a packet passes on its way out of a device."""

    def __init__(
        self,
        unit: IcrcUnit,
        stage: Stage,
        results: Results,
        shapes: Sequence[Shape],
        late_shapes: Sequence[Shape] = (),
    ) -> None:
        self._unit, self._stage, self._results = unit, stage, results
        self._shapes, self._late_shapes = shapes, late_shapes
        self._packets: deque[Packet] = deque()

    def send(self, packet: Packet) -> Sequence[Packet]:
        """The packets that can leave, now that this one has come."""
        for shape in self._shapes:
            shape(packet)
        value = self._stage.value(self._unit, packet)
        for shape in self._late_shapes:
            shape(packet)
        if len(value) < ICRC_BYTES:
            packet.icrc = value
            return (packet,)
        self._results.push(value, packet)
        self._packets.append(packet)
        return self._joined()

    def _joined(self) -> list[Packet]:
        leaving = []
        while self._packets and self._results.ready():
            packet = self._packets.popleft()
            packet.icrc = self._results.pop()
            self._stage.leave(packet)
            leaving.append(packet)
        return leaving

    def drain(self) -> Sequence[Packet]:
        """What can still leave at the end."""
        return self._joined()
