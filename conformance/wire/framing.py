# SPDX-License-Identifier: BSD-2-Clause
"""Where a RoCEv2 packet lies inside an Ethernet frame.

`locate` never raises. A frame is RoCEv2 once an unfragmented UDP header with
destination port 4791 has been read directly behind IPv4 or IPv6, below any
stack of VLAN tags; every contradiction found after that point is a `Fault` of
a RoCEv2 packet, every one before it means that the frame is something else.
"""

from enum import StrEnum
from struct import Struct
from typing import NamedTuple
from zlib import crc32

ETHER_IPV4 = 0x0800
ETHER_IPV6 = 0x86DD
ETHER_ROCE_V1 = 0x8915
ETHER_VLAN = frozenset({0x8100, 0x88A8, 0x9100})
DEI = 1 << 12  # in a tag: its frame may be dropped first
GRH_BYTES = 40
IP_PROTOCOL_UDP = 17
IP_PROTOCOL_BTH = 0x1B  # in a GRH
ROCE_UDP_PORT = 4791
ETHERNET_MINIMUM = 60  # without FCS

ETHERNET_BYTES = 14
UDP_BYTES = 8
BTH_BYTES = 12
ICRC_BYTES = 4

_U16 = Struct(">H").unpack_from
_UDP = Struct(">HHH").unpack_from
_TAG = Struct(">HH")


class Fault(StrEnum):
    """Why a packet to port 4791 cannot be trusted as a whole."""

    FRAGMENT = "IPv4 fragment"
    IP_LENGTH = "IP length runs past the frame"
    UDP_LENGTH = "UDP length disagrees with IP length"
    SHORT = "too short for BTH and ICRC"
    HEADERS = "too short for the headers of its opcode"
    PAD_COUNT = "pad count exceeds the payload"


class Layout(NamedTuple):
    """Byte offsets into one frame; `end` is the byte after the ICRC.

    Version 1 is RoCEv1: `ip` is its GRH, and `udp` eight bytes before its BTH.
    """

    ip: int
    version: int
    udp: int
    end: int
    fault: Fault | None


def frame_check_sequence(frame: bytes) -> bytes:
    """The FCS of a frame, in wire order."""
    return crc32(frame).to_bytes(4, "little")


def vlan_tag(control: int | None) -> bytes:
    """The tag with this control information (802.1Q, 16 bits), as it stands in a frame; or none."""
    return b"" if control is None else _TAG.pack(0x8100, control)


def payload_of_ethernet(frame: bytes) -> tuple[int, int] | None:
    """EtherType and offset of what follows the Ethernet header and any VLAN tags."""
    size = len(frame)
    if size < ETHERNET_BYTES:
        return None
    ether_type = _U16(frame, 12)[0]
    at = ETHERNET_BYTES
    while ether_type in ETHER_VLAN:
        if size < at + 4:
            return None
        ether_type = _U16(frame, at + 2)[0]
        at += 4
    return ether_type, at


def locate(
    frame: bytes, *, port: int | None = ROCE_UDP_PORT, full_size: int | None = None
) -> Layout | None:
    """Find IP header, UDP header and end of a packet to `port` (None: any); None if not one.

    `full_size` is the length of the frame on the wire, if the capture has cut it.
    """
    link = payload_of_ethernet(frame)
    if link is None:
        return None
    ether_type, ip = link
    size = len(frame)
    fragmented = False
    if ether_type == ETHER_IPV4:
        if size < ip + 20 or frame[ip] >> 4 != 4 or frame[ip] & 15 < 5:
            return None
        version, udp = 4, ip + 4 * (frame[ip] & 15)
        flags = _U16(frame, ip + 6)[0]
        if frame[ip + 9] != IP_PROTOCOL_UDP or flags & 0x1FFF:
            return None
        fragmented = bool(flags & 0x2000)
        ip_end = ip + _U16(frame, ip + 2)[0]
    elif ether_type == ETHER_IPV6:
        if size < ip + 40 or frame[ip] >> 4 != 6 or frame[ip + 6] != IP_PROTOCOL_UDP:
            return None
        version, udp = 6, ip + 40
        ip_end = udp + _U16(frame, ip + 4)[0]
    else:
        return None
    if size < udp + UDP_BYTES:
        return None
    _, found_port, udp_length = _UDP(frame, udp)
    if port is not None and found_port != port:
        return None

    end = udp + udp_length
    fault = None
    if fragmented:
        fault = Fault.FRAGMENT
    elif ip_end > (full_size or size):
        fault = Fault.IP_LENGTH
    elif end != ip_end:
        fault = Fault.UDP_LENGTH
    elif udp_length < UDP_BYTES + BTH_BYTES + ICRC_BYTES:
        fault = Fault.SHORT
    return Layout(ip, version, udp, end, fault)


def locate_v1(frame: bytes, *, full_size: int | None = None) -> Layout | None:
    """Find GRH and end of a RoCEv1 packet; None if the frame is something else."""
    link = payload_of_ethernet(frame)
    if link is None or link[0] != ETHER_ROCE_V1:
        return None
    grh = link[1]
    bth = grh + GRH_BYTES
    if len(frame) < bth or frame[grh] >> 4 != 6 or frame[grh + 6] != IP_PROTOCOL_BTH:
        return None
    length = _U16(frame, grh + 4)[0]
    fault = None
    if bth + length > (full_size or len(frame)):
        fault = Fault.IP_LENGTH
    elif length < BTH_BYTES + ICRC_BYTES:
        fault = Fault.SHORT
    return Layout(grh, 1, bth - UDP_BYTES, bth + length, fault)
