# SPDX-License-Identifier: BSD-2-Clause
"""Frames as Scapy packets, byte for byte, with the time and direction at which they passed."""

from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import EDecimal

from roceproof.conformance.wire.framing import ETHERNET_BYTES
from roceproof.conformance.wire.scapy.registration import registered

INBOUND, OUTBOUND = 1, 2
"""`packet.direction`, seen from the device, as pcapng has it."""

_NS_PER_S = 1_000_000_000


def dissected(frame: bytes) -> Packet:
    """Any frame, whatever is wrong with it; built again it has the same bytes."""
    if len(frame) < ETHERNET_BYTES:
        return Raw(frame)
    with registered():
        return Ether(frame)


def passed(frame: bytes, *, time_ns: int, is_sent: bool, comment: str = "") -> Packet:
    """A frame that the device sent or got, as if it had been sniffed there."""
    packet = dissected(frame)
    packet.time = EDecimal(time_ns) / _NS_PER_S
    packet.direction = OUTBOUND if is_sent else INBOUND
    packet.sniffed_on = "device"
    if comment:
        packet.comment = comment.encode()
    return packet
