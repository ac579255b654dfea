# SPDX-License-Identifier: BSD-2-Clause
"""The unit of a transmitter that computes the ICRC, stage by stage, each of which can be wrong.

headers -> edits -> mask -> selection of bytes -> CRC -> order of the result
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from zlib import crc32

from roceproof.conformance.faults.icrc.packet import Packet

_REVERSED = bytes(int(f"{value:08b}"[::-1], 2) for value in range(256))
_ONES = 0xFFFFFFFF


@dataclass(slots=True)
class View:
    """The packet as the unit sees it: copies that it may change."""

    packet: Packet
    ip: bytearray
    udp: bytearray
    bth: bytearray
    extension: bytes
    payload: bytes
    pad: bytes
    front: bytes = b""
    """Of the frame, what is fed between dummy bytes and IP header."""
    behind: bytes = b""
    """What is fed behind the pad."""

    @property
    def is_ipv4(self) -> bool:
        return self.packet.is_ipv4


Edit = Callable[[View], None]


def _no_edit(view: View) -> None:
    pass


def right_mask(view: View) -> dict[tuple[str, int], int]:
    """Which bits of which header bytes are replaced by ones."""
    if view.is_ipv4:
        mask = {("ip", 1): 255, ("ip", 8): 255, ("ip", 10): 255, ("ip", 11): 255}
    else:
        mask = {("ip", 0): 15, ("ip", 1): 255, ("ip", 2): 255, ("ip", 3): 255, ("ip", 7): 255}
    return mask | {("udp", 6): 255, ("udp", 7): 255, ("bth", 4): 255}


Mask = Callable[[View, dict[tuple[str, int], int]], None]


@dataclass
class IcrcUnit:
    """A healthy one, unless its stages are replaced."""

    edits: list[Edit] = field(default_factory=list)
    masks: list[Mask] = field(default_factory=list)
    fill: int = 0xFF
    prefix: bytes = b"\xff" * 8
    ethernet_first: bool = False
    covers: tuple[str, ...] = ("ip", "udp", "bth", "extension", "payload", "pad")
    tail: list[Callable[[View, bytes], bytes]] = field(default_factory=list)
    start: int = _ONES
    final: int = _ONES
    castagnoli: bool = False
    most_significant_first: bool = False
    words_swapped: bool = False
    order: tuple[int, ...] = (0, 1, 2, 3)
    bits_reversed: bool = False

    def fed(self, packet: Packet) -> bytes:
        """The bytes that enter the CRC."""
        view = View(
            packet,
            bytearray(packet.ip),
            bytearray(packet.udp),
            bytearray(packet.bth),
            packet.extension,
            packet.payload,
            packet.pad,
        )
        for edit in self.edits:
            edit(view)
        mask = right_mask(view)
        for change in self.masks:
            change(view, mask)
        headers = {"ip": view.ip, "udp": view.udp, "bth": view.bth}
        for (name, at), bits in mask.items():
            header = headers[name]
            header[at] = header[at] & ~bits | self.fill & bits
        prefix = packet.in_front if self.ethernet_first else self.prefix
        body = b"".join(bytes(getattr(view, name)) for name in self.covers)
        data = prefix + view.front + body + view.behind
        for change_tail in self.tail:
            data = change_tail(view, data)
        return data

    def register(self, data: bytes, start: int) -> int:
        """The CRC register behind some bytes."""
        if self.words_swapped:
            whole = len(data) // 4 * 4
            swapped = b"".join(data[at : at + 4][::-1] for at in range(0, whole, 4))
            data = swapped + data[whole:]
        if self.castagnoli:
            return _castagnoli(data, start)
        if self.most_significant_first:
            register = crc32(data.translate(_REVERSED), _mirrored(start) ^ _ONES) ^ _ONES
            return _mirrored(register)
        return crc32(data, start ^ _ONES) ^ _ONES

    def result(self, register: int) -> bytes:
        """The four bytes that go out."""
        value = (register ^ self.final).to_bytes(4, "little")
        if self.bits_reversed:
            value = value.translate(_REVERSED)
        return bytes(value[at] for at in self.order)

    def compute(self, packet: Packet) -> bytes:
        """The ICRC field of a packet."""
        return self.result(self.register(self.fed(packet), self.start))


def _mirrored(value: int) -> int:
    return int(f"{value:032b}"[::-1], 2)


def _castagnoli_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _castagnoli_table()


def _castagnoli(data: bytes, register: int) -> int:
    table = _TABLE
    for byte in data:
        register = table[(register ^ byte) & 255] ^ register >> 8
    return register
