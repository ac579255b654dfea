# SPDX-License-Identifier: BSD-2-Clause
"""Steps 1 and 2: what a port checks before a queue pair sees a packet.

`examine` takes a frame and gives what is admitted, or the reason why it is dropped. The
checks stand in the order in which they are made; none of them changes anything.
"""

from collections.abc import Collection, Mapping
from enum import Enum
from typing import NamedTuple, Protocol

from roceproof.conformance.model.responder.policy import (
    HeaderFault,
    IpOptions,
    PadFault,
    PlainSize,
    ResponderPolicy,
    UdpChecksum,
    UdpLength,
)
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.codec import Packet, parse_at
from roceproof.conformance.wire.framing import (
    BTH_BYTES,
    ICRC_BYTES,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
    UDP_BYTES,
    Fault,
    Layout,
    locate,
)
from roceproof.conformance.wire.headers import Deth
from roceproof.conformance.wire.icrc import compute_at
from roceproof.conformance.wire.ip import CE, Ipv4, checksum
from roceproof.conformance.wire.opcodes import OPCODES, Family, Transport
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service

RECEIVING = (State.RTR, State.RTS)
GSI_QPN = 1
GSI_QKEY = 0x80010000
_PKEY = 0xFFFF
_FULL_MEMBER = 0x8000


class Drop(Enum):
    """Why a frame goes no further."""

    NOT_ROCE = "no UDP to port 4791 directly behind IP"
    MAC = "not to this port's MAC address"
    IP_CHECKSUM = "wrong IPv4 header checksum"
    IP_OPTIONS = "IPv4 options"
    FRAGMENT = "IPv4 fragment"
    IP_LENGTH = "IP length runs past the frame"
    UDP_LENGTH = "UDP length disagrees with IP length"
    UDP_CHECKSUM = "wrong UDP checksum"
    SHORT = "no room for BTH and ICRC"
    ICRC = "wrong ICRC"
    ADDRESS = "not to an address of this port, or not from the queue pair's peer"
    VERSION = "transport version is not 0"
    QPN = "no such queue pair"
    STATE = "the queue pair does not receive"
    SERVICE = "opcode of another service"
    PKEY = "no matching P_Key"
    QKEY = "wrong Q_Key"
    HEADERS = "no room for the headers of the opcode"
    PAD = "pad count and payload contradict each other"


class Admitted(NamedTuple):
    """A packet for a queue pair."""

    qpn: int
    segment: Segment
    packet: Packet
    network_header: bytes
    is_ce_marked: bool


class QueuePairView(Protocol):
    """What the port knows of a queue pair."""

    @property
    def spec(self) -> QpSpec:
        """What it was told."""

    @property
    def state(self) -> State:
        """Its state."""


_FAULTS = {
    Fault.FRAGMENT: Drop.FRAGMENT,
    Fault.IP_LENGTH: Drop.IP_LENGTH,
    Fault.UDP_LENGTH: Drop.UDP_LENGTH,
    Fault.SHORT: Drop.SHORT,
}


class Ingress:
    """The receive side of a port."""

    def __init__(
        self,
        mac: bytes,
        addresses: Collection[bytes],
        queue_pairs: Mapping[int, QueuePairView],
        policy: ResponderPolicy | None = None,
    ) -> None:
        self.mac = mac
        self.addresses = addresses
        self.queue_pairs = queue_pairs
        self.policy = policy or ResponderPolicy()

    def examine(self, frame: bytes) -> Admitted | Drop:
        """Admit a packet, or say why not."""
        layout = self.locate(frame)
        if layout is None:
            return Drop.NOT_ROCE
        if self.is_end_believed(frame, layout):
            layout = layout._replace(fault=None)
        if not self.is_own_mac(frame):
            return Drop.MAC
        drop = self.check_network(frame, layout)
        if drop is not None:
            return drop
        packet = parse_at(frame, layout)
        if packet is None:
            return Drop.SHORT
        if not self.is_icrc_right(frame, layout, packet):
            return Drop.ICRC
        drop = self.check_transport(packet) or self.check_shape(packet)
        if drop is not None:
            return drop
        return self.admit(frame, layout, packet)

    # link, IP and UDP

    def is_own_mac(self, frame: bytes) -> bool:
        return frame[:6] == self.mac

    def locate(self, frame: bytes) -> Layout | None:
        """Find the packet, below any VLAN tags; its end comes from the UDP length."""
        return locate(frame, port=ROCE_UDP_PORT)

    def is_end_believed(self, frame: bytes, layout: Layout) -> bool:
        """Whether UDP may end before IP does."""
        if layout.fault is not Fault.UDP_LENGTH or layout.end >= _end_of_ip(frame, layout):
            return False
        has_room = layout.end - layout.udp >= UDP_BYTES + BTH_BYTES + ICRC_BYTES
        return has_room and self.policy.udp_length is UdpLength.BELIEVED

    def check_network(self, frame: bytes, layout: Layout) -> Drop | None:
        """IP header, lengths, UDP checksum."""
        if layout.version == 4 and not self.is_ip_checksum_right(frame, layout):
            return Drop.IP_CHECKSUM
        if layout.fault is not None:
            return _FAULTS[layout.fault]
        has_options = layout.version == 4 and layout.udp - layout.ip > 20
        if has_options and self.policy.ip_options is IpOptions.DROPPED:
            return Drop.IP_OPTIONS
        return None if self.is_udp_checksum_right(frame, layout) else Drop.UDP_CHECKSUM

    def is_ip_checksum_right(self, frame: bytes, layout: Layout) -> bool:
        """The IPv4 header checksum, which the ICRC does not cover."""
        return checksum(frame[layout.ip : layout.udp]) == 0

    def is_udp_checksum_right(self, frame: bytes, layout: Layout) -> bool:
        """The UDP checksum: none at all is right, on IPv6, too."""
        udp = frame[layout.udp : layout.end]
        if udp[6:8] == b"\0\0" or self.policy.udp_checksum is UdpChecksum.IGNORED:
            return True
        addresses = frame[layout.ip + 12 : layout.ip + 20]
        if layout.version == 6:
            addresses = frame[layout.ip + 8 : layout.ip + 40]
        pseudo = addresses + IP_PROTOCOL_UDP.to_bytes(2, "big") + len(udp).to_bytes(2, "big")
        return checksum(pseudo + udp) == 0

    def is_icrc_right(self, frame: bytes, layout: Layout, packet: Packet) -> bool:
        """The ICRC, which nothing that is wrong behind this point escapes."""
        return packet.icrc == compute_at(frame, layout)

    # BTH and addresses

    def check_transport(self, packet: Packet) -> Drop | None:
        """Whether the packet belongs to a queue pair that may receive it."""
        if not self.is_version_right(packet):
            return Drop.VERSION
        queue_pair = self.find(packet)
        if queue_pair is None:
            return Drop.QPN
        if not self.is_receiving(queue_pair):
            return Drop.STATE
        if not self.is_service_right(queue_pair, packet):
            return Drop.SERVICE
        if not self.are_addresses_right(queue_pair, packet):
            return Drop.ADDRESS
        if not self.is_pkey_right(packet):
            return Drop.PKEY
        return None if self.is_qkey_right(queue_pair, packet) else Drop.QKEY

    def is_version_right(self, packet: Packet) -> bool:
        return packet.bth.version == 0

    def find(self, packet: Packet) -> QueuePairView | None:
        return self.queue_pairs.get(packet.bth.dest_qpn)

    def is_receiving(self, queue_pair: QueuePairView) -> bool:
        """Whether its state lets it receive."""
        return queue_pair.state in RECEIVING

    def is_service_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        """Opcode bits 7:5; a CNP may go to any connected queue pair."""
        transport = packet.bth.opcode >> 5
        if transport == Transport.CNP:
            return packet.bth.opcode in OPCODES and queue_pair.spec.service is not Service.UD
        return transport == queue_pair.spec.service

    def are_addresses_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        """To this port; on connections, from the peer."""
        if packet.ip.dst not in self.addresses:
            return False
        return queue_pair.spec.service is Service.UD or packet.ip.src == queue_pair.spec.remote.ip

    def is_pkey_right(self, packet: Packet) -> bool:
        """Fifteen bits that match the default key, whose port is a full member."""
        return packet.bth.pkey | _FULL_MEMBER == _PKEY

    def is_qkey_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        """The Q_Key of a datagram; without room for one, the headers are wrong."""
        header = packet.extension(Deth)
        return header is None or header.qkey == queue_pair.spec.qkey

    # what the opcode implies

    def check_shape(self, packet: Packet) -> Drop | None:
        """Headers and pad of the packet."""
        if packet.fault is Fault.HEADERS:
            is_refused = self.policy.header_fault is HeaderFault.REFUSED
            return None if is_refused and self.is_refusable(packet) else Drop.HEADERS
        if packet.fault is None and self.are_words_whole(packet):
            return None
        if self.is_size_unchecked(packet):
            return None
        is_refused = self.policy.pad_fault is PadFault.REFUSED
        return None if is_refused and self.is_refusable(packet) else Drop.PAD

    def is_refusable(self, packet: Packet) -> bool:
        """Whether it is a request that a NAK can answer."""
        row = OPCODES.get(packet.bth.opcode)
        return row is not None and row.transport is Transport.RC and not row.is_response

    def is_size_unchecked(self, packet: Packet) -> bool:
        """Whether it is a packet whose payload is taken as it is."""
        row = OPCODES.get(packet.bth.opcode)
        is_plain = row is not None and row.family is not Family.WRITE
        return is_plain and self.policy.plain_size is not PlainSize.CHECKED

    def are_words_whole(self, packet: Packet) -> bool:
        """Whether payload and pad fill words of four bytes."""
        return (len(packet.payload) + packet.bth.pad_count) % 4 == 0

    def admit(self, frame: bytes, layout: Layout, packet: Packet) -> Admitted:
        """Take the packet out of its frame; a pad that does not fit leaves no payload."""
        payload = b"" if packet.fault is Fault.PAD_COUNT else packet.payload
        marks = packet.ip.tos if isinstance(packet.ip, Ipv4) else packet.ip.traffic_class
        return Admitted(
            packet.bth.dest_qpn,
            Segment(packet.bth, packet.extensions, payload),
            packet,
            frame[layout.ip : layout.udp],
            marks & CE == CE,
        )


def _end_of_ip(frame: bytes, layout: Layout) -> int:
    if layout.version == 4:
        return layout.ip + int.from_bytes(frame[layout.ip + 2 : layout.ip + 4], "big")
    return layout.udp + int.from_bytes(frame[layout.ip + 4 : layout.ip + 6], "big")
