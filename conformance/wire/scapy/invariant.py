# SPDX-License-Identifier: BSD-2-Clause
"""The ICRC of a packet that Scapy is about to build.

The layers above BTH are built once with a placeholder for the ICRC, so that every
length is final; what is covered and what is masked is `conformance.icrc`'s affair,
except for RoCEv1, which has a GRH where RoCEv2 has IP and UDP.
"""

from zlib import crc32

from scapy.contrib import roce
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, Raw

from roceproof.conformance.wire.framing import ICRC_BYTES, UDP_BYTES, Layout
from roceproof.conformance.wire.icrc import compute_at

GRH_BYTES = 40


def icrc_of_layers(bth: Packet, transport: bytes) -> bytes | None:
    """The ICRC in wire order for bytes from BTH to pad; None below any other layer."""
    below = bth.underlayer
    if isinstance(below, roce.GRH):
        return _over_grh(_with_payload(below, type(below), transport))
    network = below.underlayer if isinstance(below, UDP) else None
    if not isinstance(network, IP | IPv6):
        return None
    packet = _with_payload(network, UDP, transport)
    udp = len(packet) - ICRC_BYTES - len(transport) - UDP_BYTES
    version = 4 if isinstance(network, IP) else 6
    return compute_at(packet, Layout(ip=0, version=version, udp=udp, end=len(packet), fault=None))


def _with_payload(top: Packet, carrier: type[Packet], transport: bytes) -> bytes:
    copy = top.copy()
    kept = copy[carrier]
    defaults = kept.overloaded_fields  # what BTH makes of fields that were left unset, as the port
    kept.remove_payload()
    kept.add_payload(Raw(transport + bytes(ICRC_BYTES)))
    kept.overloaded_fields = defaults
    return bytes(copy)


def _over_grh(packet: bytes) -> bytes:
    masked = bytearray(packet[:-ICRC_BYTES])
    masked[0] |= 0x0F  # traffic class and flow label
    masked[1:4] = b"\xff" * 3
    masked[7] = 0xFF  # hop limit
    masked[GRH_BYTES + 4] = 0xFF  # FECN, BECN and six reserved bits
    return crc32(b"\xff" * 8 + masked).to_bytes(ICRC_BYTES, "little")
