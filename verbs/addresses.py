# SPDX-License-Identifier: BSD-2-Clause
"""Addresses of a host on the wire, and how people write them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from roceproof.common.errors import RoceproofError


class AddressError(RoceproofError, ValueError):
    """A text is no address of its kind; the message shows one."""


_IPV6_BYTES = 16


class Host(NamedTuple):
    """One address on the wire. `ip` has 4 or 16 bytes."""

    mac: bytes
    ip: bytes

    @property
    def is_ipv6(self) -> bool:
        """Whether the address is one of IPv6."""
        return len(self.ip) == _IPV6_BYTES

    def facing(self, peer: Host) -> Host:
        """Its own address of the peer's IP version; of IPv6 the one it has by itself."""
        return self if len(self.ip) == len(peer.ip) else Host(self.mac, link_local(self.mac))


def link_local(mac: bytes) -> bytes:
    """The IPv6 address that an interface has by itself."""
    return b"\xfe\x80" + bytes(6) + bytes((mac[0] ^ 2,)) + mac[1:3] + b"\xff\xfe" + mac[3:]


def parse_mac(text: str) -> bytes:
    try:
        mac = bytes(int(part, 16) for part in text.split(":") if len(part) == 2)
    except ValueError:
        mac = b""
    if len(mac) != 6 or len(text) != 17:
        raise AddressError(f"MAC address {text!r}: expected six hex pairs, as in 02:00:00:00:00:01")
    return mac


def parse_gid(text: str) -> bytes:
    """Sixteen bytes from an IPv6 address, or from an IPv4 address as ::ffff:a.b.c.d."""
    try:
        if ":" in text:
            return IPv6Address(text).packed
        return bytes(10) + b"\xff\xff" + IPv4Address(text).packed
    except ValueError as error:
        raise AddressError(f"address {text!r}: {error}; expected one as in 192.168.1.1") from error
