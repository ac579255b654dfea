# SPDX-License-Identifier: BSD-2-Clause
"""S60, S65: results beside the packets, taken from the wrong engine, lost, doubled or swapped.

The CRC runs ahead of the place where its result is inserted, so results wait in
a queue. A packet takes whatever stands at its head.
"""

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


class MixesEngines(Engine):
    """S60: of two packets of different queue pairs in flight, each gets the other's ICRC."""

    looks_ahead = True
    _TOGETHER_NS = 2_000

    def run(self, packets: list[Outgoing]) -> list[bytes]:
        sent = [out.frame for out in packets]
        index = 0
        while index + 1 < len(packets):
            one, two = packets[index : index + 2]
            together = two.time_ns - one.time_ns <= self._TOGETHER_NS and one.flow != two.flow
            if together:
                sent[index : index + 2] = one.with_icrc(two.right), two.with_icrc(one.right)
            index += 2 if together else 1
        return sent
