# SPDX-License-Identifier: BSD-2-Clause
"""Capture files byte by byte, in either byte order, well formed unless asked otherwise."""

from __future__ import annotations

import struct
from dataclasses import dataclass

LITTLE, BIG = "<", ">"


def pcap_header(*, order: str = LITTLE, magic: int = 0xA1B2C3D4, link: int = 1) -> bytes:
    return struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, link)


def pcap_record(
    data: bytes, *, order: str = LITTLE, time: tuple[int, int] = (0, 0), full: int | None = None
) -> bytes:
    size = len(data)
    return struct.pack(f"{order}IIII", *time, size, size if full is None else full) + data


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


@dataclass(frozen=True, kw_only=True)
class Pcapng:
    """The blocks of one section in one byte order."""

    order: str = LITTLE

    def pack(self, layout: str, *values: int) -> bytes:
        return struct.pack(self.order + layout, *values)

    def block(self, kind: int, body: bytes, *, length: int | None = None) -> bytes:
        whole = len(body) + 12
        head = self.pack("II", kind, whole if length is None else length)
        return head + body + self.pack("I", whole)

    def options(self, **values: bytes) -> bytes:
        """Options by code, as in c9=b"\\x09", closed by the end-of-options one."""
        if not values:
            return b""
        rows = (
            self.pack("HH", int(name[1:]), len(value)) + padded(value)
            for name, value in values.items()
        )
        return b"".join(rows) + bytes(4)

    def section(self, *, major: int = 1, magic: int = 0x1A2B3C4D) -> bytes:
        return self.block(0x0A0D0D0A, self.pack("IHHq", magic, major, 0, -1))

    def interface(self, *, link: int = 1, snap: int = 0, **options: bytes) -> bytes:
        return self.block(1, self.pack("HHI", link, 0, snap) + self.options(**options))

    def packet(
        self,
        data: bytes,
        *,
        interface: int = 0,
        ticks: int = 0,
        full: int | None = None,
        **options: bytes,
    ) -> bytes:
        size = len(data)
        fields = (interface, ticks >> 32, ticks & 0xFFFFFFFF, size, size if full is None else full)
        return self.block(6, self.pack("IIIII", *fields) + padded(data) + self.options(**options))

    def simple_packet(self, data: bytes, *, full: int | None = None) -> bytes:
        return self.block(3, self.pack("I", len(data) if full is None else full) + padded(data))

    def obsolete_packet(self, data: bytes, *, interface: int = 0, ticks: int = 0) -> bytes:
        fields = (interface, 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
        return self.block(2, self.pack("HHIIII", *fields) + padded(data))
