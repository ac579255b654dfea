# SPDX-License-Identifier: BSD-2-Clause
"""The fields in which two devices may differ, and whether a difference matters.

Addresses, keys and counters are compared relative to where their flow began.
A field that does not apply to a packet has the value None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

from roceproof.conformance.review.story import PSN_MODULUS, Step
from roceproof.conformance.wire.headers import AtomicEth, Deth, ImmDt
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.conformance.wire.opcodes import Position, Transport

Value = int | str | bool | None


@dataclass(slots=True)
class Origin:
    """Where a flow's addresses and message counter begin; learnt from its first packets."""

    address: int | None = None
    msn: int | None = None


class Field(NamedTuple):
    """One row: how to read the value, whether a difference matters, and why."""

    name: str
    read: Callable[[Step, Origin], Value]
    matters: bool
    rule: str
    why: str


def _ip(step: Step, v4: Callable[[Ipv4], Value], v6: Callable[[Ipv6], Value]) -> Value:
    header = step.packet.ip
    return v4(header) if isinstance(header, Ipv4) else v6(header)


def _traffic_class(step: Step) -> int:
    header = step.packet.ip
    return header.tos if isinstance(header, Ipv4) else header.traffic_class


def _nothing(_: Ipv4 | Ipv6) -> Value:
    return None


def _address(step: Step, origin: Origin) -> Value:
    reth = step.packet.reth
    if reth is None:
        return None
    if origin.address is None:
        origin.address = reth.address
    return reth.address - origin.address


def _msn(step: Step, origin: Origin) -> Value:
    aeth = step.packet.aeth
    if aeth is None:
        return None
    if origin.msn is None:
        origin.msn = aeth.msn
    return (aeth.msn - origin.msn) % PSN_MODULUS


def _ends_message(step: Step) -> bool:
    return step.row is not None and bool(step.row.position & Position.LAST)


def _ack_req(*, last: bool) -> Callable[[Step, Origin], Value]:
    def read(step: Step, _: Origin) -> Value:
        rc = step.row is not None and step.row.transport is Transport.RC
        if not rc or step.row is None or step.row.is_response or _ends_message(step) is not last:
            return None
        return step.packet.bth.ack_req

    return read


def _unreliable_ack_req(step: Step, _: Origin) -> Value:
    rc = step.row is None or step.row.transport is Transport.RC
    return None if rc else step.packet.bth.ack_req


def _response_class(step: Step, _: Origin) -> Value:
    aeth = step.packet.aeth
    if aeth is None:
        return None
    kind = aeth.syndrome >> 5
    return f"NAK {aeth.syndrome:#04x}" if kind == 3 else {0: "ACK", 1: "RNR NAK"}.get(kind, "?")


def _low_bits(kind: int) -> Callable[[Step, Origin], Value]:
    def read(step: Step, _: Origin) -> Value:
        aeth = step.packet.aeth
        return aeth.syndrome & 31 if aeth and aeth.syndrome >> 5 == kind else None

    return read


def _operands(step: Step, _: Origin) -> Value:
    header = step.packet.extension(AtomicEth)
    return f"{header.swap_or_add:#x}, {header.compare:#x}" if header else None


def _immediate(step: Step, _: Origin) -> Value:
    header = step.packet.extension(ImmDt)
    return f"{header.value:#010x}" if header else None


def _datagram(read: Callable[[Deth], Value]) -> Callable[[Step, Origin], Value]:
    def of(step: Step, _: Origin) -> Value:
        header = step.packet.extension(Deth)
        return read(header) if header else None

    return of


def _options(step: Step, _: Origin) -> Value:
    return _ip(step, lambda ip: ip.options.hex(), _nothing)


def _rkey(step: Step, _: Origin) -> Value:
    return step.packet.reth.rkey if step.packet.reth else None


def _length(step: Step, _: Origin) -> Value:
    return step.packet.reth.length if step.packet.reth else None


def _digest(payload: bytes) -> str:
    return f"{payload[:8].hex()}.. (CRC-32 {crc32(payload):08x})"


def _icrc(step: Step, _: Origin) -> Value:
    return None if step.icrc_ok is None else "right" if step.icrc_ok else "wrong"


_SETUP = "set up by whoever opens the connection"

FIELDS: tuple[Field, ...] = (
    Field("ICRC", _icrc, True, "ICRC-02", "a packet with a wrong ICRC is dropped in silence"),
    Field(
        "opcode",
        lambda s, _: s.row.name if s.row else f"{s.packet.bth.opcode:#04x}",
        True,
        "BTH-01",
        "the receiver does something else with the packet",
    ),
    Field("PSN", lambda s, _: s.psn, True, "PSN-02", "the receiver expects an exact sequence"),
    Field(
        "Solicited Event",
        lambda s, _: s.packet.bth.solicited,
        True,
        "BTH-02",
        "the receiver's application is woken, or is not",
    ),
    Field(
        "MigReq",
        lambda s, _: s.packet.bth.migreq,
        False,
        "BTH-03",
        "both values are accepted; NICs send 1, Soft-RoCE sends 0",
    ),
    Field(
        "PadCnt",
        lambda s, _: s.packet.bth.pad_count,
        True,
        "PAD-01",
        "the receiver cuts the payload elsewhere",
    ),
    Field("TVer", lambda s, _: s.packet.bth.version, True, "BTH-04", "other versions are dropped"),
    Field(
        "P_Key",
        lambda s, _: f"{s.packet.bth.pkey:#06x}",
        True,
        "BTH-06",
        "a key that does not match is dropped in silence",
    ),
    Field(
        "FECN, BECN, reserved",
        lambda s, _: s.packet.bth.fecn << 7 | s.packet.bth.becn << 6 | s.packet.bth.reserved6,
        True,
        "BTH-08",
        "these bits are 0 outside a CNP",
    ),
    Field(
        "reserved beside AckReq",
        lambda s, _: s.packet.bth.reserved7,
        True,
        "PSN-19",
        "these bits are 0",
    ),
    Field(
        "AckReq at the end",
        _ack_req(last=True),
        True,
        "ACK-02",
        "without it the last message may never be acknowledged",
    ),
    Field(
        "AckReq before the end",
        _ack_req(last=False),
        False,
        "ACK-03",
        "asking more often is legal and costs reverse traffic",
    ),
    Field(
        "AckReq on UC, UD", _unreliable_ack_req, True, "UC-02", "it ought to be 0 where none come"
    ),
    Field(
        "VA", _address, True, "RETH-04", "the data land elsewhere (relative to the first address)"
    ),
    Field("R_Key", _rkey, False, "RETH-04", "given by the receiver for each connection"),
    Field("DMALen", _length, True, "RETH-02", "the receiver counts the message's bytes by it"),
    Field("ImmDt", _immediate, True, "IMM-02", "the application reads it as it was sent"),
    Field("atomic operands", _operands, True, "ATOM-01", "the memory ends up different"),
    Field(
        "DETH reserved", _datagram(lambda h: h.source_word >> 24), True, "UD-01", "this byte is 0"
    ),
    Field("Q_Key", _datagram(lambda h: f"{h.qkey:#x}"), False, "UD-02", _SETUP),
    Field("AETH", _response_class, True, "AETH-02", "the requester goes on, waits or gives up"),
    Field("credits", _low_bits(0), False, "CRED-01", "any credit code is an ACK; vendors differ"),
    Field("RNR timer", _low_bits(1), False, "RNR-02", _SETUP),
    Field("MSN", _msn, True, "MSN-02", "messages are counted differently (relative to the first)"),
    Field(
        "payload length",
        lambda s, _: len(s.packet.payload),
        True,
        "MTU-01",
        "packets are cut from the message by length",
    ),
    Field(
        "payload",
        lambda s, _: _digest(s.packet.payload) if s.packet.payload else None,
        True,
        "-",
        "the data differ: not the same traffic, or corrupt",
    ),
    Field("pad", lambda s, _: s.packet.pad.hex() or None, True, "PAD-02", "pad ought to be zero"),
    Field("IPv4 options", _options, True, "IP-01", "NICs do not parse packets with options"),
    Field(
        "IPv4 flags",
        lambda s, _: _ip(s, lambda ip: f"{ip.fragment:#06x}", _nothing),
        True,
        "IP-03",
        "a packet that may be fragmented is lost as soon as it is",
    ),
    Field(
        "IPv4 identification",
        lambda s, _: _ip(s, lambda ip: ip.ident, _nothing),
        False,
        "IP-04",
        "free while Don't Fragment is set",
    ),
    Field(
        "TTL",
        lambda s, _: _ip(s, lambda ip: ip.ttl, lambda ip: ip.hop_limit),
        False,
        "IP-06",
        _SETUP + ", changed by every router",
    ),
    Field("DSCP", lambda s, _: _traffic_class(s) >> 2, False, "IP-07", _SETUP),
    Field(
        "ECN", lambda s, _: _traffic_class(s) & 3, False, "IP-07", "congestion control on or off"
    ),
    Field(
        "UDP source port",
        lambda s, _: s.packet.udp_sport,
        False,
        "UDP-04",
        "free; constant for each QP",
    ),
    Field(
        "UDP checksum",
        lambda s, _: "zero" if s.packet.udp_checksum == 0 else "not zero",
        False,
        "UDP-03",
        "zero is allowed",
    ),
    Field(
        "VLAN",
        lambda s, _: s.packet.vlans.hex() or "untagged",
        False,
        "VLAN-01",
        "the network's matter; outside the ICRC",
    ),
)
