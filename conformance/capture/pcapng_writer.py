# SPDX-License-Identifier: BSD-2-Clause
"""Writes records as pcapng: one section, little endian, nanosecond stamps.

All that a record knows is kept, but for its numbers: packets and interfaces
are counted anew. Records are written as they come, and the file is there only
when all are. A name that ends in .gz is compressed; the same records give the
same bytes.
"""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import pack
from typing import BinaryIO, cast

from roceproof.common.whole_file import whole_file
from roceproof.conformance.capture.reader import Record

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_COMMENT, _IF_NAME, _EPB_FLAGS, _IF_TSRESOL = 1, 2, 2, 9
_BYTE_ORDER_MAGIC, _LENGTH_UNKNOWN, _NANOSECONDS = 0x1A2B3C4D, -1, 9
_OPTION_LIMIT = 0xFFFF
_LAST_TIME = (1 << 64) - 1
_FCS_SHIFT, _CRC_ERROR = 5, 1 << 24

Options = list[tuple[int, bytes]]


def write_pcapng(path: Path, records: Iterable[Record], *, comment: str = "") -> None:
    """Write a capture of the records in their order, with `comment` on the section."""
    with _opened(path) as file:
        head = pack("<IHHq", _BYTE_ORDER_MAGIC, 1, 0, _LENGTH_UNKNOWN)
        file.write(_block(_SECTION, head, _comments(comment)))
        numbers: dict[tuple[int, str, int], int] = {}
        for record in records:
            interface = (record.interface_index, record.interface, record.link_type)
            if interface not in numbers:
                numbers[interface] = len(numbers)
                file.write(_interface(record))
            file.write(_packet(numbers[interface], record))


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with whole_file(path) as part, part.open("wb") as plain:
        if path.suffix != ".gz":
            yield plain
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=plain, mtime=0) as packed:
            yield cast(BinaryIO, packed)


def _interface(record: Record) -> bytes:
    name = record.interface.encode()[:_OPTION_LIMIT]
    options = [(_IF_NAME, name), (_IF_TSRESOL, bytes([_NANOSECONDS]))]
    return _block(_INTERFACE, pack("<HHI", record.link_type, 0, 0), options)


def _packet(number: int, record: Record) -> bytes:
    high, low = divmod(min(record.time_ns, _LAST_TIME), 1 << 32)
    head = pack("<IIIII", number, high, low, len(record.frame), record.full_size)
    flags = record.flow | record.fcs_bytes << _FCS_SHIFT | _CRC_ERROR * record.marked_bad
    options = _comments(record.comment)
    if flags:
        options.append((_EPB_FLAGS, pack("<I", flags)))
    return _block(_PACKET, head + _padded(record.frame), options)


def _comments(text: str) -> Options:
    """One option, or several where the text is too long for one, parted at ends of lines."""
    rest = text.encode()
    options = []
    while len(rest) > _OPTION_LIMIT:
        line_end = rest.rfind(b"\n", 1, _OPTION_LIMIT)
        cut = line_end if line_end > 0 else _OPTION_LIMIT
        options.append((_COMMENT, rest[:cut]))
        rest = rest[cut:].removeprefix(b"\n")
    return [*options, (_COMMENT, rest)]


def _block(kind: int, body: bytes, options: Options) -> bytes:
    """Return a block with the options that say something."""
    said = [(code, value) for code, value in options if value]
    body += b"".join(pack("<HH", code, len(value)) + _padded(value) for code, value in said)
    body += bytes(4) if said else b""
    size = 12 + len(body)
    return pack("<II", kind, size) + body + pack("<I", size)


def _padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 4)
