# SPDX-License-Identifier: BSD-2-Clause
"""Writes Ethernet frames as pcapng: one section, little endian, nanosecond stamps.

Of a record it keeps interface, time, direction, both sizes and comment. A name
that ends in .gz is compressed; the same records give the same bytes.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from struct import pack

from roceproof.conformance.capture import Record

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_COMMENT, _IF_NAME, _EPB_FLAGS, _IF_TSRESOL = 1, 2, 2, 9
_BYTE_ORDER_MAGIC, _LENGTH_UNKNOWN, _ETHERNET, _NANOSECONDS = 0x1A2B3C4D, -1, 1, 9


def write_pcapng(path: Path, records: Iterable[Record], *, comment: str = "") -> None:
    """Write a capture of the records in their order, with `comment` on the section."""
    head = pack("<IHHq", _BYTE_ORDER_MAGIC, 1, 0, _LENGTH_UNKNOWN)
    blocks = [_block(_SECTION, head, {_COMMENT: comment.encode()})]
    numbers: dict[str, int] = {}
    for record in records:
        if record.interface not in numbers:
            numbers[record.interface] = len(numbers)
            blocks.append(_interface(record.interface))
        blocks.append(_packet(numbers[record.interface], record))
    data = b"".join(blocks)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _interface(name: str) -> bytes:
    options = {_IF_NAME: name.encode(), _IF_TSRESOL: bytes([_NANOSECONDS])}
    return _block(_INTERFACE, pack("<HHI", _ETHERNET, 0, 0), options)


def _packet(number: int, record: Record) -> bytes:
    high, low = divmod(record.time_ns, 1 << 32)
    head = pack("<IIIII", number, high, low, len(record.frame), record.full_size)
    options = {_COMMENT: record.comment.encode()}
    if record.flow:
        options[_EPB_FLAGS] = pack("<I", record.flow)
    return _block(_PACKET, head + _padded(record.frame), options)


def _block(kind: int, body: bytes, options: dict[int, bytes]) -> bytes:
    """Return a block with the options that say something."""
    said = [(code, value) for code, value in options.items() if value]
    body += b"".join(pack("<HH", code, len(value)) + _padded(value) for code, value in said)
    body += bytes(4) if said else b""
    size = 12 + len(body)
    return pack("<II", kind, size) + body + pack("<I", size)


def _padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 4)
