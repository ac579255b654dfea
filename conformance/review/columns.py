# SPDX-License-Identifier: BSD-2-Clause
"""A story as columns: a million packets in some tens of megabytes, as the page wants them.

What a row shows beyond these columns is read from its headers, which are kept compressed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import nan

from roceproof.conformance.review.caption import packet_name
from roceproof.conformance.review.flow_book import FlowBook
from roceproof.conformance.review.header_chunks import HeaderChunks
from roceproof.conformance.review.story import Flow, Frame, Kind, flow_name, kind_of
from roceproof.conformance.wire.codec import has_room
from roceproof.conformance.wire.framing import BTH_BYTES, UDP_BYTES, locate
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.opcodes import OPCODES, Position

# What a row is beside its name; the lowest two bits are the place in KINDS.
COPY, BAD_ICRC, MIDDLE, STARTS, MARKED = 4, 8, 16, 32, 64

KINDS = (Kind.REQUEST, Kind.RESPONSE, Kind.CNP, Kind.OTHER)
_REQUEST, _RESPONSE = KINDS.index(Kind.REQUEST), KINDS.index(Kind.RESPONSE)


def _flags(opcode: int) -> int:
    row = OPCODES.get(opcode)
    middle = row is not None and row.position is Position.MIDDLE
    return KINDS.index(kind_of(row)) | (MIDDLE if middle else 0)


_FLAGS = [_flags(opcode) for opcode in range(256)]
_OPENS = [code in OPCODES and bool(OPCODES[code].position & Position.FIRST) for code in range(256)]
_HEADER_BYTES = [
    sum(header.SIZE for header in OPCODES[code].headers) if code in OPCODES else 0
    for code in range(256)
]
_HAS_AETH = [code in OPCODES and OPCODES[code].headers[:1] == (Aeth,) for code in range(256)]


@dataclass(slots=True)
class Columns:
    """One entry for each packet that is drawn; `left_out` counts those beyond the bound."""

    numbers: array[int] = field(default_factory=lambda: array("I"))
    times: array[float] = field(default_factory=lambda: array("d"))
    """Nanoseconds since the first RoCE packet of the capture."""
    psns: array[float] = field(default_factory=lambda: array("d"))
    """Relative; not a number where no request tells what it is relative to."""
    flows: array[int] = field(default_factory=lambda: array("I"))
    messages: array[int] = field(default_factory=lambda: array("I"))
    """The number of the message that the packet starts, else 0."""
    names: array[int] = field(default_factory=lambda: array("H"))
    """Places in `name_table`."""
    flags: bytearray = field(default_factory=bytearray)
    headers: HeaderChunks = field(default_factory=HeaderChunks)
    name_table: list[str] = field(default_factory=list)
    flow_table: list[bytes] = field(default_factory=list)
    """Flows as `story.flow_name` writes them."""
    left_out: int = 0

    def row_of(self, number: int) -> int | None:
        """The row of a frame, if it is drawn."""
        row = bisect_left(self.numbers, number)
        return row if row < len(self.numbers) and self.numbers[row] == number else None


def gather(
    frames: Iterable[Frame],
    counterparts: Mapping[Flow, Flow],
    *,
    first: int = 1,
    last: float = float("inf"),
    most: float = float("inf"),
) -> Columns:
    """Tell the frames from `first` to `last`, at most `most` of them; the others only count."""
    columns = Columns()
    book = FlowBook()
    answers = {flow_name(flow): flow_name(other) for flow, other in counterparts.items()}
    names: dict[int, int] = {}
    drawn: dict[bytes, int] = {}
    lives = array("Q")  # of the rows that may start a message, in order
    start = None
    for frame in frames:
        data = frame.data
        layout = locate(data)
        if layout is None or not has_room(data, layout):
            continue
        if start is None:
            start = frame.time_ns
        if frame.number > last:
            break
        bth = layout.udp + UDP_BYTES
        opcode = data[bth]
        flags = _FLAGS[opcode]
        address = layout.ip + (12 if layout.version == 4 else 8)
        size = 8 if layout.version == 4 else 32
        name = data[address : address + size] + data[bth + 5 : bth + 8]
        psn = int.from_bytes(data[bth + 9 : bth + 12], "big")
        relative = nan
        life = 0
        if flags & 3 == _REQUEST:
            opens = _OPENS[opcode]
            life, _, relative, copy = book.request(book.flow(name), psn, opens=opens)
            if copy:
                flags |= COPY
            if opens:
                flags |= STARTS
        elif flags & 3 == _RESPONSE and name in answers:
            answered = book.number_of(answers[name])
            found = None if answered is None else book.response(answered, psn)
            if found is not None:
                relative = found[1]
        if frame.number < first:
            continue
        if len(columns.numbers) >= most:
            columns.left_out += 1
            continue
        what = opcode << 8
        at = bth + BTH_BYTES
        if _HAS_AETH[opcode] and len(data) > at:
            what |= data[at]
        columns.numbers.append(frame.number)
        columns.times.append(frame.time_ns - start)
        columns.psns.append(relative)
        columns.flows.append(drawn.setdefault(name, len(drawn)))
        columns.names.append(names.setdefault(what, len(names)))
        columns.flags.append(flags)
        columns.headers.add(data, at + _HEADER_BYTES[opcode], layout.end, frame.full_size)
        if flags & STARTS:
            lives.append(life)
    columns.headers.close()
    columns.flow_table = list(drawn)
    columns.name_table = [_name(what) for what in names]
    _number_messages(columns, book, lives)
    return columns


def _name(what: int) -> str:
    opcode = what >> 8
    return packet_name(opcode, what & 255 if _HAS_AETH[opcode] else None)


def _number_messages(columns: Columns, book: FlowBook, lives: array[int]) -> None:
    book.close()
    columns.messages = array("I", bytes(4 * len(columns.numbers)))
    entered = iter(lives)
    for row, flags in enumerate(columns.flags):
        if flags & STARTS:
            psn = int(columns.psns[row])
            number, begin = book.message(next(entered), psn)
            if begin == psn:
                columns.messages[row] = number
