# SPDX-License-Identifier: BSD-2-Clause
"""Frames between the others that are nobody's business, each to be dropped without a trace."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from roceproof.conformance.wire.framing import ETHERNET_MINIMUM
from roceproof.conformance.wire.ip import Ipv4
from roceproof.verbs.addresses import Host

_UDP, _TCP = 17, 6
Foreign = Callable[[Host, Host, Random, int], bytes]


def _ip(src: Host, dst: Host, protocol: int, body: bytes, *, mac: bytes | None = None) -> bytes:
    header = Ipv4(src.ip, dst.ip, ident=1).pack(payload_length=len(body), protocol=protocol)
    return ((mac or dst.mac) + src.mac + b"\x08\x00" + header + body).ljust(ETHERNET_MINIMUM, b"\0")


def _datagram(draw: Random, size: int, port: int) -> bytes:
    head = (0xC123).to_bytes(2, "big") + port.to_bytes(2, "big") + (8 + size).to_bytes(2, "big")
    return head + b"\0\0" + draw.randbytes(size)


FOREIGN: dict[str, Foreign] = {
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
