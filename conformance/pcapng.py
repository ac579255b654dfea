# SPDX-License-Identifier: BSD-2-Clause
"""A reader of pcapng captures that keeps up with tens of thousands of frames.

Yields the packets of every section with interface, nanosecond time, direction
and comment. Blocks of other kinds are stepped over; a file that ends inside a
block, or is no pcapng at all, raises `CaptureError` at that point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from struct import Struct

from roceproof.errors import RoceproofError

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER_MAGIC = 0x1A2B3C4D
_OPT_COMMENT, _OPT_IF_NAME, _OPT_EPB_FLAGS, _OPT_IF_TSRESOL = 1, 2, 2, 9
_CRC_ERROR = 1 << 24
_NANO = 10**9


class CaptureError(RoceproofError):
    """The file cannot be read on; the message says where and why."""


class Flow(IntEnum):
    """The direction bits of a packet, as the capturing port saw it."""

    UNKNOWN = 0
    INBOUND = 1
    OUTBOUND = 2


@dataclass(frozen=True, slots=True)
class Record:
    """One captured packet."""

    interface: str
    time_ns: int
    flow: Flow
    frame: bytes
    comment: str = ""
    marked_bad: bool = False


@dataclass(frozen=True, slots=True)
class _Interface:
    name: str
    ticks_per_second: int


class _Order:
    """The structures of one section in its byte order."""

    def __init__(self, sign: str) -> None:
        self.block = Struct(sign + "II")
        self.packet = Struct(sign + "IIIII")
        self.option = Struct(sign + "HH")
        self.u32 = Struct(sign + "I")

    def options(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """The options of a block, up to its end or the end mark."""
        at = 0
        while at + self.option.size <= len(data):
            code, size = self.option.unpack_from(data, at)
            if code == 0:
                return
            at += self.option.size
            yield code, data[at : at + size]
            at += size + -size % 4


def read(path: Path) -> Iterator[Record]:
    """The packets of a capture, in file order."""
    data = path.read_bytes()
    if data[:4] != _SECTION.to_bytes(4, "big"):
        raise CaptureError(f"{path} is not a pcapng file")
    order = _Order("<")
    interfaces: list[_Interface] = []
    at = 0
    while at < len(data):
        if data[at : at + 4] == _SECTION.to_bytes(4, "big"):
            little = data[at + 8 : at + 12] == _BYTE_ORDER_MAGIC.to_bytes(4, "little")
            order = _Order("<" if little else ">")
            interfaces = []
        if at + 12 > len(data):
            raise CaptureError(f"{path} ends inside a block at byte {at}")
        kind, size = order.block.unpack_from(data, at)
        if size < 12 or size % 4:
            raise CaptureError(f"{path} has a block of {size} bytes at byte {at}")
        if at + size > len(data):
            raise CaptureError(f"{path} ends inside a block at byte {at}")
        if kind == _PACKET:
            try:
                yield _packet(order, interfaces, data[at + 8 : at + size - 4])
            except (IndexError, ValueError) as error:
                raise CaptureError(f"{path} has a broken packet block at byte {at}") from error
        elif kind == _INTERFACE:
            interfaces.append(_interface(order, len(interfaces), data[at + 16 : at + size - 4]))
        at += size


def _interface(order: _Order, number: int, options: bytes) -> _Interface:
    name = f"interface {number}"
    ticks = 10**6
    for code, value in order.options(options):
        if code == _OPT_IF_NAME:
            name = value.decode(errors="replace")
        elif code == _OPT_IF_TSRESOL and value:
            ticks = 2 ** (value[0] & 127) if value[0] & 128 else 10 ** value[0]
    return _Interface(name, ticks)


def _packet(order: _Order, interfaces: list[_Interface], body: bytes) -> Record:
    head = order.packet.size
    if len(body) < head:
        raise ValueError("no room for the packet's fixed fields")
    number, high, low, captured, _ = order.packet.unpack_from(body)
    if captured > len(body) - head:
        raise ValueError("captured length exceeds the block")
    interface = interfaces[number]
    flags, comment = 0, ""
    for code, value in order.options(body[head + captured + -captured % 4 :]):
        if code == _OPT_EPB_FLAGS and len(value) == 4:
            flags = order.u32.unpack(value)[0]
        elif code == _OPT_COMMENT:
            comment = value.decode(errors="replace")
    ticks = high << 32 | low
    return Record(
        interface.name,
        ticks * _NANO // interface.ticks_per_second,
        Flow(flags & 3) if flags & 3 != 3 else Flow.UNKNOWN,
        body[head : head + captured],
        comment,
        bool(flags & _CRC_ERROR),
    )
