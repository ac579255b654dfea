# SPDX-License-Identifier: BSD-2-Clause
"""From segments to frames: the addresses, class, tag and source port of a queue pair.

Everything a queue pair sends, requests, responses and CNPs, carries the same ones; the
IPv4 identity counts its packets.
"""

from dataclasses import replace

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.framing import vlan_tag
from roceproof.conformance.wire.headers import Bth, CnpReserved
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.conformance.wire.opcodes import Transport
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec

CNP_OPCODE = 0x81
CNP_TRAFFIC_CLASS = 48 << 2
_IDENTITIES = 1 << 16


def notification(spec: QpSpec) -> Segment:
    """The CNP that a queue pair sends to its peer."""
    bth = Bth(opcode=CNP_OPCODE, dest_qpn=spec.remote_qpn, psn=0, becn=True, migreq=False)
    return Segment(bth, (CnpReserved(),))


class Egress:
    """The frames of one queue pair."""

    is_migrated = True
    """What MigReq says in requests and responses (BTH-03)."""

    def __init__(self, host: Host, spec: QpSpec) -> None:
        self.host = host
        self.spec = spec
        self.identity = spec.ip_id

    def frame(self, segment: Segment) -> bytes:
        return build(self.packet(segment))

    def packet(self, segment: Segment) -> Packet:
        return Packet(
            dst_mac=self.spec.remote.mac,
            src_mac=self.host.mac,
            ip=self.network(self.traffic_class(segment)),
            udp_sport=self.spec.udp_sport,
            bth=replace(segment.bth, migreq=segment.bth.migreq and self.is_migrated),
            extensions=segment.extensions,
            payload=segment.payload,
            vlans=self.tag(),
        )

    def network(self, traffic_class: int) -> Ipv4 | Ipv6:
        """The IP header of the next packet."""
        src, dst, hops = self.host.ip, self.spec.remote.ip, self.spec.hop_limit
        if len(src) == 16:
            return Ipv6(src=src, dst=dst, traffic_class=traffic_class, hop_limit=hops)
        return Ipv4(src=src, dst=dst, tos=traffic_class, ident=self.identification(), ttl=hops)

    def identification(self) -> int:
        """Of the next packet over IPv4."""
        ident = self.identity
        self.identity = (ident + 1) % _IDENTITIES
        return ident

    def traffic_class(self, segment: Segment) -> int:
        """The queue pair's; CNPs have their own."""
        is_cnp = segment.bth.opcode >> 5 == Transport.CNP
        return CNP_TRAFFIC_CLASS if is_cnp else self.spec.traffic_class

    @property
    def priority(self) -> int:
        """The class that a pause holds or does not; without a tag that of a port by default."""
        return 0 if self.spec.vlan is None else self.spec.vlan >> 13

    def tag(self) -> bytes:
        return vlan_tag(self.spec.vlan)
