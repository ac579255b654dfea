# SPDX-License-Identifier: BSD-2-Clause
"""A packet inside a transmitter: its headers in registers, before it is bytes on a wire.

A healthy `finish` fills in pad count, lengths and checksum. What a fault does to
the packet it does here, so that everything behind sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import pack
from typing import NamedTuple
from zlib import crc32

from roceproof.conformance.wire.codec import parse_at
from roceproof.conformance.wire.framing import Layout

ICRC_BYTES = 4
_IPV4, _IPV6 = 0x0800, 0x86DD
_SHORTEST = 60
_PORT = 4791


class Face(NamedTuple):
    """What all packets from one end of a queue pair to the other look like outside the BTH."""

    ethernet: bytes
    """MAC addresses."""
    tag: bytes
    source: bytes
    destination: bytes
    source_port: int
    hops: int
    traffic_class: int
    flow_label: int
    migreq: bool


@dataclass(slots=True)
class Packet:
    """One packet; `meaning` is what the sender's queue pair wants the peer to understand."""

    ethernet: bytes
    tag: bytes
    ip: bytearray
    udp: bytearray
    bth: bytearray
    extension: bytes
    payload: bytes
    pad: bytes = b""
    icrc: bytes = bytes(ICRC_BYTES)
    filler: bytes = b""
    """Behind the ICRC, if it is not the pad of Ethernet."""
    queue: int = 0
    meaning: object = None
    notes: dict[str, int] = field(default_factory=dict)
    """What happened to it inside the device."""

    @property
    def is_ipv4(self) -> bool:
        """Which kind of IP header it has."""
        return self.ip[0] >> 4 == 4

    @property
    def opcode(self) -> int:
        """The first byte of the BTH."""
        return self.bth[0]

    @property
    def in_front(self) -> bytes:
        """What stands before the IP header."""
        kind = _IPV4 if self.is_ipv4 else _IPV6
        return self.ethernet + self.tag + pack(">H", kind)

    @property
    def behind_bth(self) -> bytes:
        """Extension headers, payload and pad."""
        return self.extension + self.payload + self.pad

    def frame(self) -> bytes:
        """The bytes that leave, without the frame check sequence."""
        parts = self.ip + self.udp + self.bth + self.behind_bth + self.icrc + self.filler
        whole = self.in_front + parts
        return whole + bytes(max(0, _SHORTEST - len(whole)))


def assemble(
    face: Face, *, opcode: int, flags: int, queue: int, psn_word: int, ident: int, body: Body
) -> Packet:
    """A packet before its lengths are known; `flags` is the rest of BTH byte 1."""
    if len(face.source) == 4:
        ip = bytearray(
            pack(">BBHHHBBH", 0x45, face.traffic_class, 0, ident, 0x4000, face.hops, 17, 0)
        )
    else:
        first = 6 << 28 | face.traffic_class << 20 | face.flow_label
        ip = bytearray(pack(">IHBB", first, 0, 17, face.hops))
    ip += face.source + face.destination
    udp = bytearray(pack(">HHHH", face.source_port, _PORT, 0, 0))
    bth = bytearray(pack(">BBHII", opcode, flags | face.migreq << 6, 0xFFFF, queue, psn_word))
    packet = Packet(face.ethernet, face.tag, ip, udp, bth, body.extension, body.payload)
    packet.queue = queue
    return packet


def packet_of(frame: bytes, layout: Layout) -> Packet:
    """The packet of a sound frame, as it was inside its transmitter."""
    ip, udp, bth = layout.ip, layout.udp, layout.udp + 8
    found = parse_at(frame, layout)
    assert found is not None
    return Packet(
        frame[:12],
        frame[12 : ip - 2],
        bytearray(frame[ip:udp]),
        bytearray(frame[udp:bth]),
        bytearray(frame[bth : bth + 12]),
        b"".join(header.pack() for header in found.extensions),
        found.payload,
        found.pad,
        found.icrc,
        found.trailer,
    )


class Body(NamedTuple):
    """What stands behind the BTH."""

    extension: bytes = b""
    payload: bytes = b""


def finish(packet: Packet) -> None:
    """Pad the payload; fill in pad count, lengths and header checksum."""
    packet.pad = bytes(-len(packet.payload) % 4)
    packet.bth[1] = packet.bth[1] & 0xCF | len(packet.pad) << 4
    set_lengths(packet, len(packet.udp) + len(packet.bth) + len(packet.behind_bth) + ICRC_BYTES)


def set_lengths(packet: Packet, datagram: int) -> None:
    """Write the length of the datagram into UDP and IP headers."""
    packet.udp[4:6] = pack(">H", datagram)
    if packet.is_ipv4:
        packet.ip[2:4] = pack(">H", 20 + datagram)
        set_checksum(packet)
    else:
        packet.ip[4:6] = pack(">H", datagram)


def set_checksum(packet: Packet) -> None:
    """Write the checksum of an IPv4 header."""
    packet.ip[10:12] = bytes(2)
    total = sum(packet.ip[at] << 8 | packet.ip[at + 1] for at in range(0, 20, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    packet.ip[10:12] = pack(">H", total ^ 0xFFFF)


def right_icrc(packet: Packet) -> bytes:
    """The ICRC that the finished packet calls for."""
    ip, udp, bth = bytearray(packet.ip), bytearray(packet.udp), bytearray(packet.bth)
    if packet.is_ipv4:
        ip[1] = ip[8] = ip[10] = ip[11] = 0xFF
    else:
        ip[0:4] = b"\x6f\xff\xff\xff"
        ip[7] = 0xFF
    udp[6] = udp[7] = bth[4] = 0xFF
    return crc32(b"\xff" * 8 + ip + udp + bth + packet.behind_bth).to_bytes(4, "little")
