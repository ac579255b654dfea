# SPDX-License-Identifier: BSD-2-Clause
"""The headers that one end of a queue pair puts around whatever it sends."""

from dataclasses import replace

from roceproof.conformance.faults.conversation.messages import Part
from roceproof.conformance.faults.conversation.plan import Connection
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.headers import Aeth, AtomicAckEth, Bth, CnpReserved, Extension
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.conformance.wire.opcodes import Transport
from roceproof.verbs.service import Service

_CNP = 0x81
_CNP_TRAFFIC_CLASS = 48 << 2 | 2
_PSN_BITS = 24


class Envelope:
    """Builds the packets of one end; counts its IPv4 identification."""

    def __init__(self, connection: Connection, side: int) -> None:
        self._connection = connection
        self._end, self._peer = connection.ends[side], connection.ends[1 - side]
        self._ident = self._end.ident

    def request(self, part: Part, psn: int, *, asks: bool) -> Packet:
        """A request packet; bits of `psn` above the 24th end up beside and in AckReq."""
        above = psn >> _PSN_BITS
        bth = Bth(
            part.row.value,
            self._peer.qpn,
            psn & 0xFFFFFF,
            solicited=part.solicited,
            migreq=self._end.migreq,
            ack_req=asks or bool(above & 0x80),
            reserved7=above & 0x7F,
        )
        packet = self._packet(bth, part.extensions, part.payload)
        if self._connection.service is Service.UD:
            return _with_hops(packet, 1 + part.message.hops % self._end.hops)
        return packet

    def response(
        self, opcode: int, psn: int, headers: tuple[Aeth | AtomicAckEth, ...], payload: bytes = b""
    ) -> Packet:
        """An acknowledgement or a response with data."""
        bth = Bth(opcode, self._peer.qpn, psn, migreq=self._end.migreq)
        return self._packet(bth, headers, payload)

    def congestion(self) -> Packet:
        assert _CNP >> 5 == Transport.CNP
        bth = Bth(_CNP, self._peer.qpn, 0, migreq=False, becn=True)
        packet = self._packet(bth, (CnpReserved(),), b"")
        ip = packet.ip
        if isinstance(ip, Ipv4):
            return replace(packet, ip=replace(ip, tos=_CNP_TRAFFIC_CLASS))
        return replace(packet, ip=replace(ip, traffic_class=_CNP_TRAFFIC_CLASS))

    def _packet(self, bth: Bth, extensions: tuple[Extension, ...], payload: bytes) -> Packet:
        return Packet(
            self._peer.station.mac,
            self._end.station.mac,
            self._ip(),
            self._end.source_port,
            bth,
            extensions,
            payload,
            vlans=self._connection.vlans,
        )

    def _ip(self) -> Ipv4 | Ipv6:
        end, src, dst = self._end, self._end.station, self._peer.station
        if self._connection.ip_version == 6:
            return Ipv6(src.ipv6, dst.ipv6, end.traffic_class, end.flow_label, end.hops)
        ident = self._ident
        if end.ident_counts:
            self._ident = (ident + 1) % (1 << 16)
        return Ipv4(src.ipv4, dst.ipv4, end.traffic_class, ident, ttl=end.hops)


def _with_hops(packet: Packet, hops: int) -> Packet:
    if isinstance(packet.ip, Ipv4):
        return replace(packet, ip=replace(packet.ip, ttl=hops))
    return replace(packet, ip=replace(packet.ip, hop_limit=hops))
