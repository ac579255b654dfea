# SPDX-License-Identifier: BSD-2-Clause
"""Codec of one flow: turns partial packets with relative PSNs into frames, and frames back."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.pattern import NO_CREDITS, Pattern
from roceproof.conformance.wire import frame_edits
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.codec import build as build_packet
from roceproof.conformance.wire.framing import vlan_tag
from roceproof.conformance.wire.headers import (
    Aeth,
    AtomicAckEth,
    AtomicEth,
    Bth,
    CnpReserved,
    Deth,
    Extension,
    Feth,
    Ieth,
    ImmDt,
    Reth,
)
from roceproof.conformance.wire.ip import DONT_FRAGMENT, Ipv4, Ipv6
from roceproof.conformance.wire.opcodes import OPCODES, Transport
from roceproof.conformance.wire.psn import PSN_MODULUS, distance
from roceproof.verbs.addresses import Host

_ACK_SYNDROME = NO_CREDITS
_SERVICE_SHIFT = 5


@dataclass(frozen=True, kw_only=True)
class FlowCodec:
    """Who sends to whom, and where PSNs start: of requests that travel here, and of responses.

    PSNs are absolute where no start is said.
    """

    src: Host
    dst: Host
    dest_qpn: int
    src_qpn: int = 0
    service: int = 0
    request_start: int = 0
    response_start: int = 0
    sport: int = 0xC000
    tos: int = 0
    ttl: int = 64
    vlan: int | None = None
    qkey: int = 0

    def start_of(self, value: int) -> int:
        """Where the PSNs of an opcode's direction start; a CNP has none, which is PSN 0."""
        row = OPCODES.get(value)
        if row is not None and row.transport is Transport.CNP:
            return 0
        return self.response_start if row is not None and row.is_response else self.request_start

    def opcode_of(self, pattern: Pattern) -> int:
        if pattern.own_service and not OPCODES[pattern.opcode].is_response:
            return pattern.opcode | self.service << _SERVICE_SHIFT
        return pattern.opcode

    def build(self, pattern: Pattern) -> bytes:
        """The frame of a pattern whose payload, if any, is bytes."""
        value = self.opcode_of(pattern)
        said = pattern.said
        bth = Bth(
            opcode=value,
            dest_qpn=said.get("qpn", self.dest_qpn),
            psn=(self.start_of(value) + said.get("psn", 0)) % PSN_MODULUS,
            solicited=bool(said.get("se", False)),
            migreq=bool(said.get("m", value != 0x81)),
            version=said.get("tver", 0),
            pkey=said.get("pkey", 0xFFFF),
            fecn=bool(said.get("fecn", False)),
            becn=bool(said.get("becn", value == 0x81)),
            reserved6=said.get("resv6", 0),
            ack_req=bool(said.get("a", False)),
            reserved7=said.get("resv7", 0),
        )
        row = OPCODES.get(value)
        packet = Packet(
            dst_mac=said.get("dst_mac", self.dst.mac),
            src_mac=said.get("src_mac", self.src.mac),
            ip=self._ip(said),
            udp_sport=said.get("sport", self.sport),
            bth=bth,
            extensions=tuple(self._extension(k, said) for k in row.headers) if row else (),
            payload=said.get("payload", b""),
            vlans=self._tag(said),
        )
        frame = bytearray(build_packet(packet))
        if "pad" in said:
            frame_edits.set_pad_count(said["pad"])(frame)
            frame_edits.reseal(frame)
        for edit, is_resealed in pattern.edits:
            edit(frame)
            if is_resealed:
                frame_edits.reseal(frame)
        return bytes(frame)

    def frame_of(self, segment: Segment) -> bytes:
        """The frame of a whole transport packet."""
        packet = Packet(
            dst_mac=self.dst.mac,
            src_mac=self.src.mac,
            ip=self._ip({}),
            udp_sport=self.sport,
            bth=segment.bth,
            extensions=segment.extensions,
            payload=segment.payload,
            vlans=self._tag({}),
        )
        return build_packet(packet)

    def fields_of(self, packet: Packet) -> dict[str, Any]:
        """What a packet that travels here says, in the words of a pattern."""
        bth, ip = packet.bth, packet.ip
        fields: dict[str, Any] = {
            "psn": distance(bth.psn, self.start_of(bth.opcode)),
            "a": int(bth.ack_req),
            "se": int(bth.solicited),
            "m": int(bth.migreq),
            "pad": bth.pad_count,
            "tver": bth.version,
            "pkey": bth.pkey,
            "qpn": bth.dest_qpn,
            "fecn": int(bth.fecn),
            "becn": int(bth.becn),
            "resv6": bth.reserved6,
            "resv7": bth.reserved7,
            "payload": packet.payload,
            "src_ip": ip.src,
            "dst_ip": ip.dst,
            "src_mac": packet.src_mac,
            "dst_mac": packet.dst_mac,
            "tos": ip.tos if isinstance(ip, Ipv4) else ip.traffic_class,
            "ttl": ip.ttl if isinstance(ip, Ipv4) else ip.hop_limit,
            "sport": packet.udp_sport,
        }
        if isinstance(ip, Ipv4):
            fields |= {"ident": ip.ident, "fragment": ip.fragment}
        else:
            fields["flow_label"] = ip.flow_label
        if packet.vlans:
            fields["vlan"] = int.from_bytes(packet.vlans[2:4], "big")
        for header in packet.extensions:
            fields |= _words(header)
        return fields

    def _ip(self, said: Mapping[str, Any]) -> Ipv4 | Ipv6:
        src, dst = said.get("src_ip", self.src.ip), said.get("dst_ip", self.dst.ip)
        tos, ttl = said.get("tos", self.tos), said.get("ttl", self.ttl)
        if len(src) == 16:
            return Ipv6(src, dst, tos, said.get("flow_label", 0), ttl)
        ident = said.get("ident", 0)
        return Ipv4(src, dst, tos, ident, said.get("fragment", DONT_FRAGMENT), ttl)

    def _tag(self, said: Mapping[str, Any]) -> bytes:
        return vlan_tag(said.get("vlan", self.vlan))

    def _extension(self, kind: type[Extension], said: Mapping[str, Any]) -> Extension:
        va, rkey = said.get("va", 0), said.get("rkey", 0)
        if kind is Reth:
            return Reth(va, rkey, said.get("dmalen", len(said.get("payload", b""))))
        if kind is ImmDt:
            return ImmDt(said.get("imm", 0))
        if kind is Ieth:
            return Ieth(said.get("inv", 0))
        if kind is Feth:
            return Feth(0)
        if kind is AtomicEth:
            return AtomicEth(va, rkey, said.get("swap", 0), said.get("compare", 0))
        if kind is AtomicAckEth:
            return AtomicAckEth(said.get("original", 0))
        if kind is Deth:
            return Deth(said.get("qkey", self.qkey), said.get("src_qpn", self.src_qpn))
        if kind is CnpReserved:
            return CnpReserved()
        return Aeth(_syndrome(said.get("syndrome", _ACK_SYNDROME)), said.get("msn", 0))


def _syndrome(said: int | str) -> int:
    return {"ACK": _ACK_SYNDROME, "RNR": 0x2C}[said] if isinstance(said, str) else said


def _words(header: Extension) -> dict[str, Any]:
    match header:
        case Reth(address, rkey, length):
            return {"va": address, "rkey": rkey, "dmalen": length}
        case ImmDt(value):
            return {"imm": value}
        case Ieth(rkey):
            return {"inv": rkey}
        case AtomicEth(address, rkey, swap, compare):
            return {"va": address, "rkey": rkey, "swap": swap, "compare": compare}
        case AtomicAckEth(original):
            return {"original": original}
        case Deth(qkey, word):
            return {"qkey": qkey, "src_qpn": word}
        case Aeth(syndrome, msn):
            return {"syndrome": syndrome, "msn": msn}
    return {}


def with_payload(pattern: Pattern, payload: bytes) -> Pattern:
    """The pattern with the bytes that stand for its payload."""
    return replace(pattern, said={**pattern.said, "payload": payload})
