# SPDX-License-Identifier: BSD-2-Clause
"""Address resolution, from the side of the hosts that the suite plays.

A kernel resolves an address before it sends there: `answer` replies to its ARP and
neighbour solicitations. The other functions ask, announce and recognise answers. The same few
frames come up again and again: each is built or read once.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import ip_address
from struct import pack

from roceproof.conformance.wire.framing import ETHER_IPV4, ETHER_IPV6, payload_of_ethernet
from roceproof.conformance.wire.host_traffic import ETHER_ARP
from roceproof.conformance.wire.icmp import IPV4_BYTES, ethernet, icmp_frame, icmp_message
from roceproof.verbs.addresses import Host

BROADCAST = b"\xff" * 6
UNASKED = "an answer to nothing that was asked"
"""What failures say of it that are told as one."""
ALL_NODES = Host(bytes.fromhex("333300000001"), bytes.fromhex("ff02") + bytes(13) + b"\x01")
SOLICITED_NODE = bytes.fromhex("ff02") + bytes(9) + bytes.fromhex("01ff")
ARP_REQUEST, ARP_REPLY = 1, 2
ARP_QUESTION, ARP_ANSWER = (pack(">HHBBH", 1, ETHER_IPV4, 6, 4, kind) for kind in (1, 2))
ND_SOLICITATION, ND_ADVERTISEMENT = 135, 136
ND_QUESTION = (b"\x3a\xff", b"\x87\0")  # ICMPv6 from the link itself, neighbour solicitation
ND_HOPS = 255
SOURCE_LINK_ADDRESS, TARGET_LINK_ADDRESS = 1, 2
SOLICITED, OVERRIDE = 1 << 30, 1 << 29
_OF_AN_ARP_FRAME = {
    "destination": slice(0, 6),
    "source": slice(6, 12),
    "type": slice(12, 14),
    "kind and sizes": slice(14, 20),
    "operation": slice(20, 22),
    "sender mac": slice(22, 28),
    "sender ip": slice(28, 32),
    "target mac": slice(32, 38),
    "target ip": slice(38, 42),
    "padding": slice(42, None),
}


def answer(frame: bytes, neighbours: Mapping[bytes, bytes]) -> bytes | None:
    """The reply to a question after one of `neighbours` (MAC by IP), with the question's tags."""
    found = payload_of_ethernet(frame)
    if found is None:
        return None
    ether_type, at = found
    question = frame[at:]
    if ether_type == ETHER_ARP and question.startswith(ARP_QUESTION):
        ip, asker, to = question[24:28], question[14:18], question[8:14]
    elif ether_type == ETHER_IPV6 and (question[6:8], question[40:42]) == ND_QUESTION:
        if int.from_bytes(question[4:6]) > len(question) - 40:  # cut short
            return None
        ip, asker, to = question[48:64], question[8:24], frame[6:12]
        if not any(asker):  # who has no address yet wants to know whether somebody has this one
            to, asker = ALL_NODES
    else:
        return None
    if ip not in neighbours:
        return None
    untagged = _reply(Host(neighbours[ip], ip), to=to, asker=asker)
    return untagged[:12] + frame[12 : at - 2] + untagged[12:]


@lru_cache
def _reply(host: Host, *, to: bytes, asker: bytes) -> bytes:
    if len(host.ip) == IPV4_BYTES:
        return ethernet(to, host.mac, ETHER_ARP, _arp(ARP_REPLY, host, to, asker))
    told = _advertisement(host, 0 if asker == ALL_NODES.ip else SOLICITED)
    return icmp_frame(host, Host(to, asker), *told, hops=ND_HOPS)


@lru_cache
def solicit(asker: Host, ip: bytes, *, to: bytes = b"") -> bytes:
    """A question after `ip`'s MAC, to all or to this MAC. Whoever answers has learned the asker's.

    Over IPv6 it goes to the group of the address or, to a MAC, to the address itself.
    """
    if len(ip) == IPV4_BYTES:
        question = _arp(ARP_REQUEST, asker, bytes(6), ip)
        return ethernet(to or BROADCAST, asker.mac, ETHER_ARP, question)
    group = Host(b"\x33\x33\xff" + ip[-3:], SOLICITED_NODE + ip[-3:])
    question = bytes(4) + ip + _link_address(SOURCE_LINK_ADDRESS, asker.mac)
    asked = Host(to, ip) if to else group
    return icmp_frame(asker, asked, ND_SOLICITATION, question, hops=ND_HOPS)


def announce(host: Host) -> bytes:
    """Tell everyone that knows the host's address which MAC it has now."""
    if len(host.ip) == IPV4_BYTES:
        request = _arp(ARP_REQUEST, host, bytes(6), host.ip)
        return ethernet(BROADCAST, host.mac, ETHER_ARP, request)
    return icmp_frame(host, ALL_NODES, *_advertisement(host, 0), hops=ND_HOPS)


def is_question(frame: bytes, asker: Host) -> bool:
    """Whether `asker` asks by ARP for an address, or announces its own by a question."""
    found = payload_of_ethernet(frame)
    if found is None or found[0] != ETHER_ARP or frame[6:12] != asker.mac:
        return False
    return frame[found[1] :].startswith(ARP_QUESTION + asker.mac + asker.ip)


@lru_cache
def is_advertised(frame: bytes, ip: bytes) -> bool:
    """Whether the frame answers a question after `ip`."""
    found = payload_of_ethernet(frame)
    if found is not None and found[0] == ETHER_ARP:
        said = frame[found[1] :]
        return said.startswith(ARP_ANSWER) and said[14:18] == ip
    message = icmp_message(frame)
    return (
        message is not None
        and (message.ether_type, message.kind) == (ETHER_IPV6, ND_ADVERTISEMENT)
        and message.body[4:20] == ip
    )


def what_is_wrong_with_arp(frame: bytes, host: Host, asker: Host, *, through: bytes = b"") -> str:
    """The fields in which it is not what the host answers to the asker.

    It may go to the address of Ethernet that the question came `through`, too.
    """
    want = _reply(host, to=asker.mac, asker=asker.ip)
    if frame[:6] == through:
        want = through + want[6:]
    return "".join(
        f"; arp {name}: want {want[part].hex()}, got {frame[part].hex() or 'nothing'}"
        for name, part in _OF_AN_ARP_FRAME.items()
        if frame[part] != want[part]
    )


def reply_to_another(frame: bytes, askers: Iterable[Host] = ()) -> str:
    """Whom an ARP reply is for that is for none of these; empty if it is for one, or no reply."""
    found = payload_of_ethernet(frame)
    if found is None or found[0] != ETHER_ARP:
        return ""
    said = frame[found[1] :]
    mac, ip = said[18:24], said[24:28]
    if not said.startswith(ARP_ANSWER) or frame[:6] != mac:
        return ""
    is_known = any(mac == host.mac or ip == host.ip for host in askers)
    return "" if is_known else f"an ARP reply to {ip_address(ip)}"


def _arp(kind: int, sender: Host, to: bytes, target: bytes) -> bytes:
    return pack(">HHBBH", 1, ETHER_IPV4, 6, 4, kind) + sender.mac + sender.ip + to + target


def _advertisement(host: Host, flags: int) -> tuple[int, bytes]:
    body = pack(">I", flags | OVERRIDE) + host.ip + _link_address(TARGET_LINK_ADDRESS, host.mac)
    return ND_ADVERTISEMENT, body


def _link_address(option: int, mac: bytes) -> bytes:
    return bytes((option, 1)) + mac
