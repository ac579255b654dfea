# SPDX-License-Identifier: BSD-2-Clause
"""The answer to a ping, over IPv4 and IPv6, with the request's tags."""

from collections.abc import Collection

from roceproof.conformance.wire.framing import (
    ETHER_IPV4,
    ETHER_IPV6,
    ETHERNET_MINIMUM,
    payload_of_ethernet,
)
from roceproof.conformance.wire.ip import DONT_FRAGMENT, Ipv4, Ipv6, checksum

ICMP, ICMPV6 = 1, 58
_ECHO_REQUEST, _ECHO_REPLY = 8, 0
_ECHO_REQUEST_V6, _ECHO_REPLY_V6 = 128, 129
_IPV4_BYTES, _IPV6_BYTES = 20, 40
_ECHO_BYTES = 8


def echo_reply(frame: bytes, addresses: Collection[bytes]) -> bytes | None:
    """The reply to an echo request for one of these addresses; None if the frame is none."""
    found = payload_of_ethernet(frame)
    if found is None:
        return None
    ether_type, at = found
    if ether_type == ETHER_IPV4:
        packet = _over_ipv4(frame[at:], addresses)
    elif ether_type == ETHER_IPV6:
        packet = _over_ipv6(frame[at:], addresses)
    else:
        return None
    if packet is None:
        return None
    return (frame[6:12] + frame[:6] + frame[12:at] + packet).ljust(ETHERNET_MINIMUM, b"\0")


def _over_ipv4(data: bytes, addresses: Collection[bytes]) -> bytes | None:
    if len(data) < _IPV4_BYTES or data[0] != 0x45 or data[9] != ICMP or checksum(data[:20]):
        return None
    asked = Ipv4.unpack(data, 0, _IPV4_BYTES)
    message = data[_IPV4_BYTES : asked.total_length]
    is_whole = asked.fragment & ~DONT_FRAGMENT == 0 and asked.total_length <= len(data)
    if asked.dst not in addresses or not is_whole or len(message) < _ECHO_BYTES:
        return None
    if message[0] != _ECHO_REQUEST or checksum(message):
        return None
    reply = _message(_ECHO_REPLY, message)
    return Ipv4(asked.dst, asked.src).pack(payload_length=len(reply), protocol=ICMP) + reply


def _over_ipv6(data: bytes, addresses: Collection[bytes]) -> bytes | None:
    if len(data) < _IPV6_BYTES or data[0] >> 4 != 6 or data[6] != ICMPV6:
        return None
    asked = Ipv6.unpack(data, 0)
    message = data[_IPV6_BYTES : _IPV6_BYTES + asked.payload_length]
    if asked.dst not in addresses or len(message) < max(_ECHO_BYTES, asked.payload_length):
        return None
    pseudo = asked.src + asked.dst + len(message).to_bytes(4, "big") + ICMPV6.to_bytes(4, "big")
    if message[0] != _ECHO_REQUEST_V6 or checksum(pseudo + message):
        return None
    reply = _message(_ECHO_REPLY_V6, message, pseudo)  # swapped addresses have the same sum
    return Ipv6(asked.dst, asked.src).pack(payload_length=len(reply), protocol=ICMPV6) + reply


def _message(kind: int, request: bytes, pseudo: bytes = b"") -> bytes:
    blank = bytes((kind, 0, 0, 0)) + request[4:]
    return blank[:2] + checksum(pseudo + blank).to_bytes(2, "big") + blank[4:]
