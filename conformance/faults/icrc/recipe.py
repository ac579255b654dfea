# SPDX-License-Identifier: BSD-2-Clause
"""The ICRC as a recipe whose every ingredient can be got wrong.

`Recipe()` is the right computation; a misimplementation is the same recipe with
a few ingredients replaced. Written apart from `conformance.icrc`, and in a form
that shows what is fed to which CRC, because faults are described in those terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from roceproof.conformance.faults.icrc.crc import RIGHT_CRC, Crc
from roceproof.conformance.faults.icrc.fields import MASKED, Field, bits_of
from roceproof.conformance.wire.codec import Packet, parse_at
from roceproof.conformance.wire.framing import (
    BTH_BYTES,
    ETHERNET_BYTES,
    ICRC_BYTES,
    UDP_BYTES,
    Layout,
    locate,
)

Edit = Callable[[bytearray, Layout], None]  # what the CRC sees of the header, bytes from IP on

_ONES = b"\xff"
_IPV4_BYTES = 20


class Prefix(Enum):
    """What is fed in front of the covered packet: fixed bytes, then perhaps the Ethernet header."""

    ONES = (_ONES * 8, False)
    NOTHING = (b"", False)
    ZEROS = (bytes(8), False)
    FOUR_ONES = (_ONES * 4, False)
    ETHERNET = (b"", True)
    ONES_AND_ETHERNET = (_ONES * 8, True)


class Start(Enum):
    """The first header that is fed."""

    VLAN = auto()
    IP = auto()
    UDP = auto()
    BTH = auto()


class Part(Enum):
    """What may follow the BTH in the CRC."""

    EXTENSIONS = auto()
    PAYLOAD = auto()
    PAD = auto()
    ETHERNET_PAD = auto()


class Beat(Enum):
    """How the last beat of the data path, counted from the MAC header, is fed."""

    EXACT = 1
    PADDED_TO_8 = 8
    PADDED_TO_64 = 64
    DROPPED_OF_8 = -8


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to compute the four bytes behind a packet, right by default."""

    masked: frozenset[Field] = MASKED
    fill: int = 0xFF
    ipv4_offsets: bool = False  # where the masks lie, for IPv6, too
    edits: tuple[Edit, ...] = ()
    prefix: Prefix = Prefix.ONES
    start: Start = Start.IP
    parts: frozenset[Part] = frozenset({Part.EXTENSIONS, Part.PAYLOAD, Part.PAD})
    slot: bytes = b""  # fed in place of the ICRC itself
    beat: Beat = Beat.EXACT
    swap_words: bool = False
    crc: Crc = RIGHT_CRC
    order: tuple[int, ...] = (0, 1, 2, 3)  # result bytes, least significant first
    constant: bytes | None = None
    whole_frame: bool = False

    def compute(self, frame: bytes) -> bytes:
        """The four bytes that a transmitter with this recipe appends to the packet."""
        if self.constant is not None:
            return self.constant
        layout = locate(frame)
        if layout is None or layout.fault is not None:
            raise ValueError("a recipe needs a sound RoCEv2 frame")
        fed = self._whole(frame, layout) if self.whole_frame else self._covered(frame, layout)
        value = self.crc.over(fed).to_bytes(ICRC_BYTES, "little")
        return bytes(value[i] for i in self.order)

    def apply(self, frame: bytes) -> bytes:
        """The frame with this recipe's value in the ICRC field."""
        layout = locate(frame)
        if layout is None or layout.fault is not None:
            return frame
        return frame[: layout.end - ICRC_BYTES] + self.compute(frame) + frame[layout.end :]

    @staticmethod
    def _whole(frame: bytes, layout: Layout) -> bytes:
        return frame[: layout.end - ICRC_BYTES]

    def _covered(self, frame: bytes, layout: Layout) -> bytes:
        packet = parse_at(frame, layout)
        assert packet is not None
        covered = self._head(frame, layout) + self._tail(packet)
        fed = self._front(frame, layout) + self._last_beat(covered, frame, layout) + self.slot
        return _words_swapped(fed) if self.swap_words else fed

    def _front(self, frame: bytes, layout: Layout) -> bytes:
        fixed, with_ethernet = self.prefix.value
        if with_ethernet:
            return fixed + frame[: layout.ip]
        if self.start is Start.VLAN:
            return fixed + frame[ETHERNET_BYTES - 2 : layout.ip - 2]
        return fixed

    def _head(self, frame: bytes, layout: Layout) -> bytes:
        head = bytearray(frame[layout.ip : layout.udp + UDP_BYTES + BTH_BYTES])
        for edit in self.edits:
            edit(head, layout)
        seen = layout
        if self.ipv4_offsets:
            seen = layout._replace(version=4, udp=layout.ip + _IPV4_BYTES)
        for field in self.masked:
            for at, bits in bits_of(field, seen):
                head[at] = head[at] & ~bits | self.fill & bits
        skipped = {Start.UDP: 0, Start.BTH: UDP_BYTES}.get(self.start)
        return bytes(head if skipped is None else head[layout.udp - layout.ip + skipped :])

    def _tail(self, packet: Packet) -> bytes:
        pieces = {
            Part.EXTENSIONS: b"".join(header.pack() for header in packet.extensions),
            Part.PAYLOAD: packet.payload,
            Part.PAD: packet.pad,
            Part.ETHERNET_PAD: packet.trailer,
        }
        return b"".join(piece for part, piece in pieces.items() if part in self.parts)

    def _last_beat(self, covered: bytes, frame: bytes, layout: Layout) -> bytes:
        width = abs(self.beat.value)
        over = (layout.end - ICRC_BYTES) % width
        if over == 0:
            return covered
        if self.beat is Beat.DROPPED_OF_8:
            return covered[:-over]
        return covered + bytes(width - over)


def _words_swapped(data: bytes) -> bytes:
    return b"".join(data[i : i + 4][::-1] for i in range(0, len(data), 4))
