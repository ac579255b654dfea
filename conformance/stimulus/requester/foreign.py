# SPDX-License-Identifier: BSD-2-Clause
"""Frames between the others that are nobody's business, each to be dropped without a trace."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from roceproof.conformance.stimulus.requester.questions import echo_frame
from roceproof.conformance.wire.frame_edits import fix_ip_checksum
from roceproof.conformance.wire.framing import ETHERNET_MINIMUM
from roceproof.conformance.wire.host_traffic import ETHER_ARP
from roceproof.conformance.wire.icmp import ethernet
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.neighbours import ARP_QUESTION, BROADCAST
from roceproof.verbs.addresses import Host

_UDP, _TCP = 17, 6
Foreign = Callable[[Host, Host, Random, int], bytes]


def _ip(src: Host, dst: Host, protocol: int, body: bytes, *, mac: bytes | None = None) -> bytes:
    header = Ipv4(src.ip, dst.ip, ident=1).pack(payload_length=len(body), protocol=protocol)
    return ((mac or dst.mac) + src.mac + b"\x08\x00" + header + body).ljust(ETHERNET_MINIMUM, b"\0")


def _datagram(draw: Random, size: int, port: int) -> bytes:
    head = (0xC123).to_bytes(2, "big") + port.to_bytes(2, "big") + (8 + size).to_bytes(2, "big")
    return head + b"\0\0" + draw.randbytes(size)


def _near(value: bytes, draw: Random) -> bytes:
    """Nearly the same: one bit differs."""
    changed = bytearray(value)
    changed[draw.randrange(len(value))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _arp(src: Host, dst: Host, *, ask: bytes = ARP_QUESTION, to: bytes = BROADCAST) -> bytes:
    return ethernet(to, src.mac, ETHER_ARP, ask + src.mac + src.ip + bytes(6) + dst.ip)


def _echo(src: Host, dst: Host, size: int, *, at: int = 0, mask: int = 0) -> bytes:
    """An echo request; a byte of its IPv4 header or behind it is another, its checksum right."""
    frame = bytearray(echo_frame(src, dst, size))
    frame[_IP_AT + at] ^= mask
    if at not in _CHECKSUM:
        fix_ip_checksum(frame)
    return bytes(frame)


_IP_AT, _CHECKSUM = 14, (10, 11)
_FRAGMENT_AT, _PROTOCOL_AT, _KIND_AT, _MORE_FRAGMENTS = 6, 9, 20, 0x20
_OTHER_PROTOCOLS, _OTHER_KINDS = (0x02, 0x04, 0x08, 0x20, 0x40, 0x80), (1, 2, 4, 8, 16, 32, 64)

FOREIGN: dict[str, Foreign] = {
    "arp_near": lambda src, dst, draw, _: _arp(src, dst._replace(ip=_near(dst.ip, draw))),
    "arp_aside": lambda src, dst, draw, _: _arp(src, dst, to=_near(dst.mac, draw)),
    "arp_odd": lambda src, dst, draw, _: _arp(src, dst, ask=_near(ARP_QUESTION, draw)),
    "echo_near": lambda src, dst, draw, size: _echo(
        src, dst._replace(ip=_near(dst.ip, draw)), size
    ),
    "echo_aside": lambda src, dst, draw, size: _echo(
        src, dst._replace(mac=_near(dst.mac, draw)), size
    ),
    "echo_checksum": lambda src, dst, draw, size: _echo(
        src, dst, size, at=draw.choice(_CHECKSUM), mask=1 << draw.randrange(8)
    ),
    "echo_fragment": lambda src, dst, draw, size: _echo(
        src, dst, size, at=_FRAGMENT_AT, mask=_MORE_FRAGMENTS
    ),
    "echo_protocol": lambda src, dst, draw, size: _echo(
        src, dst, size, at=_PROTOCOL_AT, mask=draw.choice(_OTHER_PROTOCOLS)
    ),
    "echo_kind": lambda src, dst, draw, size: _echo(
        src, dst, size, at=_KIND_AT, mask=draw.choice(_OTHER_KINDS)
    ),
    "broadcast": lambda src, dst, draw, size: (
        b"\xff" * 6 + src.mac + bytes.fromhex("0806000108000604000100") + draw.randbytes(size + 20)
    ).ljust(ETHERNET_MINIMUM, b"\0"),
    "multicast": lambda src, dst, draw, size: (
        bytes.fromhex("0180c200000e") + src.mac + b"\x88\xcc" + draw.randbytes(size)
    ).ljust(ETHERNET_MINIMUM, b"\0"),
    "udp": lambda src, dst, draw, size: _ip(src, dst, _UDP, _datagram(draw, size, 4790)),
    "tcp": lambda src, dst, draw, size: _ip(src, dst, _TCP, draw.randbytes(size)),
    "roce": lambda src, dst, draw, size: _ip(src, dst, _UDP, _datagram(draw, size, 4791)),
    "other": lambda src, dst, draw, size: _ip(
        src, dst, _UDP, _datagram(draw, size, 4791), mac=bytes.fromhex("020000aabbcc")
    ),
    "vlan": lambda src, dst, draw, size: (
        dst.mac + src.mac + b"\x81\x00" + draw.randbytes(2) + b"\x08\x00" + draw.randbytes(size)
    ).ljust(ETHERNET_MINIMUM, b"\0"),
    "ipv6": lambda src, dst, draw, size: (
        dst.mac + src.mac + b"\x86\xdd\x60" + draw.randbytes(size + 40)
    ).ljust(ETHERNET_MINIMUM, b"\0"),
    "garbage": lambda src, dst, draw, size: (dst.mac + src.mac + draw.randbytes(size)).ljust(
        ETHERNET_MINIMUM, b"\0"
    ),
}
