# SPDX-License-Identifier: BSD-2-Clause
"""Faults of receivers and of the ACK path in what surrounds the BTH: frames, tags, addresses."""

from dataclasses import replace

from roceproof.conformance.model.egress import Egress
from roceproof.conformance.model.ingress import Admitted, Ingress, QueuePairView
from roceproof.conformance.model.responder.ud import UdResponder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.mutants.faulty import faulty_egress, faulty_ingress, faulty_ud_responder
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.framing import Layout
from roceproof.verbs.service import Service

_IPV4_BYTES = 20


@faulty_ingress("rx-last-beat-not-cleared", expected=["ETH-08", "PAD-03"])
class LastBeatNotCleared(Ingress):
    """The byte enables of the last beat are not cleared behind a packet that filled it."""

    _was_full = False

    def admit(self, frame: bytes, layout: Layout, packet: Packet) -> Admitted:
        admitted = super().admit(frame, layout, packet)
        segment, was_full = admitted.segment, self._was_full
        self._was_full = bool(segment.payload) and not packet.pad
        if not was_full or not packet.pad:
            return admitted
        bth = replace(segment.bth, pad_count=0)
        whole = replace(segment, bth=bth, payload=segment.payload + packet.pad)
        return admitted._replace(segment=whole)


@faulty_egress("ack-path-without-tagger", expected=["VLAN-02"])
class AckPathWithoutTagger(Egress):
    """Responses leave through a path that has no tagger."""

    def packet(self, segment: Segment) -> Packet:
        packet = super().packet(segment)
        is_response = segment.row is not None and segment.row.is_response
        return replace(packet, vlans=b"") if is_response else packet


@faulty_ingress("rx-source-address-ignored", expected=["GID-02"])
class SourceAddressIgnored(Ingress):
    """Any host that knows the QPN and the PSN may send."""

    def are_addresses_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        return packet.ip.dst in self.addresses


@faulty_ingress("rx-destination-address-ignored", expected=["GID-05"])
class DestinationAddressIgnored(Ingress):
    """The destination MAC is enough; nobody looks at the IP address."""

    def are_addresses_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        peer = queue_pair.spec.remote.ip
        return queue_pair.spec.service is Service.UD or packet.ip.src == peer


@faulty_ud_responder("ud-ipv4-header-first", expected=["GID-03"])
class Ipv4HeaderFirst(UdResponder):
    """Over IPv4 the payload of a datagram follows 20 bytes of header."""

    def delivered(self, request: Segment, network_header: bytes) -> bytes:
        if len(network_header) == _IPV4_BYTES:
            return network_header + request.payload
        return super().delivered(request, network_header)
