# SPDX-License-Identifier: BSD-2-Clause
"""Frames that break rules on Ethernet, VLAN, IP, UDP and the ICRC."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

from healthy_capture import (
    PATH_MTU,
    SEND,
    Sender,
    ack,
    body,
    frames_of,
    one_send,
    one_write,
    poke,
)
from scenarios import breaks, scenario

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import build
from roceproof.conformance.wire.headers import Bth

IPV6_SEND = bytes.fromhex(
    "02000000000202000000000186dd66a123450020114020010db8000000000000"
    "00000000000120010db8000000000000000000000002c0de12b7002000000460"
    "ffff0000001380000000d0d1d2d3d4d500007ee8ee15"
)

# Ethernet, IP, UDP
scenario("ETH-02", lambda: [one_send(0)[:58]])
scenario("ETH-02", lambda: [one_send(40) + b"\0"])
scenario("ETH-04", lambda: [one_send(0)[:58] + b"\1\0"])
scenario("ETH-05", lambda: [b"\xff" * 6 + one_send()[6:]])
scenario("ETH-05", lambda: [b"\0" * 6 + one_send()[6:]])


@breaks("IP-01")
def options() -> list[bytes]:
    frame = one_send(40)
    longer = frame[:34] + bytes.fromhex("94040000") + frame[34:]
    longer = poke(longer, 16, (len(longer) - 14).to_bytes(2, "big"), seal=False)
    return [poke(longer, 14, b"\x46")]


scenario("IP-02", lambda: [poke(one_send(40), 16, (200).to_bytes(2, "big"), seal=False)])
scenario("IP-02", lambda: [poke(one_send(40), 16, (76).to_bytes(2, "big"), seal=False)])
scenario("IP-03", lambda: [poke(one_send(), 20, b"\0\0")])
scenario("IP-03", lambda: [poke(one_send(), 20, b"\x60\0", seal=False)])
scenario("IP-04 ICRC-02", lambda: [poke(one_send(), 18, b"\0\x08", seal=False)])
scenario("IP-05", lambda: [one_send()[:24] + b"\x12\x34" + one_send()[26:]])
scenario("UDP-01", lambda: [poke(one_send(), 36, b"\xb7\x12", seal=False)])
scenario("UDP-02", lambda: [poke(one_send(40), 38, (60).to_bytes(2, "big"), seal=False)])
scenario("UDP-02", lambda: [body(one_send(41), lambda b: b[:1] + b"\x40" + b[2:-3])])
scenario("UDP-02", lambda: [body(one_send(), lambda b: b[:10], seal=False)])
scenario("UDP-03", lambda: [poke(one_send(), 40, b"\x12\x34")])


@breaks("UDP-04")
def wandering_source_port() -> list[bytes]:
    first, second = Sender().message(SEND, 2 * PATH_MTU)
    return frames_of([first, replace(second, udp_sport=0xC0DF)])


# ICRC
def flipped(frame: bytes) -> bytes:
    return frame[:-1] + bytes([frame[-1] ^ 1])


def without_icrc(frame: bytes) -> bytes:
    size = len(frame) - 14 - 20 - 4
    shorter = poke(frame[:-4], 38, size.to_bytes(2, "big"), seal=False)
    return poke(shorter, 16, (20 + size).to_bytes(2, "big"), seal=False)


scenario("ICRC-01", lambda: [without_icrc(one_write(40))])
scenario("ICRC-01", lambda: [without_icrc(build(ack(1, 1))).ljust(60, b"\0")])
scenario("ICRC-01", lambda: [without_icrc(one_send(0)[:58]).ljust(60, b"\0")])
scenario("ICRC-02", lambda: [flipped(one_send())])
scenario("ICRC-03", lambda: [flipped(IPV6_SEND)])


def icrc_of(frame: bytes) -> bytes:
    return frame[-4:]


def with_icrc(frame: bytes, value: bytes) -> bytes:
    return frame[:-4] + value


@breaks("ICRC-02 ICRC-06")
def icrc_sent_backwards() -> list[bytes]:
    frame = one_send(40)
    return [with_icrc(frame, icrc_of(frame)[::-1])]


@breaks("ICRC-02 ICRC-08")
def icrc_over_the_ethernet_pad() -> list[bytes]:
    frame = one_send(0)
    covered = icrc.masked_input(frame) + frame[-2:]
    return [frame[:54] + crc32(covered).to_bytes(4, "little") + frame[-2:]]


@breaks("ICRC-02 ICRC-04")
def icrc_over_the_vlan_tag() -> list[bytes]:
    frame = tagged(one_send(40), 5)
    covered = icrc.masked_input(frame)
    value = crc32(covered[:8] + frame[12:16] + covered[8:])
    return [with_icrc(frame, value.to_bytes(4, "little"))]


@breaks("ICRC-02 ICRC-10")
def icrc_over_byte_4_of_the_bth() -> list[bytes]:
    frame = one_send(40)
    covered = bytearray(icrc.masked_input(frame))
    covered[8 + 28 + 4] = 0
    return [with_icrc(frame, crc32(covered).to_bytes(4, "little"))]


@breaks("ICRC-02 ICRC-17")
def icrc_of_the_packet_before() -> list[bytes]:
    first, second = frames_of(Sender().message(SEND, 2 * PATH_MTU))
    return [first, with_icrc(second, icrc_of(first))]


@breaks("ICRC-02 UDP-06")
def source_port_changed_behind_the_icrc() -> list[bytes]:
    frames = frames_of(Sender().message(SEND, 2 * PATH_MTU))
    return [frames[0], poke(frames[1], 34, b"\xc0\xdf", seal=False)]


scenario("ICRC-02 ICRC-18", lambda: [flipped(build(ack(1, 1)))])
scenario("ICRC-02 ICRC-22", lambda: [with_icrc(one_send(40), bytes(4))])
scenario("ICRC-02 ICRC-22", lambda: [with_icrc(one_send(40), b"\xff" * 4)])


@breaks("ICRC-02 ICRC-22")
def ethernet_crc_in_place_of_the_icrc() -> list[bytes]:
    frame = one_send(40)
    return [with_icrc(frame, crc32(frame[:-4]).to_bytes(4, "little"))]


# VLAN
def tagged(frame: bytes, tag: int, tpid: int = 0x8100) -> bytes:
    return frame[:12] + tpid.to_bytes(2, "big") + tag.to_bytes(2, "big") + frame[12:]


scenario("VLAN-04", lambda: [tagged(tagged(one_send(40), 5), 6, 0x88A8)])
scenario("VLAN-04", lambda: [tagged(one_send(40), 5 | 1 << 12)])


@breaks("VLAN-02")
def tag_changes() -> list[bytes]:
    first, second = frames_of(Sender().message(SEND, 2 * PATH_MTU))
    return [tagged(first, 5), tagged(second, 6)]


# IP and UDP
scenario("IP-06", lambda: [poke(one_send(40), 22, b"\0")])


@breaks("IP-07")
def dscp_changes() -> list[bytes]:
    first, second = frames_of(Sender().message(SEND, 2 * PATH_MTU))
    return [first, poke(second, 15, b"\0")]


def extended(kind: int, header: bytes) -> list[bytes]:
    """A SEND with one IPv6 extension header of eight bytes in front of UDP."""
    ipv6 = IPV6_SEND
    length = int.from_bytes(ipv6[18:20], "big") + 8
    return [
        ipv6[:18] + length.to_bytes(2, "big") + bytes([kind]) + ipv6[21:54] + header + ipv6[54:]
    ]


scenario("IP-14", lambda: extended(60, b"\x11\0\1\4\0\0\0\0"))
scenario("IP-14", lambda: extended(44, b"\x11\0\0\1\0\0\0\0"))
scenario("", lambda: extended(44, b"\x11\0\1\0\0\0\0\0"))


scenario("UDP-05", lambda: [build(replace(Sender().message(SEND, 4)[0], udp_sport=0x1234))])


# RoCEv1
def version_1(payload: bytes = b"abcd", *, value: bytes | None = None) -> bytes:
    """A SEND ONLY behind a GRH."""
    bth = Bth(0x04, 0x11, 5).pack()
    length = len(bth) + len(payload) + 4
    addresses = bytes(15) + b"\1" + bytes(15) + b"\2"
    grh = b"\x60\0\0\0" + length.to_bytes(2, "big") + b"\x1b\x40" + addresses
    masked = b"\x6f\xff\xff\xff" + grh[4:7] + b"\xff" + grh[8:]
    covered = b"\xff" * 8 + masked + bth[:4] + b"\xff" + bth[5:] + payload
    seal = crc32(covered).to_bytes(4, "little") if value is None else value
    return bytes.fromhex("020000000002020000000001 8915") + grh + bth + payload + seal


scenario("", lambda: [version_1()])
scenario("ICRC-05", lambda: [version_1(value=b"1234")])
scenario("IP-02", lambda: [version_1(b"abc")])
scenario("IP-02", lambda: [version_1()[:-1]])
scenario("ETH-01", lambda: [one_send(40)[:12] + b"\x89\x15" + one_send(40)[14:]])
