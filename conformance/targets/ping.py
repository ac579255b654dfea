# SPDX-License-Identifier: BSD-2-Clause
"""Echo requests to a device's kernel, and how to know its replies.

Every case ends with one, and the same few frames come back each time: Scapy is asked once.
"""

from __future__ import annotations

from functools import lru_cache

from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Ether

from roceproof.conformance.wire.ip import checksum
from roceproof.conformance.wire.neighbours import IPV4_BYTES, framed, text
from roceproof.verbs.addresses import Host

ECHO_REPLY = 0
NUMBER = 7
ECHO_DATA = b"roceproof".ljust(48, b".")
_ICMP_BYTES = 8 + len(ECHO_DATA)


@lru_cache
def echo_request(asker: Host, host: Host) -> bytes:
    """A ping from one host to the other."""
    src, dst = text(asker.ip), text(host.ip)
    if len(host.ip) == IPV4_BYTES:
        echo = IP(src=src, dst=dst) / ICMP(id=NUMBER, seq=NUMBER) / ECHO_DATA
        return framed(host.mac, asker.mac, echo)
    echo6 = IPv6(src=src, dst=dst) / ICMPv6EchoRequest(id=NUMBER, seq=NUMBER, data=ECHO_DATA)
    return framed(host.mac, asker.mac, echo6)


@lru_cache
def is_echo_reply(frame: bytes) -> bool:
    """Whether the frame answers our ping, data and checksum and all."""
    packet = Ether(frame)
    if ICMP in packet:
        icmp, message = packet[ICMP], bytes(packet[IP].payload)[:_ICMP_BYTES]
        known = (icmp.type, icmp.id, icmp.seq) == (ECHO_REPLY, NUMBER, NUMBER)
        return known and message.endswith(ECHO_DATA) and checksum(message) == 0
    if ICMPv6EchoReply in packet:
        icmp6 = packet[ICMPv6EchoReply]
        return (icmp6.id, icmp6.seq, bytes(icmp6.data)) == (NUMBER, NUMBER, ECHO_DATA)
    return False
