# SPDX-License-Identifier: BSD-2-Clause
"""S66: the ICRC lies across two bus beats, and the part in the second one is wrong.

The bytes in front of the boundary are right, and so is every ICRC that no boundary crosses. One
that lies in the next beat as a whole may be right or wrong, but not now this and now that.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from roceproof.conformance.diagnosis.icrc.data_path.beats import ORIGINS, WIDTHS, Origin
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.wire.framing import ICRC_BYTES

_PREAMBLE = 8
_ORIGINS = (
    *ORIGINS,
    Origin(", counted from the preamble", lambda packet: packet.seen.ip + _PREAMBLE),
)


class Boundary(NamedTuple):
    """Where the beats of a bus end."""

    width: int
    origin: Origin
    spares_whole: bool = False
    """Whether an ICRC that lies in the next beat as a whole is right."""

    def front(self, packet: CrcInput) -> int:
        """How many of the ICRC's bytes are spared, as they lie in the beat with the last bytes."""
        left = -(packet.size + self.origin.lead(packet)) % self.width
        return min(left or self.spares_whole * ICRC_BYTES, ICRC_BYTES)

    def __str__(self) -> str:
        return f"beats of {self.width} bytes{self.origin.words}"


Fill = Callable[[CrcInput, int, int], int | None]
"""What stands at a place (0 to 3) of the ICRC, with so many bytes in front of the boundary."""


def _right(packet: CrcInput, place: int) -> int:
    return packet.right >> 8 * (place % ICRC_BYTES) & 255


def _of(other: Callable[[CrcInput], int | None]) -> Fill:
    def fill(packet: CrcInput, place: int, width: int) -> int | None:
        value = other(packet)
        return None if value is None else value >> 8 * place & 255

    return fill


def _lane_before(packet: CrcInput, place: int, width: int) -> int | None:
    at = packet.covered_end + place - width
    if at >= packet.covered_end:
        return _right(packet, place - width)
    return packet.seen.frame[at] if at >= 0 else None


_FILLS: tuple[tuple[str, Fill], ...] = (
    ("are inverted", lambda packet, place, width: _right(packet, place) ^ 255),
    ("are zeros", lambda packet, place, width: 0),
    ("are ones", lambda packet, place, width: 255),
    ("are those of the packet before", _of(lambda p: p.previous.right if p.previous else None)),
    ("are left from the packet before", _of(lambda p: p.previous.found if p.previous else None)),
    (
        "are left from the packet before on the same QP",
        _of(lambda p: p.predecessor.found if p.predecessor else None),
    ),
    ("come from a lane 1 further", lambda packet, place, width: _right(packet, place + 1)),
    ("come from a lane 2 further", lambda packet, place, width: _right(packet, place + 2)),
    ("come from a lane 3 further", lambda packet, place, width: _right(packet, place + 3)),
    ("are those of the reversed ICRC", lambda packet, place, width: _right(packet, 3 - place)),
    ("are what the lane held a beat before", _lane_before),
)


@dataclass(frozen=True)
class PartInNextBeat:
    """S66, with what stands in place of the part."""

    boundary: Boundary
    words: str
    fill: Fill
    swaps: bool = False
    """Whether the bytes of the part are in reversed order besides."""
    ids: tuple[str, ...] = ("S66",)

    @property
    def note(self) -> str:
        """Which part, and what stands there."""
        return f"the bytes of the ICRC behind the end of a beat {self.words}: {self.boundary}"

    def predict(self, packet: CrcInput) -> int | None:
        """The right bytes in front of the boundary, the others behind it."""
        front = self.boundary.front(packet)
        value = packet.right & (1 << 8 * front) - 1
        for place in range(front, ICRC_BYTES):
            source = front + ICRC_BYTES - 1 - place if self.swaps else place
            byte = self.fill(packet, source, self.boundary.width)
            if byte is None:
                return None
            value |= byte << 8 * place
        return value

    def contrasts(self, packet: CrcInput) -> bool:
        """Whether the packet's ICRC has no part behind the boundary."""
        return self.boundary.front(packet) == ICRC_BYTES

    def lacks(self, packets: Sequence[CrcInput]) -> str:
        """A right byte in front of the boundary, for what is wrong as a whole has other reasons."""
        parted = any(map(self.boundary.front, packets))
        return "" if parted else "no byte of these ICRCs lies in front of the boundary"


def parts_in_next_beat(packets: Sequence[CrcInput]) -> Iterator[PartInNextBeat]:
    """Everything that is known to stand there, on every bus that parts any of these packets."""
    for boundary in boundaries():
        if boundary.width == ICRC_BYTES and not any(map(boundary.front, packets)):
            continue
        for words, fill in _FILLS:
            yield PartInNextBeat(boundary, words, fill)
        yield PartInNextBeat(boundary, "are swapped", lambda p, place, _: _right(p, place), True)


def boundaries() -> Iterator[Boundary]:
    for width, origin, spares in product(WIDTHS, _ORIGINS, (False, True)):
        yield Boundary(width, origin, spares)


def part_boundary(wrong: Sequence[CrcInput], right: Sequence[CrcInput]) -> Boundary | None:
    """The bus on which the wrong ICRCs are wrong behind the boundary alone, and all of them cross.

    Bytes in front of it that are right bear it out, so some have to be in front.
    """
    for boundary in boundaries():
        fronts = [boundary.front(packet) for packet in wrong]
        if (
            all(front < ICRC_BYTES for front in fronts)
            and any(fronts)
            and not any(
                (packet.found ^ packet.right) & (1 << 8 * front) - 1
                for packet, front in zip(wrong, fronts, strict=True)
            )
            and not any(boundary.front(packet) < ICRC_BYTES for packet in right)
        ):
            return boundary
    return None
