# SPDX-License-Identifier: BSD-2-Clause
"""Address resolution, from the side of the hosts that the suite plays.

A kernel resolves an address before it sends there: `answer` replies to its ARP and
neighbour solicitations. The other functions ask, announce and recognise answers. The same few
frames come up again and again: each is built or read once.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from functools import lru_cache

from scapy.layers.inet6 import (
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet
from scapy.utils6 import in6_getnsma, in6_getnsmac

from roceproof.conformance.wire.framing import ETHER_IPV6, ETHERNET_MINIMUM, payload_of_ethernet
from roceproof.conformance.wire.host_traffic import ETHER_ARP
from roceproof.verbs.addresses import Host

BROADCAST = b"\xff" * 6
ALL_NODES = ("33:33:00:00:00:01", "ff02::1")
IPV4_BYTES = 4
ARP_REQUEST, ARP_REPLY = 1, 2
ARP_QUESTION = bytes.fromhex("0001080006040001")  # Ethernet, IPv4, request
ND_QUESTION = (b"\x3a", b"\x87")  # next header ICMPv6, type neighbour solicitation
ND_HOPS = 255


def text(ip: bytes) -> str:
    """An address in its usual notation."""
    return socket.inet_ntop(socket.AF_INET if len(ip) == IPV4_BYTES else socket.AF_INET6, ip)


def framed(to: bytes, sender: bytes, payload: Packet) -> bytes:
    """The frame of a packet, padded to the Ethernet minimum."""
    ethernet = Ether(dst=to.hex(":"), src=sender.hex(":"))
    return bytes(ethernet / payload).ljust(ETHERNET_MINIMUM, b"\0")


def answer(frame: bytes, neighbours: Mapping[bytes, bytes]) -> bytes | None:
    """The reply to a question after one of `neighbours` (MAC by IP), with the question's tags."""
    found = payload_of_ethernet(frame)
    if found is None:
        return None
    ether_type, at = found
    question = frame[at:]
    if ether_type == ETHER_ARP and question.startswith(ARP_QUESTION):
        ip, asker = question[24:28], question[14:18]
    elif ether_type == ETHER_IPV6 and (question[6:7], question[40:41]) == ND_QUESTION:
        ip, asker = question[48:64], question[8:24]
    else:
        return None
    if ip not in neighbours:
        return None
    untagged = _reply(Host(neighbours[ip], ip), to=frame[6:12], asker=asker)
    return untagged[:12] + frame[12 : at - 2] + untagged[12:]


@lru_cache
def _reply(host: Host, *, to: bytes, asker: bytes) -> bytes:
    if len(host.ip) == IPV4_BYTES:
        return framed(to, host.mac, _arp(ARP_REPLY, host, to=to, target=asker))
    told = _advertised(host, solicited=True)
    return framed(to, host.mac, IPv6(src=text(host.ip), dst=text(asker), hlim=ND_HOPS) / told)


@lru_cache
def solicit(asker: Host, ip: bytes) -> bytes:
    """A question after `ip`'s MAC. Whoever answers has learned the asker's."""
    if len(ip) == IPV4_BYTES:
        return framed(BROADCAST, asker.mac, _arp(ARP_REQUEST, asker, to=bytes(6), target=ip))
    group = in6_getnsma(ip)
    question = ICMPv6ND_NS(tgt=text(ip)) / ICMPv6NDOptSrcLLAddr(lladdr=asker.mac.hex(":"))
    packet = IPv6(src=text(asker.ip), dst=text(group), hlim=ND_HOPS) / question
    return framed(bytes.fromhex(in6_getnsmac(group).replace(":", "")), asker.mac, packet)


def announce(host: Host) -> bytes:
    """Tell everyone that knows the host's address which MAC it has now."""
    if len(host.ip) == IPV4_BYTES:
        return framed(BROADCAST, host.mac, _arp(ARP_REQUEST, host, to=bytes(6), target=host.ip))
    mac, group = ALL_NODES
    packet = IPv6(src=text(host.ip), dst=group, hlim=ND_HOPS) / _advertised(host, solicited=False)
    return framed(bytes.fromhex(mac.replace(":", "")), host.mac, packet)


@lru_cache
def is_advertised(frame: bytes, ip: bytes) -> bool:
    """Whether the frame answers a question after `ip`."""
    packet = Ether(frame)
    if len(ip) == IPV4_BYTES:
        return ARP in packet and packet[ARP].op == ARP_REPLY and packet[ARP].psrc == text(ip)
    return ICMPv6ND_NA in packet and packet[ICMPv6ND_NA].tgt == text(ip)


def _arp(kind: int, sender: Host, *, to: bytes, target: bytes) -> Packet:
    return ARP(
        op=kind,
        hwsrc=sender.mac.hex(":"),
        psrc=text(sender.ip),
        hwdst=to.hex(":"),
        pdst=text(target),
    )


def _advertised(host: Host, *, solicited: bool) -> Packet:
    body = ICMPv6ND_NA(R=0, S=int(solicited), O=1, tgt=text(host.ip))
    return body / ICMPv6NDOptDstLLAddr(lladdr=host.mac.hex(":"))
