# SPDX-License-Identifier: BSD-2-Clause
"""Faults that follow the beats of the data path all along a packet: S58 and S61."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from roceproof.conformance.diagnosis.icrc.parts.crc import ETHERNET, ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import MASKED, CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import Engine

WIDTHS = (4, 8, 16, 32, 64)
_DUMMY = 8
_LONGEST_WINDOW = 4096 + 64


@dataclass(frozen=True)
class Origin:
    """Where the beats are counted from: that many bytes stand before the IP header."""

    words: str
    lead: Callable[[CrcInput], int]


ORIGINS = (
    Origin("", lambda packet: packet.seen.ip),
    Origin(", counted from the IP header", lambda packet: 0),
    Origin(", counted from the dummy bytes", lambda packet: _DUMMY),
)


@dataclass(frozen=True)
class DeadLane:
    """S58: one byte of each beat is a constant to the CRC."""

    width: int
    lane: int
    value: int
    origin: Origin
    masks_last: bool
    ids: tuple[str, ...] = ("S58",)

    @property
    def note(self) -> str:
        place = f"byte {self.lane} of each {self.width}{self.origin.words}"
        return f"{place} is seen as {self.value:02x}"

    def predict(self, packet: CrcInput) -> int | None:
        dummy = self._dummy(packet)
        data, places = self._fed(packet)
        data[places.start :: self.width] = bytes([self.value]) * len(places)
        if self.masks_last:
            for at, bits in _masked_places(packet):
                data[dummy + at] |= bits
        register = ONES if dummy else Engine().start
        return ETHERNET.run(bytes(data), register) ^ ONES

    def lacks(self, packets: Sequence[CrcInput]) -> str:
        """A second beat, for one alone may be a field that is inserted late."""
        beats = set()
        for packet in packets:
            data, places = self._fed(packet)
            beats |= {n for n, at in enumerate(places) if data[at] != self.value}
        return "" if len(beats) > 1 else "it shows in one beat alone, where a field may be late"

    def _dummy(self, packet: CrcInput) -> int:
        return _DUMMY if self.origin.lead(packet) == _DUMMY else 0

    def _fed(self, packet: CrcInput) -> tuple[bytearray, range]:
        """What the CRC takes where every lane is alive, and where this one is in it."""
        dummy = self._dummy(packet)
        data = bytearray(b"\xff" * dummy + packet.masked + packet.seen.body)
        first = (self.lane - self.origin.lead(packet) + dummy) % self.width
        return data, range(first, len(data), self.width)


@dataclass(frozen=True)
class MaskAgain:
    """S61: the header mask is applied again at each multiple of a window."""

    window: int
    ids: tuple[str, ...] = ("S61",)

    @property
    def note(self) -> str:
        return f"each {self.window} bytes"

    def predict(self, packet: CrcInput) -> int | None:
        """Mask the payload as if it were a header."""
        data = bytearray(packet.masked + packet.seen.body)
        places = _masked_places(packet)
        for base in range(self.window, len(data), self.window):
            for at, bits in places:
                if base + at < len(data):
                    data[base + at] |= bits
        return ETHERNET.run(bytes(data), Engine().start) ^ ONES


def _masked_places(packet: CrcInput) -> list[tuple[int, int]]:
    return [span for field in MASKED for span in packet.spans(field)]


def dead_lanes() -> Iterator[DeadLane]:
    """Every lane of every width, stuck at zeros or ones."""
    for width in WIDTHS:
        for lane in range(width):
            for origin in ORIGINS:
                yield DeadLane(width, lane, 0, origin, masks_last=False)
                yield DeadLane(width, lane, 0, origin, masks_last=True)
                yield DeadLane(width, lane, 0xFF, origin, masks_last=False)


def masks_again(longest: int) -> Iterator[MaskAgain]:
    """Every window that fits in a packet of that length and of a legal one."""
    return (MaskAgain(window) for window in range(36, min(longest, _LONGEST_WINDOW), 4))
