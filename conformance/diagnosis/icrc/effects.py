# SPDX-License-Identifier: BSD-2-Clause
"""What each change adds to the ICRC of a packet, whatever is found in the ICRC's place.

It is worked out once per packet, for all searches that this one is in.
"""

from roceproof.conformance.diagnosis.icrc.hypothesis import Recipe
from roceproof.conformance.diagnosis.icrc.parts.changes import CHANGES
from roceproof.conformance.diagnosis.icrc.parts.coverage import Feed
from roceproof.conformance.diagnosis.icrc.parts.crc import ONES, Crc
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import Engine


class Effects:
    """Those on the packets of one transmitter, by the numbers of their frames."""

    def __init__(self) -> None:
        self._deltas: dict[int, list[tuple[int, bytes]]] = {}
        self._edits: dict[tuple[Engine, int, int, int, int], list[int]] = {}
        self._starts: dict[tuple[Engine, int], list[int]] = {}
        self._values: dict[tuple[int, int], int] = {}

    def value(self, plan: int, blank: Recipe, packet: CrcInput) -> int:
        """The ICRC by a recipe without changes, which is the one of that plan."""
        key = plan, packet.seen.number
        if key not in self._values:
            self._values[key] = blank.predict(packet) or 0
        return self._values[key]

    def added(self, engine: Engine, packet: CrcInput, feed: Feed) -> list[int]:
        """What each of all changes adds, if the CRC is fed like that."""
        rest, added = feed.rest_size - feed.cut, len(feed.added)
        edits = self._edited(engine, packet, feed.skip, min(rest, 0), max(rest, 0) + added)
        length = len(feed.front) + len(packet.masked) - feed.skip + rest + added
        starts = self._started(engine, length)
        return [a ^ b for a, b in zip(edits, starts, strict=True)]

    def _altered(self, packet: CrcInput) -> list[tuple[int, bytes]]:
        """What the changes alter in the head: which of them does, and by what difference."""
        number = packet.seen.number
        if number not in self._deltas:
            self._deltas[number] = [
                (place, _difference(head, packet.masked))
                for place, change in enumerate(CHANGES)
                if change.edit is not None and (head := change.head(packet)) != packet.masked
            ]
        return self._deltas[number]

    def _edited(
        self, engine: Engine, packet: CrcInput, skip: int, cut: int, behind: int
    ) -> list[int]:
        """The part of altered heads: it depends on what follows the head by its length alone."""
        key = engine, packet.seen.number, skip, cut, behind
        if key not in self._edits:
            sums = [0] * len(CHANGES)
            for place, delta in self._altered(packet):
                visible = delta[skip : cut or None]
                if any(visible):
                    sums[place] = _moved(engine.crc, engine.run(visible, 0), behind)
            self._edits[key] = sums
        return self._edits[key]

    def _started(self, engine: Engine, length: int) -> list[int]:
        """The part of other start registers and of the inversion."""
        key = engine, length
        if key not in self._starts:
            self._starts[key] = [
                (
                    _moved(engine.crc, change.start(engine) ^ engine.start, length)
                    if change.start
                    else 0
                )
                ^ (ONES if change.inverted else 0)
                for change in CHANGES
            ]
        return self._starts[key]


def _moved(crc: Crc, register: int, count: int) -> int:
    a, b, c, d = crc.shifter(count)
    return a[register & 255] ^ b[register >> 8 & 255] ^ c[register >> 16 & 255] ^ d[register >> 24]


def _difference(a: bytes, b: bytes) -> bytes:
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(len(a), "big")
