# SPDX-License-Identifier: BSD-2-Clause
"""A packet taken apart into what a faulty CRC may see, skip or see too early."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from roceproof.conformance.diagnosis.observation import InExcerpt, Observation, masked_head
from roceproof.conformance.wire.framing import BTH_BYTES, ETHERNET_BYTES, ICRC_BYTES, UDP_BYTES
from roceproof.conformance.wire.opcodes import OPCODES, Family

Spans = tuple[tuple[int, int], ...]
"""Bytes of a head and the bits of each."""

_IPV4: dict[str, Spans] = {
    "tos": ((1, 0xFF),),
    "ip length": ((2, 0xFF), (3, 0xFF)),
    "id": ((4, 0xFF), (5, 0xFF)),
    "fragment": ((6, 0xFF), (7, 0xFF)),
    "ttl": ((8, 0xFF),),
    "ip checksum": ((10, 0xFF), (11, 0xFF)),
}
_IPV6: dict[str, Spans] = {
    "tos": ((0, 0x0F), (1, 0xF0)),
    "flow label": ((1, 0x0F), (2, 0xFF), (3, 0xFF)),
    "ip length": ((4, 0xFF), (5, 0xFF)),
    "ttl": ((7, 0xFF),),
}
_UDP: dict[str, Spans] = {
    "source port": ((0, 0xFF), (1, 0xFF)),
    "udp length": ((4, 0xFF), (5, 0xFF)),
    "udp checksum": ((6, 0xFF), (7, 0xFF)),
}
_BTH: dict[str, Spans] = {
    "solicited": ((1, 0x80),),
    "migreq": ((1, 0x40),),
    "pad count": ((1, 0x30),),
    "p_key": ((2, 0xFF), (3, 0xFF)),
    "bth byte 4": ((4, 0xFF),),
    "ecn bits": ((4, 0xC0),),
    "reserved bits": ((4, 0x3F),),
    "qpn": ((5, 0xFF), (6, 0xFF), (7, 0xFF)),
    "bth byte 8": ((8, 0xFF),),
    "ackreq": ((8, 0x80),),
    "psn": ((9, 0xFF), (10, 0xFF), (11, 0xFF)),
}
MASKED = ("ttl", "tos", "flow label", "ip checksum", "udp checksum", "bth byte 4")
"""The fields that the right ICRC sees as ones."""
FIELDS = tuple(dict.fromkeys((*_IPV4, *_IPV6, *_UDP, *_BTH)))


@dataclass(slots=True)
class CrcInput:
    """One sound packet with what went before it."""

    seen: Observation
    previous: CrcInput | None
    """What the station sent before, if the capture has it."""
    predecessor: CrcInput | None
    """What it sent to the same QP before."""
    original: CrcInput | None
    """The first sending of the same PSN and opcode to the same QP."""
    head: bytes
    """IP, UDP and BTH as they stand on the wire."""
    masked: bytes
    extension: bytes
    payload: bytes
    pad: bytes
    size: int
    """Bytes that the right ICRC covers."""

    @property
    def found(self) -> int:
        """What stands in the ICRC's place."""
        return self.seen.found

    @property
    def right(self) -> int:
        return self.seen.right

    @property
    def bth_at(self) -> int:
        """Where the BTH begins in the head."""
        return len(self.head) - BTH_BYTES

    @property
    def udp_at(self) -> int:
        """Where the UDP header begins in the head; the BTH, if there is none."""
        return self.bth_at if self.seen.is_v1 else self.bth_at - UDP_BYTES

    @property
    def tags(self) -> bytes:
        return self.seen.ethernet[ETHERNET_BYTES - 2 : -2]

    @property
    def covered_end(self) -> int:
        """Where the covered bytes end in the frame."""
        return self.seen.end - ICRC_BYTES

    @property
    def kind(self) -> str:
        """Which machinery of a device makes such packets."""
        row = OPCODES.get(self.seen.bth.opcode)
        if row is not None and row.family is Family.CONGESTION:
            return "CNP"
        return "response" if row is not None and row.is_response else "request"

    def spans(self, field: str) -> Spans:
        """The bytes of a field within the head; none if this packet has no such field."""
        found = (_IPV4 if self.seen.version == 4 else _IPV6).get(field)
        if found is not None:
            return found
        if field in _UDP:
            return () if self.seen.is_v1 else _moved(_UDP[field], self.udp_at)
        return _moved(_BTH[field], self.bth_at) if field in _BTH else ()


def crc_inputs(observations: Iterable[Observation]) -> list[CrcInput]:
    """The sound packets of one station, in the order of sending."""
    first: dict[tuple[bytes, int, int, int], CrcInput] = {}
    newest: dict[tuple[bytes, int], CrcInput] = {}
    previous: CrcInput | None = None
    result: list[CrcInput] = []
    for seen in observations:
        flow = seen.destination, seen.bth.dest_qpn
        if InExcerpt.AFTER_OTHERS in seen.in_excerpt:
            previous = None
        if InExcerpt.AFTER_OTHERS_OF_QP in seen.in_excerpt:
            newest.pop(flow, None)
        if seen.sound:
            key = *flow, seen.bth.psn, seen.bth.opcode
            packet = _crc_input(seen, previous, newest.get(flow), first.get(key))
            first.setdefault(key, packet)
            newest[flow] = previous = packet
            result.append(packet)
    return result


def _crc_input(
    seen: Observation,
    previous: CrcInput | None,
    predecessor: CrcInput | None,
    original: CrcInput | None,
) -> CrcInput:
    body = seen.body
    row = OPCODES.get(seen.bth.opcode)
    extension = sum(kind.SIZE for kind in row.headers) if row else 0
    extension = min(extension, len(body))
    pad = min(seen.bth.pad_count, len(body) - extension)
    end = len(body) - pad
    return CrcInput(
        seen,
        previous,
        predecessor,
        original,
        seen.head,
        bytes(masked_head(seen)),
        body[:extension],
        body[extension:end],
        body[end:],
        len(seen.head) + len(body),
    )


def ipv4_spans(field: str) -> Spans:
    """Where a field lies in a head of 20 bytes of IPv4, UDP and BTH."""
    if field in _IPV4:
        return _IPV4[field]
    return _moved(_UDP[field], 20) if field in _UDP else _moved(_BTH.get(field, ()), 28)


@cache
def _moved(spans: Spans, offset: int) -> Spans:
    return tuple((at + offset, bits) for at, bits in spans)
