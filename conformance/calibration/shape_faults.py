# SPDX-License-Identifier: BSD-2-Clause
"""Packets that are built wrongly: no pad, wrong lengths, opcodes out of order, reserved bits.

Each shape changes a finished packet as a wrong assembler would have built it, and
belongs to the rules of which any may be named for it.
"""

from collections.abc import Callable
from random import Random
from struct import pack, unpack
from typing import NamedTuple

from roceproof.conformance.calibration.counting_faults import COUNTING_FAULTS
from roceproof.conformance.calibration.plan import Needs
from roceproof.conformance.faults.icrc.packet import ICRC_BYTES, Packet, set_checksum, set_lengths

Shape = Callable[[Packet], None]


class ShapeFault(NamedTuple):
    """How it is drawn; the rules that name it; what it needs to show."""

    draw: Callable[[Random], Shape]
    rules: frozenset[str]
    needs: Needs = Needs()
    may_follow_icrc: bool = False
    """Whether the ICRC may be taken in front of the wrong stage as well as behind it."""
    hides: frozenset[str] = frozenset()
    """What nobody could tell behind it, and is not drawn together with it."""


def _whole(packet: Packet) -> int:
    return len(packet.udp) + len(packet.bth) + len(packet.behind_bth) + ICRC_BYTES


def _no_pad(packet: Packet) -> None:
    packet.pad = b""
    packet.bth[1] &= 0xCF
    set_lengths(packet, _whole(packet))


def _pad_bytes_missing(packet: Packet) -> None:
    packet.pad = b""
    set_lengths(packet, _whole(packet))


def _pad_not_counted(packet: Packet) -> None:
    packet.bth[1] &= 0xCF


def _rest_for_pad(packet: Packet) -> None:
    packet.bth[1] = packet.bth[1] & 0xCF | (len(packet.payload) & 3) << 4


def _udp_without_icrc(packet: Packet) -> None:
    packet.udp[4:6] = pack(">H", _whole(packet) - ICRC_BYTES)


def _ip_without_icrc(packet: Packet) -> None:
    udp = bytes(packet.udp[4:6])
    set_lengths(packet, _whole(packet) - ICRC_BYTES)
    packet.udp[4:6] = udp


def _both_without_icrc(packet: Packet) -> None:
    set_lengths(packet, _whole(packet) - ICRC_BYTES)


def _udp_as_ip(packet: Packet) -> None:
    packet.udp[4:6] = pack(">H", _whole(packet) + (20 if packet.is_ipv4 else 40))


def _lengths_swapped(packet: Packet) -> None:
    at = 2 if packet.is_ipv4 else 4
    packet.udp[4:6] = packet.udp[4:6][::-1]
    packet.ip[at : at + 2] = packet.ip[at : at + 2][::-1]
    if packet.is_ipv4:
        set_checksum(packet)


def _opcode(table: dict[int, int]) -> Shape:
    def shape(packet: Packet) -> None:
        low = packet.bth[0] & 31
        if packet.bth[0] >> 5 in (0, 1) and low in table:
            packet.bth[0] = packet.bth[0] & 0xE0 | table[low]

    return shape


def _unknown(random: Random) -> Shape:
    """Packets that open and close a message go out with an opcode that does not exist."""
    wrong = random.choice((0x15, 0x1E, 0x1F))

    def shape(packet: Packet) -> None:
        if packet.bth[0] < 0x40 and packet.bth[0] & 31 in (4, 5, 10, 11):
            packet.bth[0] = packet.bth[0] & 0xE0 | wrong

    return shape


def _bits(at: int, choices: tuple[int, ...]) -> Callable[[Random], Shape]:
    def draw(random: Random) -> Shape:
        bits = random.choice(choices)

        def shape(packet: Packet) -> None:
            if packet.bth[0] != 0x81:
                packet.bth[at] |= bits

        return shape

    return draw


def _dma_counts_pad(packet: Packet) -> None:
    if packet.bth[0] & 31 in (6, 10, 11) and len(packet.extension) >= 16:
        length = unpack(">I", packet.extension[12:16])[0]
        _set_dma(packet, length + -length % 4)


def _dma_of_one_packet(packet: Packet) -> None:
    if packet.bth[0] & 31 in (6, 10, 11):
        _set_dma(packet, len(packet.payload))


def _set_dma(packet: Packet, length: int) -> None:
    extension = packet.extension
    packet.extension = extension[:12] + pack(">I", length) + extension[16:]


def _truncated(packet: Packet) -> None:
    """The last word of a WRITE's last packet is lost on its way."""
    if packet.bth[0] & 31 in (8, 9, 10, 11) and len(packet.payload) > 8:
        packet.payload = packet.payload[: (len(packet.payload) - 1) // 4 * 4]
        packet.pad = b""
        packet.bth[1] &= 0xCF
        set_lengths(packet, _whole(packet))


def _short_middles(packet: Packet) -> None:
    if packet.bth[0] & 31 in (0, 1, 6, 7) and len(packet.payload) > 8:
        packet.payload = packet.payload[:-4]
        set_lengths(packet, _whole(packet))


def _always(shape: Shape) -> Callable[[Random], Shape]:
    return lambda random: shape


def _rules(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ORDER = _rules("OPC-01 OPC-02 OPC-03 OPC-05")
_WRITES = Needs(writes=True)
_LONG_WRITES = Needs(writes=True, long=True)
_LONG = Needs(long=True)

SHAPE_FAULTS: dict[str, ShapeFault] = {
    "never pads": ShapeFault(_always(_no_pad), _rules("PAD-01 UDP-02"), Needs(uneven=True), True),
    "pad bytes missing": ShapeFault(
        _always(_pad_bytes_missing), _rules("PAD-01 UDP-02"), Needs(uneven=True), True
    ),
    "pad not counted": ShapeFault(
        _always(_pad_not_counted), _rules("PAD-01"), Needs(uneven=True, writes=True)
    ),
    "rest for pad count": ShapeFault(
        _always(_rest_for_pad), _rules("PAD-01"), Needs(uneven=True, writes=True)
    ),
    "UDP length without ICRC": ShapeFault(_always(_udp_without_icrc), _rules("UDP-02")),
    "IP length without ICRC": ShapeFault(_always(_ip_without_icrc), _rules("IP-02 UDP-02")),
    "lengths without ICRC": ShapeFault(_always(_both_without_icrc), _rules("IP-02 UDP-02 ETH-02")),
    "UDP length is IP's": ShapeFault(_always(_udp_as_ip), _rules("UDP-02")),
    "lengths swapped": ShapeFault(_always(_lengths_swapped), _rules("IP-02 UDP-02 BTH-14")),
    "LAST as ONLY": ShapeFault(_always(_opcode({2: 4, 3: 5, 8: 10})), _ORDER | {"RETH-01"}, _LONG),
    "MIDDLE as FIRST": ShapeFault(_always(_opcode({1: 0})), _ORDER, Needs(long=True, sends=True)),
    "LAST as MIDDLE": ShapeFault(
        _always(_opcode({2: 1, 8: 7})), _ORDER | {"MTU-02", "PAD-04", "MTU-01", "RETH-02"}, _LONG
    ),
    "unknown opcode": ShapeFault(
        _unknown, _rules("BTH-01 OPC-11 OPC-12"), hides=frozenset({*COUNTING_FAULTS})
    ),
    "reserved bits of byte 4": ShapeFault(_bits(4, (0x01, 0x20, 0x80, 0x3F)), _rules("BTH-08")),
    "reserved bits of byte 8": ShapeFault(_bits(8, (0x01, 0x40, 0x7F)), _rules("PSN-19")),
    "transport version": ShapeFault(_bits(1, (1, 8, 15)), _rules("BTH-04")),
    "RETH counts the pad": ShapeFault(
        _always(_dma_counts_pad), _rules("PAD-03"), Needs(uneven=True, writes=True)
    ),
    "RETH of one packet": ShapeFault(
        _always(_dma_of_one_packet), _rules("RETH-02 MTU-07 OPC-01"), _LONG_WRITES
    ),
    "payload truncated": ShapeFault(_always(_truncated), _rules("MTU-07 RETH-02 PAD-01"), _WRITES),
    "short middles": ShapeFault(_always(_short_middles), _rules("MTU-01 MTU-02"), _LONG),
}
