# SPDX-License-Identifier: BSD-2-Clause
"""ICMP and ICMPv6 messages in Ethernet frames.

Built and read without Scapy: every case ends with a ping, and loading Scapy takes a process
longer than most cases do.
"""

from collections.abc import Iterator
from struct import pack
from typing import NamedTuple

from roceproof.conformance.wire.framing import (
    ETHER_IPV4,
    ETHER_IPV6,
    ETHERNET_MINIMUM,
    payload_of_ethernet,
)
from roceproof.conformance.wire.ip import Ipv4, Ipv6, checksum
from roceproof.conformance.wire.notation import first_difference
from roceproof.verbs.addresses import Host

IPV4_BYTES = 4
ARP_BYTES = 28
LONGER_PAD = 64
"""Where the pad of an answer may end instead: the shortest frame, and a tag more."""
HOPS = 64
_PROTOCOL = {ETHER_IPV4: 1, ETHER_IPV6: 58}
_IPV4_HEADER, _IPV6_HEADER = 20, 40
_SHOWN, _FEW = 80, 4  # bytes of a frame
_NUMBERS = 4  # bytes of identifier and sequence number
_MAY_SAY = 0x4000  # don't fragment
_NOT_ANSWERED = "LIVE-01"


class Message(NamedTuple):
    """What an ICMP message of either family says, its checksum found right."""

    ether_type: int
    kind: int
    body: bytes
    """What follows the checksum."""


def ethernet(to: bytes, sender: bytes, ether_type: int, payload: bytes) -> bytes:
    """A frame, padded to the Ethernet minimum."""
    return (to + sender + pack(">H", ether_type) + payload).ljust(ETHERNET_MINIMUM, b"\0")


def usually_padded(frame: bytes) -> bytes:
    """With the pad of the shortest frame, zeros, in place of another that an answer may have.

    That ends the frame at 60 bytes or at 64. One that is too short, or has more, stays as it is.
    """
    found = payload_of_ethernet(frame)
    if found is None:
        return frame
    ether_type, at = found
    end = at + ARP_BYTES
    if ether_type == ETHER_IPV4:
        end = at + int.from_bytes(frame[at + 2 : at + 4])
    elif ether_type == ETHER_IPV6:
        end = at + _IPV6_HEADER + int.from_bytes(frame[at + 4 : at + 6])
    is_pad = end < len(frame) and len(frame) in (ETHERNET_MINIMUM, LONGER_PAD)
    return frame[:end].ljust(ETHERNET_MINIMUM, b"\0") if is_pad else frame


def icmp_frame(sender: Host, to: Host, kind: int, body: bytes, *, hops: int = HOPS) -> bytes:
    """A message with code 0, in the family of the addresses; `body` follows its checksum."""
    family = ETHER_IPV4 if len(to.ip) == IPV4_BYTES else ETHER_IPV6
    protocol, size = _PROTOCOL[family], 4 + len(body)
    header = (
        Ipv4(sender.ip, to.ip, ident=1, fragment=0, ttl=hops)
        if family == ETHER_IPV4
        else Ipv6(sender.ip, to.ip, hop_limit=hops)
    )
    found = checksum(_pseudo(family, sender.ip + to.ip, size) + pack(">BxH", kind, 0) + body)
    message = pack(">BxH", kind, found) + body
    packet = header.pack(payload_length=size, protocol=protocol) + message
    return ethernet(to.mac, sender.mac, family, packet)


def icmp_message(frame: bytes) -> Message | None:
    """The message in a frame, not behind IPv6 extension headers; None if there is none."""
    found = _in_frame(frame)
    if found is None:
        return None
    family, pseudo, message = found
    return None if checksum(pseudo + message) else Message(family, message[0], message[4:])


def what_is_wrong(frame: bytes, body: bytes | None) -> str:
    """With an answer that is not right: its fields against what it had to carry, or its bytes."""
    found = _in_frame(frame)
    if found is None or body is None:
        return f": {frame[:_SHOWN].hex()}"
    _, pseudo, message = found
    got = message[4:]
    differences = [told for told, _ in _wrong_in_header(frame)]
    if len(got) != len(body):
        differences.append(f"bytes behind the checksum: want {len(body)}, got {len(got)}")
    at = first_difference(body, got)
    if at < min(len(body), len(got)):
        what = (
            "identifier and sequence number"
            if at < _NUMBERS
            else f"data from byte {at - _NUMBERS} on"
        )
        differences.append(f"{what}: want {body[at:][:_FEW].hex()}, got {got[at:][:_FEW].hex()}")
    tight = max(ETHERNET_MINIMUM, frame.index(message) + len(message))
    if len(frame) != tight:
        differences.append(f"frame: want {tight} bytes, got {len(frame)}")
    want = checksum(pseudo + message[:2] + bytes(2) + body)
    if (said := int.from_bytes(message[2:4])) != want:
        differences.append(f"icmp checksum: want {want:#06x}, got {said:#06x}")
    return "; " + "; ".join(differences) if differences else f": {frame[:_SHOWN].hex()}"


def broken_rule(frame: bytes, body: bytes | None) -> str:
    """That of the IPv4 header around an answer that is right otherwise, or of answers at all."""
    message = icmp_message(frame)
    if message is None or message.body != body:
        return _NOT_ANSWERED
    return next((rule for _, rule in _wrong_in_header(frame)), _NOT_ANSWERED)


def _wrong_in_header(frame: bytes) -> Iterator[tuple[str, str]]:
    """What an IPv4 header says wrongly of itself, each with the rule for that."""
    found = payload_of_ethernet(frame)
    if found is None or found[0] != ETHER_IPV4:
        return
    packet = frame[found[1] :]
    header = packet[: 4 * (packet[0] & 15)]
    if fragment := int.from_bytes(header[6:8]) & ~_MAY_SAY:
        yield f"ip fragment: want 0x0000, got {fragment:#06x}", "IP-03"
    want, said = checksum(header[:10] + bytes(2) + header[12:]), int.from_bytes(header[10:12])
    if said != want:
        yield f"ip checksum: want {want:#06x}, got {said:#06x}", "IP-05"


def _in_frame(frame: bytes) -> tuple[int, bytes, bytes] | None:
    """IP version, pseudo header and ICMP message of a frame that has one."""
    found = payload_of_ethernet(frame)
    if found is None or found[0] not in _PROTOCOL:
        return None
    family, at = found
    packet = frame[at:]
    if family == ETHER_IPV4:
        if len(packet) < _IPV4_HEADER or packet[9] != _PROTOCOL[family]:
            return None
        addresses, start = packet[12:20], 4 * (packet[0] & 15)
        message = packet[start : int.from_bytes(packet[2:4], "big")]
    else:
        if len(packet) < _IPV6_HEADER or packet[6] != _PROTOCOL[family]:
            return None
        addresses, start = packet[8:40], _IPV6_HEADER
        message = packet[start : start + int.from_bytes(packet[4:6], "big")]
    return (family, _pseudo(family, addresses, len(message)), message) if len(message) > 3 else None


def _pseudo(family: int, addresses: bytes, size: int) -> bytes:
    if family == ETHER_IPV4:
        return b""
    return addresses + pack(">II", size, _PROTOCOL[family])
