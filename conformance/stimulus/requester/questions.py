# SPDX-License-Identifier: BSD-2-Clause
"""ARP and echo requests in all their forms: any header that is allowed, sums near turning over."""

from __future__ import annotations

from struct import pack

from roceproof.conformance.stimulus.requester.incarnation import payload
from roceproof.conformance.targets.ping import ECHO_REQUEST
from roceproof.conformance.wire.icmp import IPV4_BYTES, ethernet, icmp_frame
from roceproof.conformance.wire.ip import Ipv4, checksum
from roceproof.conformance.wire.neighbours import solicit
from roceproof.verbs.addresses import Host

_ETHER_IPV4, _PROTOCOL = 0x0800, 1
_BODY_AT = 14 + 20 + 4
_ONES = 0xFFFF


def arp_frame(
    asker: Host, host: Host, *, unicast: int = 0, trailer: int = 0, via: int = 0
) -> bytes:
    """A question after the host's address, to all or to itself; `trailer` bytes say nothing.

    It comes from the asker's address but for the bits of `via`, and asks for the asker itself.
    """
    frame = solicit(asker, host.ip, to=host.mac if unicast else b"")
    through = (int.from_bytes(asker.mac) ^ via).to_bytes(len(asker.mac))
    return frame[:6] + through + frame[12:] + bytes(trailer)


def echo_frame(
    asker: Host,
    host: Host,
    size: int,
    *,
    number: int = 1,
    ident: int = 1,
    tos: int = 0,
    ttl: int = 64,
    flags: int = 0,
    echo_id: int = 7,
    total: int | None = None,
    fill: int | None = None,
    trailer: int = 0,
) -> bytes:
    """A request with so many bytes, which is the number-th.

    `total` is what its ICMP checksum shall be, `flags` the IPv4 word with the fragment offset,
    `trailer` bytes behind all that lengths count.
    """
    data = payload(number, size, fill)
    if len(host.ip) != IPV4_BYTES:
        return icmp_frame(asker, host, ECHO_REQUEST[16], pack(">HH", echo_id, number) + data)
    kind = ECHO_REQUEST[IPV4_BYTES]
    found = checksum(pack(">BxHHH", kind, 0, echo_id, 0) + data)
    sequence = number if total is None else (found - total) % _ONES
    body = pack(">HH", echo_id, sequence) + data
    seal = checksum(pack(">BxH", kind, 0) + body)
    header = Ipv4(asker.ip, host.ip, tos=tos, ident=ident, fragment=flags, ttl=ttl)
    message = pack(">BxH", kind, seal) + body
    packet = header.pack(payload_length=len(message), protocol=_PROTOCOL) + message
    return ethernet(host.mac, asker.mac, _ETHER_IPV4, packet) + bytes(trailer)


def echoed(frame: bytes) -> bytes:
    """What the answer to an echo request must carry."""
    end = 14 + int.from_bytes(frame[16:18], "big")
    return frame[_BODY_AT:end] if frame[12:14] == b"\x08\x00" else frame[58:]
