# SPDX-License-Identifier: BSD-2-Clause
"""The block format: sections in either byte order, each with its own interfaces.

Blocks that hold no packet are stepped over, options that say nothing about a
packet's bytes, time or direction too.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from struct import Struct

from roceproof.conformance.capture.record import LINK_ETHERNET, PACKET_LIMIT, Flow, Record, Source

SECTION = bytes.fromhex("0a0d0d0a")
_MAGICS = {bytes.fromhex("1a2b3c4d"): ">", bytes.fromhex("4d3c2b1a"): "<"}
_VERSION = 1
_SECTION_BYTES = 16
_BLOCK_LIMIT = 1 << 24
_INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 1, 2, 3, 6
_OPT_COMMENT, _OPT_FLAGS = 1, 2
_OPT_IF_NAME, _OPT_IF_TSRESOL, _OPT_IF_FCSLEN, _OPT_IF_TSOFFSET = 2, 9, 13, 14
_CRC_ERROR = 1 << 24
_NANO = 10**9


class _Damage(Exception):
    """A block that contradicts itself; the text says how."""


@dataclass
class _Interface:
    name: str
    link_type: int
    snap_length: int
    ticks_per_second: int = 10**6
    offset_seconds: int = 0
    fcs_bytes: int = 0

    def nanoseconds(self, ticks: int) -> int:
        """Time since the epoch, in 64 bits."""
        since_offset = ticks * _NANO // self.ticks_per_second
        return (since_offset + self.offset_seconds * _NANO) % (1 << 64)


class _Section:
    """The structures of one section in its byte order, and its interfaces."""

    def __init__(self, sign: str, first_interface: int) -> None:
        self.first_interface = first_interface
        self.comment = ""
        self.interfaces: list[_Interface] = []
        self.block = Struct(sign + "II")
        self.u32 = Struct(sign + "I")
        self._interface = Struct(sign + "HHI")
        self._packet = Struct(sign + "IIIII")
        self._old_packet = Struct(sign + "HHIIII")
        self._option = Struct(sign + "HH")
        self._i64 = Struct(sign + "q")

    def add_interface(self, body: bytes) -> int:
        """Read an interface description; its link type."""
        if len(body) < self._interface.size:
            raise _Damage("has an interface block without room for its fields")
        link_type, _, snap_length = self._interface.unpack_from(body)
        number = self.first_interface + len(self.interfaces)
        new = _Interface(f"interface {number}", link_type, snap_length)
        for code, value in self._options(body[self._interface.size :]):
            if code == _OPT_IF_NAME:
                new.name = value.rstrip(b"\0").decode(errors="replace")
            elif code == _OPT_IF_TSRESOL and len(value) == 1:
                exponent = value[0] & 127
                new.ticks_per_second = 2**exponent if value[0] & 128 else 10**exponent
            elif code == _OPT_IF_FCSLEN and len(value) == 1:
                new.fcs_bytes = value[0]
            elif code == _OPT_IF_TSOFFSET and len(value) == self._i64.size:
                new.offset_seconds = self._i64.unpack(value)[0]
        self.interfaces.append(new)
        return new.link_type

    def describe(self, options: bytes) -> None:
        """Take over what the options of the section's header say; damage there harms nothing."""
        comments = []
        with suppress(_Damage):
            for code, value in self._options(options):
                if code == _OPT_COMMENT:
                    comments.append(value.decode(errors="replace"))
        self.comment = "\n".join(comments)

    def packet(self, kind: int, body: bytes, number: int) -> Record:
        """Read a packet block of any of the three kinds."""
        if kind == _SIMPLE_PACKET:
            return self._simple(body, number)
        head = self._packet if kind == _PACKET else self._old_packet
        if len(body) < head.size:
            raise _Damage("has a packet block without room for its fields")
        index, *_, high, low, captured, full_size = head.unpack_from(body)
        end = head.size + captured
        if captured > PACKET_LIMIT or end > len(body):
            raise _Damage(f"has a packet block that claims {captured} bytes")
        flags, comments = 0, []
        for code, value in self._options(body[end + -captured % 4 :]):
            if code == _OPT_FLAGS and len(value) == self.u32.size:
                flags = self.u32.unpack(value)[0]
            elif code == _OPT_COMMENT:
                comments.append(value.decode(errors="replace"))
        interface = self._interface_at(index)
        return Record(
            interface.name,
            interface.nanoseconds(high << 32 | low),
            Flow(flags & 3) if flags & 3 != 3 else Flow.UNKNOWN,
            body[head.size : end],
            "\n".join(comments),
            bool(flags & _CRC_ERROR),
            bytes_cut=max(0, full_size - captured),
            number=number,
            interface_index=self.first_interface + index,
            fcs_bytes=flags >> 5 & 15 or interface.fcs_bytes,
            link_type=interface.link_type,
            section=self.comment,
        )

    def _simple(self, body: bytes, number: int) -> Record:
        if len(body) < self.u32.size:
            raise _Damage("has a packet block without room for its fields")
        interface = self._interface_at(0)
        (full_size,) = self.u32.unpack_from(body)
        captured = min(full_size, interface.snap_length or full_size)
        frame = body[self.u32.size : self.u32.size + captured]
        if captured > PACKET_LIMIT or len(frame) < captured:
            raise _Damage(f"has a packet block that claims {captured} bytes")
        return Record(
            interface.name,
            0,
            Flow.UNKNOWN,
            frame,
            bytes_cut=full_size - captured,
            number=number,
            interface_index=self.first_interface,
            fcs_bytes=interface.fcs_bytes,
            link_type=interface.link_type,
            section=self.comment,
        )

    def _interface_at(self, index: int) -> _Interface:
        if index >= len(self.interfaces):
            raise _Damage(f"has a packet of interface {index}, which it does not describe,")
        return self.interfaces[index]

    def _options(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """The options of a block, up to the end mark."""
        at = 0
        while at < len(data):
            value_at = at + self._option.size
            if value_at > len(data):
                raise _Damage("has half an option at the end of a block")
            code, size = self._option.unpack_from(data, at)
            if code == 0:
                return
            at = value_at + size + -size % 4
            if at > len(data):
                raise _Damage("has an option that reaches beyond its block")
            yield code, data[value_at : value_at + size]


def read_pcapng(source: Source) -> Iterator[Record]:
    """The packets of a capture whose first block type has been taken."""
    section = _Section("<", 0)
    link_types: set[int] = set()
    kind_bytes = SECTION
    number = 0
    while kind_bytes:
        at = source.offset - len(kind_bytes)
        if kind_bytes == SECTION:
            section = _next_section(source, section, at)
        else:
            kind, body = _block(source, section, kind_bytes, at)
            try:
                if kind == _INTERFACE:
                    link_types.add(section.add_interface(body))
                elif kind in (_PACKET, _SIMPLE_PACKET, _OLD_PACKET):
                    number += 1
                    yield section.packet(kind, body, number)
            except _Damage as damage:
                raise source.damaged(str(damage), at) from damage
        kind_bytes = source.take(4)
    if link_types and LINK_ETHERNET not in link_types:
        raise source.not_ethernet(min(link_types))


def _next_section(source: Source, before: _Section, at: int) -> _Section:
    """Read a section header, which fixes the byte order of its own length, too."""
    head = source.take(8)
    sign = _MAGICS.get(head[4:8])
    if len(head) == 8 and sign is None:
        raise source.damaged("has a section header without byte-order magic", at)
    section = _Section(sign or "<", before.first_interface + len(before.interfaces))
    body = _rest(source, section, head[:4], head[4:8], at)
    if len(body) < 16 or Struct((sign or "<") + "H").unpack_from(body, 4)[0] != _VERSION:
        raise source.damaged("has a section header of an unknown version", at)
    section.describe(body[_SECTION_BYTES:])
    return section


def _block(source: Source, section: _Section, kind: bytes, at: int) -> tuple[int, bytes]:
    """Type and body of a block whose type has been taken."""
    body = _rest(source, section, source.take(4), b"", at)
    return section.u32.unpack(kind)[0], body


def _rest(source: Source, section: _Section, length: bytes, taken: bytes, at: int) -> bytes:
    """The body of a block whose type and length have been taken, and `taken` of the body."""
    if len(length) < 4:
        raise source.damaged("ends inside a block", at)
    (size,) = section.u32.unpack(length)
    if size < 12 or size % 4 or size > _BLOCK_LIMIT:
        raise source.damaged(f"has a block of {size} bytes", at)
    body = taken + source.take(max(0, size - 8 - len(taken)))
    if len(body) < size - 8:
        raise source.damaged("ends inside a block", at)
    if body[-4:] != length:
        raise source.damaged("has a block with two different lengths", at)
    return bytes(body[:-4])
