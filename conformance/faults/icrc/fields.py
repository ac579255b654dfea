# SPDX-License-Identifier: BSD-2-Clause
"""The header fields that an ICRC masks, should not mask, or masks by mistake.

Each is a set of bits, given as (byte, bits) per header, because that is what a
mask in hardware is.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from roceproof.conformance.wire.framing import UDP_BYTES, Layout


class Header(Enum):
    """Where a field's bytes are counted from."""

    IPV4 = auto()
    IPV6 = auto()
    UDP = auto()
    BTH = auto()


class Bits(NamedTuple):
    """Some bits of one header byte."""

    header: Header
    byte: int
    bits: int = 0xFF


def _bytes(header: Header, *positions: int) -> tuple[Bits, ...]:
    return tuple(Bits(header, byte) for byte in positions)


class Field(Enum):
    """A field by name, with its place in each kind of packet that has it."""

    TTL = (Bits(Header.IPV4, 8),)
    HOP_LIMIT = (Bits(Header.IPV6, 7),)
    TOS = (Bits(Header.IPV4, 1),)
    TRAFFIC_CLASS = (Bits(Header.IPV6, 0, 0x0F), Bits(Header.IPV6, 1, 0xF0))
    IPV4_CHECKSUM = _bytes(Header.IPV4, 10, 11)
    FLOW_LABEL = (Bits(Header.IPV6, 1, 0x0F), *_bytes(Header.IPV6, 2, 3))
    UDP_CHECKSUM = _bytes(Header.UDP, 6, 7)
    CONGESTION = (Bits(Header.BTH, 4, 0xC0),)
    RESERVED_6 = (Bits(Header.BTH, 4, 0x3F),)
    # never masked by a right ICRC
    RESERVED_7_AND_ACK_REQ = (Bits(Header.BTH, 8),)
    FRAGMENT = _bytes(Header.IPV4, 6, 7)
    PAD_COUNT = (Bits(Header.BTH, 1, 0x30),)
    MIG_REQ = (Bits(Header.BTH, 1, 0x40),)
    SOURCE_PORT = _bytes(Header.UDP, 0, 1)
    IPV6_FIRST_SOURCE_BYTE = (Bits(Header.IPV6, 8),)


MASKED = frozenset(
    {
        Field.TTL,
        Field.HOP_LIMIT,
        Field.TOS,
        Field.TRAFFIC_CLASS,
        Field.IPV4_CHECKSUM,
        Field.FLOW_LABEL,
        Field.UDP_CHECKSUM,
        Field.CONGESTION,
        Field.RESERVED_6,
    }
)


def bits_of(field: Field, layout: Layout) -> Iterator[tuple[int, int]]:
    """(offset from the IP header, bits) of a field in one packet."""
    udp = layout.udp - layout.ip
    base = {
        (Header.IPV4 if layout.version == 4 else Header.IPV6): 0,
        Header.UDP: udp,
        Header.BTH: udp + UDP_BYTES,
    }
    for header, byte, bits in field.value:
        if header in base:
            yield base[header] + byte, bits
