# SPDX-License-Identifier: BSD-2-Clause
"""S65: a queue of results beside the packets, with entries lost, doubled or swapped; S66 behind it.

The CRC runs ahead of the place where its result is inserted, so results wait in
a queue. A packet takes whatever stands at its head.
"""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from roceproof.conformance.faults.icrc.engine import Engine, Outgoing
from roceproof.conformance.wire.framing import ICRC_BYTES


class LosesResults(Engine):
    """S65: the queue has no back-pressure; a result that comes while it is full is dropped.

    The CRC is `depth` packets ahead of the wire. Now and then the wire stalls for so long that as
    many packets more get their CRC as `overflows` says.
    """

    looks_ahead = True
    depth: ClassVar[int] = 4
    overflows: tuple[int, ...] = (1,)
    every = 0
    """Packets between two overflows; 0 for one overflow, after a fifth of the packets."""

    def run(self, packets: list[Outgoing]) -> list[bytes]:
        """Let the CRC run ahead, and stall."""
        queue: deque[bytes] = deque()
        sent, ahead, missing = [], 0, 0
        stalls = self._stalls(len(packets))
        for index, out in enumerate(packets):
            capacity = self.depth
            goal = index + capacity + stalls.get(index, 0) + missing
            while ahead < min(goal, len(packets)):
                if len(queue) < capacity:
                    queue.append(packets[ahead].right)
                else:
                    missing += 1
                ahead += 1
            sent.append(out.with_icrc(queue.popleft() if queue else bytes(ICRC_BYTES)))
        return sent

    def _stalls(self, count: int) -> dict[int, int]:
        if not self.every:
            return {count // 5: self.overflows[0]}
        places = range(self.every, count, self.every)
        return {at: self.overflows[n % len(self.overflows)] for n, at in enumerate(places)}


class LosesResultsOften(LosesResults):
    """S65: the same again and again, one to three results at a time."""

    overflows = (1, 3, 2)
    every = 60


class OverwritesRing(LosesResults):
    """S65: the write pointer of a ring passes the read pointer: a whole turn is gone."""

    depth = 8

    def run(self, packets: list[Outgoing]) -> list[bytes]:
        """After the overflow the ring holds results a whole turn later."""
        at = len(packets) // 3
        rights = [out.right for out in packets] + [bytes(ICRC_BYTES)] * self.depth
        return [
            out.with_icrc(rights[index + (self.depth if index >= at else 0)])
            for index, out in enumerate(packets)
        ]


class DoublesResults(Engine):
    """S65: back-pressure does not reach the write enable; a result is written twice at times."""

    every: ClassVar[int] = 50

    def __init__(self) -> None:
        self._queue: deque[bytes] = deque()
        self._sent = 0

    def value(self, out: Outgoing) -> bytes:
        self._sent += 1
        self._queue.append(out.right)
        if self._sent % self.every == 0 and self._sent <= 3 * self.every:
            self._queue.append(out.right)
        return self._queue.popleft()


class SlipsBothWays(Engine):
    """S65: a result is lost, later one is doubled, and so on."""

    looks_ahead = True
    every: ClassVar[int] = 40

    def run(self, packets: list[Outgoing]) -> list[bytes]:
        queue: deque[bytes] = deque()
        for index, out in enumerate(packets):
            turn, at = divmod(index, self.every)
            if at or not turn:
                queue.append(out.right)
            elif turn % 4 in (0, 3):
                queue.extend((out.right, out.right))
        return [out.with_icrc(queue.popleft() if queue else bytes(ICRC_BYTES)) for out in packets]


class SwapsResults(Engine):
    """S65: two results that are ready at once are written to the queue in the wrong order."""

    looks_ahead = True
    every: ClassVar[int] = 9

    def run(self, packets: list[Outgoing]) -> list[bytes]:
        """Exchange a pair now and then."""
        rights = [out.right for out in packets]
        for at in range(self.every, len(packets) - 1, self.every):
            rights[at : at + 2] = rights[at + 1], rights[at]
        return [out.with_icrc(right) for out, right in zip(packets, rights, strict=True)]


class InvertsNextBeat(Engine):
    """S66: what of the ICRC goes into a beat of its own comes from the register's inverted side."""

    width: ClassVar[int] = 8

    def value(self, out: Outgoing) -> bytes:
        """Right up to the end of the beat that holds the packet's last bytes."""
        free = -out.body_end % self.width
        if free >= ICRC_BYTES:
            return out.right
        return out.right[:free] + self.rest(out, free)

    def rest(self, out: Outgoing, free: int) -> bytes:
        """The part in the next beat."""
        return bytes(byte ^ 0xFF for byte in out.right[free:])


class InvertsNextBeatOf32(InvertsNextBeat):
    """S66 on a bus of 32 bytes."""

    width = 32


class KeepsNextBeat(InvertsNextBeat):
    """S66: the register of the second part is loaded one packet too late."""

    width = 16
    _previous = bytes(ICRC_BYTES)

    def value(self, out: Outgoing) -> bytes:
        """With the second part of what was right for the packet before."""
        value = super().value(out)
        self._previous = out.right
        return value

    def rest(self, out: Outgoing, free: int) -> bytes:
        return self._previous[free:]


class EmptiesNextBeat(InvertsNextBeat):
    """S66: nothing drives the second part on a bus of 64 bytes."""

    width = 64

    def rest(self, out: Outgoing, free: int) -> bytes:
        return bytes(ICRC_BYTES - free)


class RepeatsFirstLanes(InvertsNextBeat):
    """S66: the second part starts again with the first byte of the ICRC."""

    def rest(self, out: Outgoing, free: int) -> bytes:
        return out.right[: ICRC_BYTES - free]


class KeepsLanes(InvertsNextBeat):
    """S66: the second beat is not cleared; the lanes still hold the bytes of the beat before."""

    def rest(self, out: Outgoing, free: int) -> bytes:
        """What stood there a beat earlier."""
        at = out.body_end + free - self.width
        return out.frame[at : at + ICRC_BYTES - free]
