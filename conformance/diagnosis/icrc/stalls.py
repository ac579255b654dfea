# SPDX-License-Identifier: BSD-2-Clause
"""S59: beats that the CRC took twice, left out or met as zeros, at any place in a packet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from roceproof.conformance.diagnosis.icrc.beats import ORIGINS, WIDTHS, Origin
from roceproof.conformance.diagnosis.icrc.crc import ETHERNET, ONES
from roceproof.conformance.diagnosis.icrc.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.engine import Engine


class Stall(NamedTuple):
    """One way of mishandling a beat."""

    width: int
    origin: Origin
    kind: str

    def __str__(self) -> str:
        return f"a beat of {self.width} bytes{self.origin.words} {self.kind}"


_KINDS = ("is taken twice", "is left out", "of zeros is taken in between")


def all_stalls() -> Iterator[Stall]:
    """Every width and way."""
    return (Stall(w, origin, kind) for w in WIDTHS for origin in ORIGINS for kind in _KINDS)


def stalled(packet: CrcInput, stall: Stall) -> int | None:
    """Where in the frame the beat begins whose mishandling gives the field; None if none does."""
    data = packet.masked + packet.seen.body
    goal = packet.found ^ ONES
    register, done = Engine().start, 0
    first = -stall.origin.lead(packet) % stall.width
    for at in range(first, len(data) + 1, stall.width):
        register, done = ETHERNET.run(data[done:at], register), at
        beat = data[at : at + stall.width]
        rest = data[at + stall.width :] if stall.kind == "is left out" else data[at:]
        if stall.kind == "is left out":
            again = register
        elif stall.kind == "is taken twice":
            again = ETHERNET.run(beat, register)
        else:
            again = ETHERNET.shift(register, stall.width)
        if ETHERNET.run(rest, again) == goal:
            return packet.seen.ip + at
    return None


def find_stall(wrong: Sequence[CrcInput]) -> Stall | None:
    """The one way that explains most of some packets."""
    for stall in all_stalls():
        places = [stalled(packet, stall) for packet in wrong]
        hits = [place for place in places if place is not None]
        if len(set(hits)) > 1 and 5 * len(hits) >= 4 * len(wrong):
            return stall
    return None
