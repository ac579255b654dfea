# SPDX-License-Identifier: BSD-2-Clause
"""IPv4 and IPv6 headers as immutable values.

Lengths, protocol and checksum are read by `unpack` and derived by `pack`; the
other fields go through both ways unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

DONT_FRAGMENT = 0x4000
CE = 3
"""Congestion experienced: both low bits of TOS or traffic class (RFC 3168)."""


def checksum(data: bytes) -> int:
    """The Internet checksum; 0 over a header that holds its right checksum."""
    total: int = sum(Struct(f">{len(data) // 2}H").unpack_from(data))
    if len(data) % 2:
        total += data[-1] << 8
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


@dataclass(frozen=True, slots=True)
class Ipv4:
    """IPv4 header; `fragment` is the word of flags and fragment offset."""

    src: bytes
    dst: bytes
    tos: int = 0
    ident: int = 0
    fragment: int = DONT_FRAGMENT
    ttl: int = 64
    options: bytes = b""
    total_length: int = 0
    checksum: int = 0

    FORMAT: ClassVar[Struct] = Struct(">BBHHHBBH4s4s")

    @classmethod
    def unpack(cls, data: bytes, start: int, end: int) -> Ipv4:
        """Read the header, options included, between two offsets."""
        _, tos, total_length, ident, fragment, ttl, _, found, src, dst = cls.FORMAT.unpack_from(
            data, start
        )
        options = data[start + 20 : end]
        return cls(src, dst, tos, ident, fragment, ttl, options, total_length, found)

    def pack(self, *, payload_length: int, protocol: int) -> bytes:
        """The wire form with right lengths and checksum."""
        size = 20 + len(self.options)
        fields = (self.tos, size + payload_length, self.ident, self.fragment, self.ttl, protocol)
        first = 0x40 | size // 4
        blank = self.FORMAT.pack(first, *fields, 0, self.src, self.dst)
        found = checksum(blank + self.options)
        return self.FORMAT.pack(first, *fields, found, self.src, self.dst) + self.options


@dataclass(frozen=True, slots=True)
class Ipv6:
    """IPv6 header; extension headers never occur in RoCEv2."""

    src: bytes
    dst: bytes
    traffic_class: int = 0
    flow_label: int = 0
    hop_limit: int = 64
    payload_length: int = 0

    FORMAT: ClassVar[Struct] = Struct(">IHBB16s16s")

    @classmethod
    def unpack(cls, data: bytes, start: int) -> Ipv6:
        """Read the header at `start`."""
        first, payload_length, _, hop_limit, src, dst = cls.FORMAT.unpack_from(data, start)
        return cls(src, dst, first >> 20 & 255, first & 0xFFFFF, hop_limit, payload_length)

    def pack(self, *, payload_length: int, protocol: int) -> bytes:
        first = 6 << 28 | self.traffic_class << 20 | self.flow_label
        return self.FORMAT.pack(first, payload_length, protocol, self.hop_limit, self.src, self.dst)
