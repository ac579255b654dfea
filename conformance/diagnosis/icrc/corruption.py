# SPDX-License-Identifier: BSD-2-Clause
"""Wrong ICRCs from corruption on the way, which no habit of the device explains."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from roceproof.conformance.diagnosis.icrc.history import held_nearby
from roceproof.conformance.diagnosis.icrc.hypothesis import Hypothesis, Recipe
from roceproof.conformance.diagnosis.icrc.parts.changes import CHANGES
from roceproof.conformance.diagnosis.icrc.parts.crc import locate_bit
from roceproof.conformance.diagnosis.icrc.parts.crc_input import FIELDS, CrcInput
from roceproof.conformance.wire.framing import BTH_BYTES, ICRC_BYTES
from roceproof.conformance.wire.psn import PSN_MODULUS

_ICRC = "ICRC"
_PSN = "psn"
_WRITTEN_LATE = frozenset[str]().union(*(each.touches for each in CHANGES if each.id == "S55"))
"""The fields that a stage behind the CRC may write, and in which packets that are alike differ."""


class FlippedBit(NamedTuple):
    """A bit of a frame that explains its wrong ICRC."""

    number: int
    offset: int
    """Of its byte in the frame."""
    within: int
    """Of its byte behind the first of the IP header, or GRH."""
    bit: int
    part: str
    """Which field or part of the packet it belongs to."""

    @property
    def field(self) -> str:
        """The header field or part; of payload and ICRC, where chance hits often, the very bit."""
        return (
            self.part if self.part in FIELDS else f"{self.part}, byte {self.within}, bit {self.bit}"
        )

    @property
    def may_be_written(self) -> bool:
        """Whether its field is one that a stage behind the CRC writes."""
        return self.part in _WRITTEN_LATE

    @property
    def is_of_icrc(self) -> bool:
        """Whether it is one of the ICRC itself."""
        return self.part == _ICRC

    def __str__(self) -> str:
        return f"frame {self.number}: byte {self.offset} bit {self.bit} ({self.part})"


def flipped_bit(packet: CrcInput, hypothesis: Hypothesis | None = None) -> FlippedBit | None:
    """The one bit that explains the difference from what the device should have sent, if any.

    That is the right ICRC, or what a hypothesis about the device predicts.
    """
    expected = packet.right if hypothesis is None else hypothesis.predict(packet)
    if expected is None:
        return None
    error = packet.found ^ expected
    if isinstance(hypothesis, Recipe) and error.bit_count() != 1:
        if hypothesis.engine_ids:
            return None
        error = hypothesis.reordering.apply(error)
    place = locate_bit(error, packet.size)
    if place is None:
        return None
    distance, bit = place
    offset = packet.covered_end - 1 - distance
    if distance < 0:
        offset = packet.covered_end + ICRC_BYTES + distance
    within, part = offset - packet.seen.ip, _part(packet, offset, bit)
    if part == _PSN and _follows(packet):
        return None
    return FlippedBit(packet.seen.number, offset, within, bit, part)


def _follows(packet: CrcInput) -> bool:
    """Whether its PSN is the one that is due, and so hardly changed."""
    before = packet.predecessor
    return before is not None and packet.seen.bth.psn == (before.seen.bth.psn + 1) % PSN_MODULUS


def hold_neighbours(packets: Sequence[CrcInput], flips: Iterable[FlippedBit]) -> set[int]:
    """The numbers of wrong packets that hold what a neighbour should have that is no copy of them.

    A copy is what a packet is without the bit that seems to have changed; but where that is one of
    the PSN, it is the neighbour that has this PSN.
    """
    changed = {(flip.number, flip.offset, flip.bit) for flip in flips if flip.part != _PSN}
    near = held_nearby(packets, other_qp=False, besides=changed)
    return {packet.seen.number for packet in near}


def _part(packet: CrcInput, offset: int, bit: int) -> str:
    if offset >= packet.covered_end:
        return _ICRC
    within = offset - packet.seen.ip
    for field in FIELDS:
        if any(at == within and bits >> bit & 1 for at, bits in packet.spans(field)):
            return field
    if within < len(packet.head):
        if within >= len(packet.head) - BTH_BYTES:
            return "BTH"
        return "IP header" if within < packet.udp_at else "UDP header"
    if within < len(packet.head) + len(packet.extension):
        return "extension header"
    pad_at = packet.covered_end - len(packet.pad)
    return (
        "pad"
        if offset >= pad_at
        else f"payload byte {within - len(packet.head) - len(packet.extension)}"
    )
