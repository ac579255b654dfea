# SPDX-License-Identifier: BSD-2-Clause
"""The lengths that the IP and UDP headers of a packet say, against what it must consist of."""

from roceproof.conformance.suite.notation import Mismatch
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.framing import ETHERNET_MINIMUM
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.opcodes import OPCODES

_UDP_BYTES, _BTH_BYTES, _ICRC_BYTES, _IPV4_BYTES = 8, 12, 4, 20


def udp_length_of(pattern: Pattern) -> int:
    """What a predicted packet's UDP length must say: UDP, BTH, headers, payload, pad, ICRC."""
    headers = sum(kind.SIZE for kind in OPCODES[pattern.opcode].headers)
    payload = len(pattern.said.get("payload", b""))
    return _UDP_BYTES + _BTH_BYTES + headers + payload + -payload % 4 + _ICRC_BYTES


def wrong_lengths(packet: Packet, udp_length: int) -> list[Mismatch]:
    """Those of the two that are wrong; a UDP length that only follows the IP length is none."""
    found = []
    follows = False
    if isinstance(packet.ip, Ipv4) and packet.ip.total_length != udp_length + _IPV4_BYTES:
        found.append(_mismatch("ip_length", udp_length + _IPV4_BYTES, packet.ip.total_length))
        follows = packet.udp_length == packet.ip.total_length - _IPV4_BYTES
    if packet.udp_length != udp_length and not follows:
        found.append(_mismatch("udp_length", udp_length, packet.udp_length))
    return found


def _mismatch(name: str, want: int, got: int) -> Mismatch:
    return Mismatch(name, f"{want:#x}", f"{got:#x}")


def wrong_frame_pad(frame: bytes, packet: Packet) -> list[Mismatch]:
    """The bytes behind the ICRC, if those are more or fewer than the shortest frame needs."""
    want = max(0, ETHERNET_MINIMUM - (len(frame) - len(packet.trailer)))
    have = len(packet.trailer)
    return [] if have == want else [Mismatch("frame pad", f"{want} bytes", f"{have} bytes")]
