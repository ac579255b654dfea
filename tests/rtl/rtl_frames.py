# SPDX-License-Identifier: BSD-2-Clause
"""Frames for the module benches, and an ICRC computed bit by bit from its definition."""

from __future__ import annotations

import json
import random
from pathlib import Path

PORT_MAC = bytes.fromhex("020000000002")
PEER_MAC = bytes.fromhex("020000000001")
PORT_IP = bytes([192, 168, 1, 2])
PEER_IP = bytes([192, 168, 1, 1])
ROCE_PORT = 4791
ACKNOWLEDGE = 0x11

VECTORS = {
    vector["name"]: bytes.fromhex(vector["frame"])
    for vector in json.loads(
        (Path(__file__).parents[2] / "conformance/vectors/icrc.json").read_text()
    )
}

# Bits that the ICRC does not cover, by byte of the IP packet.
IPV4_VARIANT = dict.fromkeys((1, 8, 10, 11, 26, 27, 32), 0xFF)
IPV6_VARIANT = dict.fromkeys((1, 2, 3, 7, 46, 47, 52), 0xFF) | {0: 0x0F}


def crc32(data: bytes) -> int:
    """CRC-32 of 802.3, one bit at a time."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0xEDB88320 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def internet_checksum(data: bytes) -> bytes:
    """One's complement of the one's complement sum of 16-bit words."""
    total = sum(int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (total ^ 0xFFFF).to_bytes(2, "big")


def l3_offset(frame: bytes) -> int:
    """Position of the IP header: 14, or 18 behind one VLAN tag."""
    return 18 if frame[12:14] == b"\x81\x00" else 14


def is_ipv6(frame: bytes) -> bool:
    """Tell by the IP header's version."""
    return frame[l3_offset(frame)] >> 4 == 6


def variant_bits(frame: bytes) -> dict[int, int]:
    """Bits of the frame that the ICRC does not cover, by position."""
    variant = IPV6_VARIANT if is_ipv6(frame) else IPV4_VARIANT
    return {l3_offset(frame) + position: bits for position, bits in variant.items()}


def icrc_offset(frame: bytes) -> int:
    """Position of the ICRC, from the UDP length."""
    udp = l3_offset(frame) + (40 if is_ipv6(frame) else 20)
    return udp + int.from_bytes(frame[udp + 4 : udp + 6], "big") - 4


def with_icrc(frame: bytes, *, masked: bool = True) -> bytes:
    """Write the right ICRC; `masked=False` writes the CRC of the bytes as they are."""
    seen = bytearray(frame)
    if masked:
        for position, bits in variant_bits(frame).items():
            seen[position] |= bits
    end = icrc_offset(frame)
    value = crc32(b"\xff" * 8 + seen[l3_offset(frame) : end])
    return frame[:end] + value.to_bytes(4, "little") + frame[end + 4 :]


def replaced(frame: bytes, position: int, value: bytes) -> bytes:
    """Overwrite bytes of a frame."""
    return frame[:position] + value + frame[position + len(value) :]


def with_ip_checksum(frame: bytes) -> bytes:
    """Make the checksum of an untagged IPv4 header right."""
    return replaced(frame, 24, internet_checksum(frame[14:24] + b"\0\0" + frame[26:34]))


def ipv4(protocol: int, payload: bytes) -> bytes:
    """Ethernet frame from the peer to the port, padded to 60 bytes."""
    header = b"\x45\x6a" + (20 + len(payload)).to_bytes(2, "big") + b"\x1a\x2b\x40\x00"
    header += bytes([63, protocol]) + b"\0\0" + PEER_IP + PORT_IP
    frame = PORT_MAC + PEER_MAC + b"\x08\x00" + header + payload
    return with_ip_checksum(frame).ljust(60, b"\0")


def roce(
    opcode: int,
    transport: bytes,
    *,
    pad_count: int = 0,
    version: int = 0,
    p_key: int = 0xFFFF,
    dest_qpn: int = 0x11,
    psn: int = 0x123456,
    source_port: int = 0xC0DE,
    udp_port: int = ROCE_PORT,
) -> bytes:
    """A RoCEv2 frame; `transport` lies between BTH and ICRC."""
    udp = source_port.to_bytes(2, "big") + udp_port.to_bytes(2, "big")
    udp += (8 + 12 + len(transport) + 4).to_bytes(2, "big") + b"\0\0"
    bth = bytes([opcode, 0x40 | pad_count << 4 | version]) + p_key.to_bytes(2, "big")
    bth += b"\0" + dest_qpn.to_bytes(3, "big") + b"\0" + psn.to_bytes(3, "big")
    return with_icrc(ipv4(17, udp + bth + transport + bytes(4)))


def random_roce(rng: random.Random, transport: int) -> bytes:
    """A RoCEv2 frame of random content."""
    return roce(rng.randrange(0x12), rng.randbytes(transport), psn=rng.getrandbits(24))


def acknowledge(
    syndrome: int = 0x1F, msn: int = 1, *, opcode: int = ACKNOWLEDGE, **fields: int
) -> bytes:
    """An RC ACKNOWLEDGE from the peer to the port."""
    return roce(opcode, bytes([syndrome]) + msn.to_bytes(3, "big"), **fields)
