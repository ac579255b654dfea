# SPDX-License-Identifier: BSD-2-Clause
"""The reference transmitter: which frames a work request must put on the wire.

Reads like the rules it stands for. A message of L bytes at path MTU P leaves
as max(1, ceil(L / P)) packets with consecutive PSNs; RETH rides on the packet
that opens a WRITE, immediate data on the one that closes the message, and only
that one asks for an ACK, on RC. Each QP counts its own PSN and IPv4 identity.
"""

from collections.abc import Iterator

from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.headers import Bth, Extension, ImmDt, Reth
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.opcodes import OPCODES, Opcode, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, packet_count
from roceproof.dpi.contract.records import Operation, QpConfig, WorkRequest
from roceproof.dpi.session.payload import PatternPayload
from roceproof.verbs.addresses import parse_gid, parse_mac
from roceproof.verbs.service import Service

Payload = bytes | PatternPayload

_IDENT_MODULUS = 1 << 16

_FIRST, _MIDDLE, _LAST, _ONLY = Position.FIRST, Position.MIDDLE, Position.LAST, Position.ONLY

# fmt: off
_OPCODE = {  # of RC; the service is added in bits 7:5
    Operation.SEND:      {_FIRST: 0x00, _MIDDLE: 0x01, _LAST: 0x02, _ONLY: 0x04},
    Operation.SEND_IMM:  {_FIRST: 0x00, _MIDDLE: 0x01, _LAST: 0x03, _ONLY: 0x05},
    Operation.WRITE:     {_FIRST: 0x06, _MIDDLE: 0x07, _LAST: 0x08, _ONLY: 0x0A},
    Operation.WRITE_IMM: {_FIRST: 0x06, _MIDDLE: 0x07, _LAST: 0x09, _ONLY: 0x0B},
}
# fmt: on


class Requester:
    """One port's transmitter with all its QPs."""

    def __init__(self, *, mac: bytes, ipv4: bytes) -> None:
        self._mac = mac
        self._ipv4 = ipv4
        self._queues: dict[int, _SendQueue] = {}

    def configure(self, config: QpConfig) -> None:
        """(Re)start a QP from its configured state."""
        self._queues[config.local_qpn] = _SendQueue(self._mac, self._ipv4, config)

    def frames(self, request: WorkRequest, payload: Payload = b"") -> Iterator[bytes]:
        """The frames of one message, in order; consume them all to keep the PSN right."""
        length = len(payload) if isinstance(payload, bytes) else payload.length
        if length != request.length:
            raise ValueError(f"work request says {request.length} bytes, got {length}")
        return map(build, self._queues[request.qpn].packets(request, payload))


class _SendQueue:
    def __init__(self, mac: bytes, ipv4: bytes, config: QpConfig) -> None:
        self._mac = mac
        self._ipv4 = ipv4
        self._config = config
        self._remote_mac = parse_mac(config.remote_mac)
        self._remote_ipv4 = parse_gid(config.remote_gid)[-4:]
        self._psn = config.sq_psn
        self._ident = config.ip_id

    def packets(self, request: WorkRequest, payload: Payload) -> Iterator[Packet]:
        path_mtu = self._config.path_mtu.size
        last = packet_count(request.length, path_mtu) - 1
        for index in range(last + 1):
            position = Position((index == 0) * 1 | (index == last) * 2)
            value = _OPCODE[request.operation][position] | self._config.service << 5
            data = _part(payload, index * path_mtu, path_mtu)
            yield self._packet(OPCODES[value], request, data)
            self._psn = (self._psn + 1) % PSN_MODULUS
            self._ident = (self._ident + 1) % _IDENT_MODULUS

    def _packet(self, row: Opcode, request: WorkRequest, data: bytes) -> Packet:
        config = self._config
        closes = bool(row.position & Position.LAST)
        return Packet(
            dst_mac=self._remote_mac,
            src_mac=self._mac,
            ip=Ipv4(
                src=self._ipv4,
                dst=self._remote_ipv4,
                tos=config.traffic_class,
                ident=self._ident,
                ttl=config.hop_limit,
            ),
            udp_sport=config.udp_sport,
            bth=Bth(
                opcode=row.value,
                dest_qpn=config.remote_qpn,
                psn=self._psn,
                solicited=request.solicited and row.may_solicit,
                ack_req=closes and config.service is Service.RC,
            ),
            extensions=tuple(_extension(kind, request) for kind in row.headers),
            payload=data,
        )


def _part(payload: Payload, start: int, size: int) -> bytes:
    if isinstance(payload, bytes):
        return payload[start : start + size]
    return payload.read(start, size)


def _extension(kind: type[Extension], request: WorkRequest) -> Extension:
    if kind is Reth:
        return Reth(request.remote_addr, request.rkey, request.length)
    return ImmDt(request.immediate)
