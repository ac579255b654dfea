# SPDX-License-Identifier: BSD-2-Clause
"""What becomes of the last beat as a whole: it comes too late, or keeps what its lanes held before.

Beside S38 to S40, where the beat is filled with zeros, or missing only if it is partial.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from roceproof.conformance.diagnosis.icrc.data_path.beats import ORIGINS, WIDTHS, Origin
from roceproof.conformance.diagnosis.icrc.parts.crc import ETHERNET, ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import Engine

_WIDEST = 64


@dataclass(frozen=True)
class LastBeatMissed:
    """S40: the result is taken before the last beat is in it."""

    width: int
    origin: Origin
    ids: tuple[str, ...] = ("S40",)

    @property
    def note(self) -> str:
        return f"a full one, too: the result is taken a beat early, {_words(self)}"

    def predict(self, packet: CrcInput) -> int | None:
        data = packet.masked + packet.seen.body
        cut = (len(data) + self.origin.lead(packet) - 1) % self.width + 1
        return ETHERNET.run(data[:-cut], Engine().start) ^ ONES


@dataclass(frozen=True)
class LanesKept:
    """S38 and S39: the lanes that the last beat leaves free are not masked, and hold old bytes."""

    width: int
    origin: Origin

    @property
    def ids(self) -> tuple[str, ...]:
        """By the width, as where the lanes are zeros."""
        return ("S39",) if self.width == _WIDEST else ("S38",)

    @property
    def note(self) -> str:
        return f"not with zeros, but with what the lanes held a beat before, {_words(self)}"

    def predict(self, packet: CrcInput) -> int | None:
        """Fill the beat up from the one before."""
        data = packet.masked + packet.seen.body
        free = -(len(data) + self.origin.lead(packet)) % self.width
        last = len(data) - (self.width - free)
        if free and last < free:
            return None
        kept = data[last - free : last] if free else b""
        return ETHERNET.run(data + kept, Engine().start) ^ ONES


def last_beats() -> Iterator[LastBeatMissed | LanesKept]:
    for width in WIDTHS:
        for origin in ORIGINS:
            yield LastBeatMissed(width, origin)
            if width > WIDTHS[0]:
                yield LanesKept(width, origin)


def _words(found: LastBeatMissed | LanesKept) -> str:
    return f"beats of {found.width} bytes{found.origin.words}"
