# SPDX-License-Identifier: BSD-2-Clause
"""The RoCEv2 codec: frames to packets and packets to frames.

`parse` is tolerant: faults become values of the packet, and only a frame that
is not RoCEv2 at all, or has no room for BTH and ICRC, gives none. `build`
derives all that follows from the rest: lengths, checksum, pad count, ICRC and
both pads. So for any frame that a correct sender made, build(parse(f)) == f.
"""

from dataclasses import dataclass, replace
from struct import Struct
from typing import TypeVar

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import (
    BTH_BYTES,
    ETHER_IPV4,
    ETHER_IPV6,
    ETHERNET_MINIMUM,
    ICRC_BYTES,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
    UDP_BYTES,
    Fault,
    Layout,
    locate,
)
from roceproof.conformance.wire.headers import Aeth, Bth, Extension, ImmDt, Reth
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.conformance.wire.opcodes import OPCODES

_UDP = Struct(">HHHH")
_E = TypeVar("_E", bound=Extension)


@dataclass(frozen=True, slots=True)
class Packet:
    """One RoCEv2 packet. The fields after `payload` are read by parse and derived by build."""

    dst_mac: bytes
    src_mac: bytes
    ip: Ipv4 | Ipv6
    udp_sport: int
    bth: Bth
    extensions: tuple[Extension, ...] = ()
    payload: bytes = b""
    vlans: bytes = b""  # the tags as they stand, four bytes each, EtherType first
    udp_length: int = 0
    udp_checksum: int = 0
    pad: bytes = b""
    icrc: bytes = b""
    trailer: bytes = b""
    fault: Fault | None = None

    def extension(self, kind: type[_E]) -> _E | None:
        for header in self.extensions:
            if isinstance(header, kind):
                return header
        return None

    @property
    def reth(self) -> Reth | None:
        return self.extension(Reth)

    @property
    def aeth(self) -> Aeth | None:
        return self.extension(Aeth)

    @property
    def immediate(self) -> int | None:
        header = self.extension(ImmDt)
        return header.value if header else None


def parse(frame: bytes) -> Packet | None:
    """Read one frame; None if it is not RoCEv2 or ends before BTH and ICRC."""
    layout = locate(frame)
    return None if layout is None else parse_at(frame, layout)


def has_room(frame: bytes, layout: Layout) -> bool:
    """Whether a located packet has as many bytes as BTH and ICRC take, so that it can be read."""
    return min(layout.end, len(frame)) - ICRC_BYTES >= layout.udp + UDP_BYTES + BTH_BYTES


def parse_at(frame: bytes, layout: Layout) -> Packet | None:
    if not has_room(frame, layout):
        return None
    fault = layout.fault
    end = min(layout.end, len(frame))
    body_end = end - ICRC_BYTES
    bth_at = layout.udp + UDP_BYTES
    at = bth_at + BTH_BYTES
    bth = Bth.unpack(frame, bth_at)

    extensions: tuple[Extension, ...] = ()
    row = OPCODES.get(bth.opcode)
    if row is not None and row.headers:
        found: list[Extension] = []
        for kind in row.headers:
            if at + kind.SIZE > body_end:
                fault = fault or Fault.HEADERS
                break
            found.append(kind.unpack(frame, at))
            at += kind.SIZE
        extensions = tuple(found)
    pad_at = body_end - bth.pad_count
    if pad_at < at:
        fault = fault or Fault.PAD_COUNT
        pad_at = body_end

    sport, _, udp_length, udp_checksum = _UDP.unpack_from(frame, layout.udp)
    ip: Ipv4 | Ipv6
    if layout.version == 4:
        ip = Ipv4.unpack(frame, layout.ip, layout.udp)
    else:
        ip = Ipv6.unpack(frame, layout.ip)
    return Packet(
        frame[0:6],
        frame[6:12],
        ip,
        sport,
        bth,
        extensions,
        frame[at:pad_at],
        frame[12 : layout.ip - 2],
        udp_length,
        udp_checksum,
        frame[pad_at:body_end],
        frame[body_end:end],
        frame[end:],
        fault,
    )


def build(packet: Packet) -> bytes:
    """The frame of a packet, without FCS and padded to the Ethernet minimum."""
    pad_count = -len(packet.payload) % 4
    bth = packet.bth
    if bth.pad_count != pad_count:
        bth = replace(bth, pad_count=pad_count)
    body = b"".join(
        (
            bth.pack(),
            *(header.pack() for header in packet.extensions),
            packet.payload,
            bytes(pad_count + ICRC_BYTES),
        )
    )
    udp_length = UDP_BYTES + len(body)
    ether_type = ETHER_IPV4 if isinstance(packet.ip, Ipv4) else ETHER_IPV6
    frame = b"".join(
        (
            packet.dst_mac,
            packet.src_mac,
            packet.vlans,
            ether_type.to_bytes(2, "big"),
            packet.ip.pack(payload_length=udp_length, protocol=IP_PROTOCOL_UDP),
            _UDP.pack(packet.udp_sport, ROCE_UDP_PORT, udp_length, 0),
            body,
        )
    )
    return icrc.reseal(frame).ljust(ETHERNET_MINIMUM, b"\0")
