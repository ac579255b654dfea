# SPDX-License-Identifier: BSD-2-Clause
"""S59: beats that the CRC took twice, left out or met as zeros, at any place in a packet."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.data_path.beats import ORIGINS, WIDTHS, Origin
from roceproof.conformance.diagnosis.icrc.parts.crc import ETHERNET
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import Engine
from roceproof.conformance.wire.framing import BTH_BYTES


class Stall(NamedTuple):
    """One way of mishandling a beat."""

    width: int
    origin: Origin
    kind: str

    def __str__(self) -> str:
        return f"a beat of {self.width} bytes{self.origin.words} {self.kind}"


_KINDS = ("is taken twice", "is left out", "of zeros is taken in between")


def all_stalls() -> Iterator[Stall]:
    return (Stall(w, origin, kind) for w in WIDTHS for origin in ORIGINS for kind in _KINDS)


def stalled(packet: CrcInput, stall: Stall) -> int | None:
    """Where in the frame the beat begins whose mishandling gives the field; None if none does.

    Every place costs a few look-ups: what the mishandling changes in the
    register there has to be the error of the field, moved back to that place.
    """
    data = packet.masked + packet.seen.body
    width = stall.width
    first = -stall.origin.lead(packet) % width
    register = ETHERNET.run(data[:first], Engine().start)
    behind = len(data) - first
    error = ETHERNET.shift(packet.found ^ packet.right, -behind)
    step = zeros = ETHERNET.shifter(width)
    for at in range(first, len(data) + 1, width):
        beat = data[at : at + width]
        after = ETHERNET.run(beat, register)
        if len(beat) < width:
            step = ETHERNET.shifter(len(beat))
        if stall.kind == "is left out":
            changed = register ^ after
            wanted = _looked_up(step, error)
        elif stall.kind == "is taken twice":
            changed, wanted = register ^ after, error
        else:
            changed, wanted = register ^ _looked_up(zeros, register), error
        if changed == wanted:
            return packet.seen.ip + at
        register, error = after, _looked_up(step, error)
    return None


def _looked_up(tables: tuple[tuple[int, ...], ...], register: int) -> int:
    a, b, c, d = tables
    return a[register & 255] ^ b[register >> 8 & 255] ^ c[register >> 16 & 255] ^ d[register >> 24]


def find_stall(wrong: Sequence[CrcInput], budget: Budget) -> Stall | None:
    """The one way that explains most of some packets."""
    for stall in all_stalls():
        places: list[int | None] = []
        for packet in wrong:
            budget.spend(packet.size // stall.width)
            places.append(stalled(packet, stall))
            if 5 * places.count(None) > len(wrong):
                break
        hits = [place for place in places if place is not None]
        if 5 * len(hits) >= 4 * len(wrong) and _are_anywhere(stall, wrong, places):
            return stall
    return None


def _are_anywhere(stall: Stall, wrong: Sequence[CrcInput], places: Sequence[int | None]) -> bool:
    """Whether whole beats are met, and not always at one distance from any part of the packet.

    A packet's first beat is at another place of its frame behind a VLAN tag.
    """
    if not any(
        place is not None and not 0 <= place - _behind_bth(packet) < len(packet.extension)
        for packet, place in zip(wrong, places, strict=True)
    ):
        return False  # it is the parser that leaves out headers, and no stall
    whole = [
        (place, place - packet.seen.ip, place - _behind_bth(packet), packet.covered_end - place)
        for packet, place in zip(wrong, places, strict=True)
        if place is not None and packet.covered_end - place >= stall.width
    ]
    return all(len({*each}) > 1 for each in zip(*whole, strict=True)) if whole else False


def _behind_bth(packet: CrcInput) -> int:
    return packet.seen.bth_at + BTH_BYTES
