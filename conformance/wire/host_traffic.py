# SPDX-License-Identifier: BSD-2-Clause
"""What a kernel says on its own account, told apart from what a device was asked for.

RoCE frames to anyone, pause frames, and datagrams to a host that the suite plays are the
device's. All else is the host's own traffic and has a name to be counted by.
"""

from collections.abc import Container

from roceproof.conformance.wire.framing import (
    ETHER_IPV4,
    ETHER_IPV6,
    ETHER_ROCE_V1,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
    payload_of_ethernet,
)
from roceproof.conformance.wire.mac_control import ETHER_MAC_CONTROL

ETHER_ARP = 0x0806
IPV6_BYTES = 40
PROTOCOLS = {0: "MLD", 1: "ICMP", 2: "IGMP", 6: "TCP", 17: "UDP", 58: "ICMPv6"}


def host_traffic(frame: bytes, played: Container[bytes]) -> str | None:
    """The name of what this frame is, or None when it is the device's; `played` has MACs."""
    found = payload_of_ethernet(frame)
    if found is None:
        return "runt"
    ether_type, at = found
    if ether_type in (ETHER_ROCE_V1, ETHER_MAC_CONTROL):
        return None
    if ether_type == ETHER_ARP:
        return "ARP"
    if ether_type not in (ETHER_IPV4, ETHER_IPV6) or len(frame) < at + 20:
        return f"EtherType 0x{ether_type:04x}"
    version4 = ether_type == ETHER_IPV4
    protocol = frame[at + 9] if version4 else frame[at + 6]
    if protocol == IP_PROTOCOL_UDP:
        udp = at + (4 * (frame[at] & 15) if version4 else IPV6_BYTES)
        port = int.from_bytes(frame[udp + 2 : udp + 4], "big")
        if port == ROCE_UDP_PORT or frame[:6] in played:
            return None
    return PROTOCOLS.get(protocol, f"IP protocol {protocol}")
