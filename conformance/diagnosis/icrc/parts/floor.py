# SPDX-License-Identifier: BSD-2-Clause
"""How much evidence each signature takes before its name is given; below that it is a candidate.

One error of an exact value has 32 bits, and some 4,000 single faults (2^12) are tried against it:
the chance that any of them fits by accident is 2^-20. Two faults at once (2^22 combinations) take
two errors, three (2^30) take three. That holds for values that have no other simple reason. What
has one (all zeros, another packet's ICRC, right but for some bytes), what is learned from the
packets, and what recomputes no value takes more.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput


class Floor(NamedTuple):
    """What has to be seen before a signature is named."""

    errors: int
    """Wrong packets that differ in right or found value."""
    right: int = 0
    """Right packets that differ from the wrong ones in the property blamed."""
    contrast: str = ""
    """In what they differ."""


_STATIC = Floor(1)
_OTHER_BEAT = "whose last beat is of another size"

FLOORS: dict[str, Floor] = {
    "S46": Floor(3),
    "S47": Floor(3),
    "S53": Floor(3),
    "S54": Floor(3),
    "S55": Floor(3),
    "S56": Floor(3, 2, "that have other values there"),
    "S57": Floor(3, 2, _OTHER_BEAT),
    "S58": Floor(3),
    "S59": Floor(3),
    "S60": Floor(3, 2, "of the same transmitter"),
    "S61": Floor(3),
    "S62": Floor(3, 2, "that end a message"),
    "S63": Floor(3),
    "S64": Floor(3, 2, _OTHER_BEAT),
    "S65": Floor(3),
    "S66": Floor(3, 2, "whose ICRC does not cross that boundary"),
}
"""The signatures that one error is not enough for; all others have the floor of an exact value."""


def floor_of(ids: Iterable[str]) -> Floor:
    """The highest floor of several faults at once; one error for each of them at least."""
    floors = [FLOORS.get(each, _STATIC) for each in ids]
    return Floor(
        max(len(floors), *(floor.errors for floor in floors)),
        max((floor.right for floor in floors), default=0),
        next((floor.contrast for floor in floors if floor.contrast), ""),
    )


def distinct(packets: Iterable[CrcInput]) -> int:
    """How many of the packets say something of their own: copies of a packet say it once."""
    return len({(packet.right, packet.found) for packet in packets})


def shortage(ids: Collection[str], errors: int, right: int) -> str:
    """What is missing for these to be named, in words; empty if nothing is."""
    floor = floor_of(ids)
    if errors >= floor.errors and right >= floor.right:
        return ""
    needed = f"{floor.errors} different errors"
    if floor.right:
        needed += f" and {floor.right} different right packets {floor.contrast}"
    seen = f"{errors} and {right}" if floor.right else f"{errors}"
    return f"{'+'.join(ids)} takes {needed}; there are {seen}"
