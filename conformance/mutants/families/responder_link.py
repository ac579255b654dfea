# SPDX-License-Identifier: BSD-2-Clause
"""Receivers with faults in what they make of Ethernet, VLAN tags, IP, UDP and addresses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from roceproof.conformance.codec import Packet
from roceproof.conformance.framing import Fault, Layout
from roceproof.conformance.icrc import compute_at
from roceproof.conformance.ip import Ipv4, Ipv6
from roceproof.conformance.model.egress import Egress
from roceproof.conformance.model.ingress import Admitted, Ingress, QueuePairView
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.ud_responder import UdResponder
from roceproof.conformance.mutants.faulty import (
    faulty_egress,
    faulty_ingress,
    faulty_ud_responder,
)
from roceproof.dpi.records import Service

_OWN_HOPS = 64
_FIRST_DYNAMIC_PORT = 0xC000
_IPV4_BYTES = 20


class Forgiving(Ingress):
    """Passes over one of the faults that a frame may have."""

    forgiven: Fault

    def locate(self, frame: bytes) -> Layout | None:
        """The packet, its fault forgotten."""
        layout = super().locate(frame)
        if layout is not None and layout.fault is self.forgiven:
            return layout._replace(fault=None)
        return layout


@faulty_ingress(
    "rx-icrc-at-frame-end",
    "The last four bytes of the frame are taken for the ICRC.",
    expected=["ETH-03", "ICRC-08"],
)
class IcrcAtFrameEnd(Ingress):
    def locate(self, frame: bytes) -> Layout | None:
        layout = super().locate(frame)
        return layout._replace(end=len(frame)) if layout else None


@faulty_ingress(
    "rx-last-beat-not-cleared",
    "The byte enables of the last beat are not cleared behind a packet that filled it.",
    expected=["ETH-08"],
)
class LastBeatNotCleared(Ingress):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._was_full = False

    def admit(self, frame: bytes, layout: Layout, packet: Packet) -> Admitted:
        admitted = super().admit(frame, layout, packet)
        segment, was_full = admitted.segment, self._was_full
        self._was_full = bool(segment.payload) and not packet.pad
        if not was_full or not packet.pad:
            return admitted
        bth = replace(segment.bth, pad_count=0)
        whole = replace(segment, bth=bth, payload=segment.payload + packet.pad)
        return admitted._replace(segment=whole)


@faulty_ingress(
    "rx-parser-without-tags",
    "The parser expects the IP header at offset 14.",
    expected=["VLAN-03"],
)
class ParserWithoutTags(Ingress):
    def locate(self, frame: bytes) -> Layout | None:
        layout = super().locate(frame)
        return layout if layout and layout.ip == 14 else None


@faulty_egress(
    "ack-path-without-tagger",
    "Responses leave through a path that has no tagger.",
    expected=["VLAN-02"],
)
class AckPathWithoutTagger(Egress):
    def packet(self, segment: Segment) -> Packet:
        packet = super().packet(segment)
        is_response = segment.row is not None and segment.row.is_response
        return replace(packet, vlans=b"") if is_response else packet


@faulty_ingress(
    "rx-hop-limit-unmasked",
    "The receiver's ICRC has the hop limit in it with which this end would send.",
    expected=["IP-09", "ICRC-13", "IP-15"],
)
class HopLimitUnmasked(Ingress):
    def is_icrc_right(self, frame: bytes, layout: Layout, packet: Packet) -> bool:
        ip = packet.ip
        hops = ip.ttl if isinstance(ip, Ipv4) else ip.hop_limit
        return hops == _OWN_HOPS and super().is_icrc_right(frame, layout, packet)


@faulty_ingress(
    "rx-header-rebuilt",
    "The receiver takes the ICRC over the identification and flags that this end would send.",
    expected=["IP-10", "ICRC-12"],
)
class HeaderRebuilt(Ingress):
    def is_icrc_right(self, frame: bytes, layout: Layout, packet: Packet) -> bool:
        if layout.version == 6:
            return super().is_icrc_right(frame, layout, packet)
        rebuilt = bytearray(frame)
        rebuilt[layout.ip + 4 : layout.ip + 8] = b"\0\0\x40\0"
        return packet.icrc == compute_at(bytes(rebuilt), layout)


@faulty_ingress(
    "rx-ip-checksum-not-checked",
    "Nobody checks the IPv4 header checksum, since there is an ICRC.",
    expected=["IP-11"],
)
class IpChecksumNotChecked(Ingress):
    def is_ip_checksum_right(self, frame: bytes, layout: Layout) -> bool:
        return True


@faulty_ingress(
    "rx-fragments-taken",
    "A first fragment is taken for a whole packet.",
    expected=["IP-12"],
)
class FragmentsTaken(Forgiving):
    forgiven = Fault.FRAGMENT


@faulty_ingress(
    "rx-ip-length-beyond-frame",
    "An IP length beyond the end of the frame is believed.",
    expected=["IP-13"],
)
class IpLengthBeyondFrame(Forgiving):
    forgiven = Fault.IP_LENGTH


@faulty_ingress(
    "rx-flow-label-checked",
    "A flow label that is not zero makes the ICRC wrong, since it is not masked.",
    expected=["IP-15"],
)
class FlowLabelChecked(Ingress):
    def is_icrc_right(self, frame: bytes, layout: Layout, packet: Packet) -> bool:
        is_labelled = isinstance(packet.ip, Ipv6) and packet.ip.flow_label != 0
        return not is_labelled and super().is_icrc_right(frame, layout, packet)


@faulty_ingress(
    "rx-source-port-checked",
    "Packets from another than a dynamic source port are dropped.",
    expected=["UDP-07"],
)
class SourcePortChecked(Ingress):
    def locate(self, frame: bytes) -> Layout | None:
        layout = super().locate(frame)
        if layout is None or int.from_bytes(frame[layout.udp : layout.udp + 2], "big") < (
            _FIRST_DYNAMIC_PORT
        ):
            return None
        return layout


@faulty_ingress(
    "rx-udp-length-believed",
    "The UDP length is not compared with that of IP.",
    expected=["UDP-09"],
)
class UdpLengthBelieved(Forgiving):
    forgiven = Fault.UDP_LENGTH


@faulty_ingress(
    "rx-zero-checksum-dropped-over-ipv6",
    "As UDP over IPv6 wants it, a checksum of zero is wrong.",
    expected=["UDP-10"],
)
class ZeroChecksumDropped(Ingress):
    def is_udp_checksum_right(self, frame: bytes, layout: Layout) -> bool:
        if layout.version == 6 and frame[layout.udp + 6 : layout.udp + 8] == b"\0\0":
            return False
        return super().is_udp_checksum_right(frame, layout)


@faulty_egress(
    "rx-peer-gid-without-ffff",
    "The upper words of an IPv4 peer's GID are cleared, and so it looks like an IPv6 address.",
    expected=["GID-01"],
)
class GidWithoutFfff(Egress):
    def network(self, traffic_class: int) -> Ipv4 | Ipv6:
        ip = super().network(traffic_class)
        if isinstance(ip, Ipv6):
            return ip
        return Ipv6(ip.src.rjust(16, b"\0"), ip.dst.rjust(16, b"\0"), traffic_class)


@faulty_ingress(
    "rx-source-address-ignored",
    "Any host that knows the QPN and the PSN may send.",
    expected=["GID-02"],
)
class SourceAddressIgnored(Ingress):
    def are_addresses_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        return packet.ip.dst in self.addresses


@faulty_ingress(
    "rx-destination-address-ignored",
    "The destination MAC is enough; nobody looks at the IP address.",
    expected=["GID-05"],
)
class DestinationAddressIgnored(Ingress):
    def are_addresses_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        peer = queue_pair.spec.remote.ip
        return queue_pair.spec.service is Service.UD or packet.ip.src == peer


@faulty_ud_responder(
    "ud-ipv4-header-first",
    "Over IPv4 the payload of a datagram follows 20 bytes of header.",
    expected=["GID-03"],
)
class Ipv4HeaderFirst(UdResponder):
    def delivered(self, request: Segment, network_header: bytes) -> bytes:
        if len(network_header) == _IPV4_BYTES:
            return network_header + request.payload
        return super().delivered(request, network_header)
