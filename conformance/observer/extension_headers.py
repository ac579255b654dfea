# SPDX-License-Identifier: BSD-2-Clause
"""IP-14: RoCEv2 behind IPv6 extension headers, where no receiver looks for it."""

from roceproof.conformance.wire.framing import (
    ETHER_IPV6,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
    UDP_BYTES,
    payload_of_ethernet,
)

_IPV6_BYTES = 40
_FRAGMENT, _AUTHENTICATION = 44, 51
_EXTENSIONS = (0, 43, _FRAGMENT, _AUTHENTICATION, 60, 135)
_FRAGMENT_BYTES = 8
_FRAGMENT_OFFSET = 0xFFF8


def extension_headers(frame: bytes) -> list[int]:
    """The extension headers in front of a UDP header with RoCE's port; none if there is no such."""
    link = payload_of_ethernet(frame)
    if link is None or link[0] != ETHER_IPV6:
        return []
    ip = link[1]
    if len(frame) < ip + _IPV6_BYTES or frame[ip] >> 4 != 6:
        return []
    kind, at = frame[ip + 6], ip + _IPV6_BYTES
    passed = []
    while kind in _EXTENSIONS and len(frame) >= at + _FRAGMENT_BYTES:
        passed.append(kind)
        size = _FRAGMENT_BYTES
        if kind == _FRAGMENT:
            if int.from_bytes(frame[at + 2 : at + 4], "big") & _FRAGMENT_OFFSET:
                return []
        elif kind == _AUTHENTICATION:
            size = 4 * (frame[at + 1] + 2)
        else:
            size = 8 * (frame[at + 1] + 1)
        kind, at = frame[at], at + size
    if kind != IP_PROTOCOL_UDP or len(frame) < at + UDP_BYTES:
        return []
    port = int.from_bytes(frame[at + 2 : at + 4], "big")
    return passed if port == ROCE_UDP_PORT else []
