# SPDX-License-Identifier: BSD-2-Clause
"""Wrong ICRCs that are nobody's habit: bits that changed on the way."""

from __future__ import annotations

from typing import NamedTuple

from roceproof.conformance.diagnosis.icrc.crc import locate_bit
from roceproof.conformance.diagnosis.icrc.crc_input import FIELDS, Case
from roceproof.conformance.diagnosis.icrc.hypothesis import Hypothesis, Recipe
from roceproof.conformance.wire.framing import BTH_BYTES, ICRC_BYTES


class FlippedBit(NamedTuple):
    """A bit of a frame that explains its wrong ICRC."""

    number: int
    offset: int
    """Of its byte in the frame."""
    bit: int
    part: str
    """Which field or part of the packet it belongs to."""

    def __str__(self) -> str:
        return f"frame {self.number}: byte {self.offset} bit {self.bit} ({self.part})"


def flipped_bit(case: Case, hypothesis: Hypothesis | None = None) -> FlippedBit | None:
    """The one bit that explains the difference from what the device should have sent, if any.

    That is the right ICRC, or what a hypothesis about the device predicts.
    """
    expected = case.right if hypothesis is None else hypothesis.predict(case)
    if expected is None:
        return None
    error = case.found ^ expected
    if isinstance(hypothesis, Recipe) and error.bit_count() != 1:
        if hypothesis.engine_ids:
            return None
        error = hypothesis.reordering.apply(error)
    place = locate_bit(error, len(case.head) + len(case.seen.body))
    if place is None:
        return None
    distance, bit = place
    offset = case.covered_end - 1 - distance
    if distance < 0:
        offset = case.covered_end + ICRC_BYTES + distance
    return FlippedBit(case.seen.number, offset, bit, _part(case, offset, bit))


def _part(case: Case, offset: int, bit: int) -> str:
    if offset >= case.covered_end:
        return "ICRC"
    within = offset - case.seen.ip
    for field in FIELDS:
        if any(at == within and bits >> bit & 1 for at, bits in case.spans(field)):
            return field
    if within < len(case.head):
        if within >= len(case.head) - BTH_BYTES:
            return "BTH"
        return "IP header" if within < case.udp_at else "UDP header"
    if within < len(case.head) + len(case.extension):
        return "extension header"
    pad_at = case.covered_end - len(case.pad)
    return (
        "pad"
        if offset >= pad_at
        else f"payload byte {within - len(case.head) - len(case.extension)}"
    )
