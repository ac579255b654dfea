# SPDX-License-Identifier: BSD-2-Clause
"""Masks as designs build them: a set of fields, a fill, one table of offsets or two.

Most mask faults add up. Those that change the fill (S07) or the offsets (S48)
change what another mask fault does, so each pair with one of them is a row of
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from roceproof.conformance.diagnosis.icrc.parts.crc_input import MASKED, CrcInput, Spans, ipv4_spans


@dataclass(frozen=True)
class Mask:
    """What is seen in place of which fields."""

    fields: frozenset[str] = frozenset(MASKED)
    fill: int = 0xFF
    ipv4_offsets: bool = False
    """Over IPv6, too."""
    late_hop_limit: bool = False
    """Over IPv6, the byte behind the hop limit."""

    def head(self, packet: CrcInput, head: bytearray) -> None:
        """Turn a masked head into what this mask makes of the raw one."""
        head[:] = packet.head
        for field in self.fields:
            for at, bits in self._spans(packet, field):
                head[at] = head[at] & ~bits | self.fill & bits

    def _spans(self, packet: CrcInput, field: str) -> Spans:
        if self.ipv4_offsets and packet.seen.version == 6 and not packet.seen.is_v1:
            return ipv4_spans(field)
        if self.late_hop_limit and packet.seen.version == 6 and field == "ttl":
            return ((8, 0xFF),)
        return packet.spans(field)

    def without(self, field: str) -> Mask:
        """The mask that lacks a field."""
        return replace(self, fields=self.fields - {field})

    def with_(self, field: str) -> Mask:
        """The mask that has another field."""
        return replace(self, fields=self.fields | {field})


_FAULTS: dict[str, Callable[[Mask], Mask]] = {
    "S01": lambda mask: mask.without("ttl"),
    "S02": lambda mask: mask.without("tos"),
    "S03": lambda mask: mask.without("ip checksum"),
    "S04": lambda mask: mask.without("udp checksum"),
    "S05": lambda mask: mask.without("bth byte 4"),
    "S08": lambda mask: mask.without("bth byte 4").with_("ecn bits"),
    "S09": lambda mask: mask.without("bth byte 4").with_("bth byte 8"),
    "S10": lambda mask: mask.without("flow label"),
    "S35": lambda mask: mask.with_("fragment"),
    "S49": lambda mask: replace(mask, late_hop_limit=True),
    "S50": lambda mask: mask.with_("pad count"),
    "S51": lambda mask: mask.with_("migreq"),
    "S52": lambda mask: mask.with_("source port"),
    "S07": lambda mask: replace(mask, fill=0),
    "S48": lambda mask: replace(mask, ipv4_offsets=True),
}


def mask_pairs() -> Iterator[tuple[str, Mask]]:
    """Each pair of mask faults that do not add up, by its ids."""
    for basic in ("S07", "S48"):
        for name, fault in _FAULTS.items():
            if name not in ("S07", basic):
                yield "+".join(sorted((name, basic))), fault(_FAULTS[basic](Mask()))
