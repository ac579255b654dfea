# SPDX-License-Identifier: BSD-2-Clause
"""The fields in which two devices may differ, and whether a difference matters.

Addresses, keys and counters are compared relative to where their flow began.
A field that does not apply to a packet has the value None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from roceproof.conformance.review import field_values as values
from roceproof.conformance.review.field_values import Origin, Value
from roceproof.conformance.review.story import Step


class Field(NamedTuple):
    """One row: how to read the value, whether a difference matters, and why."""

    name: str
    read: Callable[[Step, Origin], Value]
    matters: bool
    rule: str
    why: str

    @property
    def chosen(self) -> bool:
        """Whether it tells nothing of the device: others chose it, or chance."""
        return self.name in _CHOSEN


_CHOSEN = frozenset(
    {"R_Key", "Q_Key", "RNR timer", "IPv4 identification", "TTL", "DSCP", "ECN", "VLAN"}
    | {"UDP source port"}
)

CUT_BY_MTU = frozenset(
    {"opcode", "PSN", "payload length", "payload", "pad", "PadCnt", "Solicited Event", "ImmDt"}
    | {"AckReq at the end", "AckReq before the end", "AckReq on UC, UD"}
)
"""What follows from how a message is cut into packets."""

_SETUP = "set up by whoever opens the connection"

FIELDS: tuple[Field, ...] = (
    Field("ICRC", values.icrc, True, "ICRC-02", "a packet with a wrong ICRC is dropped in silence"),
    Field(
        "opcode",
        lambda s, _: s.row.name if s.row else f"{s.packet.bth.opcode:#04x}",
        True,
        "BTH-01",
        "the receiver does something else with the packet",
    ),
    Field("PSN", values.psn, True, "PSN-02", "the receiver expects an exact sequence"),
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
        values.ack_req(last=True),
        True,
        "ACK-02",
        "without it the last message may never be acknowledged",
    ),
    Field(
        "AckReq before the end",
        values.ack_req(last=False),
        False,
        "ACK-03",
        "asking more often is legal and costs reverse traffic",
    ),
    Field(
        "AckReq on UC, UD",
        values.unreliable_ack_req,
        True,
        "UC-02",
        "it ought to be 0 where none come",
    ),
    Field(
        "VA",
        values.address,
        True,
        "RETH-04",
        "the data land elsewhere (relative to the first values.address)",
    ),
    Field("R_Key", values.rkey, False, "RETH-04", "given by the receiver for each connection"),
    Field(
        "DMALen", values.length, True, "RETH-02", "the receiver counts the message's bytes by it"
    ),
    Field("ImmDt", values.immediate, True, "IMM-02", "the application reads it as it was sent"),
    Field("atomic operands", values.operands, True, "ATOM-01", "the memory ends up different"),
    Field(
        "DETH reserved",
        values.datagram(lambda h: h.source_word >> 24),
        True,
        "UD-01",
        "this byte is 0",
    ),
    Field("Q_Key", values.datagram(lambda h: f"{h.qkey:#x}"), False, "UD-02", _SETUP),
    Field(
        "AETH", values.response_class, True, "AETH-02", "the requester goes on, waits or gives up"
    ),
    Field(
        "credits", values.low_bits(0), False, "CRED-01", "any credit code is an ACK; vendors differ"
    ),
    Field("RNR timer", values.low_bits(1), False, "RNR-02", _SETUP),
    Field(
        "MSN",
        values.msn,
        True,
        "MSN-02",
        "messages are counted differently (relative to the first)",
    ),
    Field(
        "payload length",
        lambda s, _: len(s.packet.payload),
        True,
        "MTU-01",
        "packets are cut from the message by length",
    ),
    Field(
        "payload",
        lambda s, _: values.digest(s.packet.payload) if s.packet.payload else None,
        True,
        "-",
        "the data differ: not the same traffic, or corrupt",
    ),
    Field("pad", lambda s, _: s.packet.pad.hex() or None, True, "PAD-02", "pad ought to be zero"),
    Field("IPv4 options", values.options, True, "IP-01", "NICs do not parse packets with options"),
    Field(
        "IPv4 flags",
        lambda s, _: values.ip(s, lambda ip: f"{ip.fragment:#06x}", values.nothing),
        True,
        "IP-03",
        "a packet that may be fragmented is lost as soon as it is",
    ),
    Field(
        "IPv4 identification",
        lambda s, _: values.ip(s, lambda ip: ip.ident, values.nothing),
        False,
        "IP-04",
        "free while Don't Fragment is set",
    ),
    Field(
        "TTL",
        lambda s, _: values.ip(s, lambda ip: ip.ttl, lambda ip: ip.hop_limit),
        False,
        "IP-06",
        _SETUP + ", changed by every router",
    ),
    Field("DSCP", lambda s, _: values.traffic_class(s) >> 2, False, "IP-07", _SETUP),
    Field(
        "ECN",
        lambda s, _: values.traffic_class(s) & 3,
        False,
        "IP-07",
        "congestion control on or off",
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

MESSAGE_LENGTH = Field(
    "message length",
    lambda _, __: None,
    True,
    "RETH-02",
    "not the same message, or cut short",
)
MESSAGE_CONTENT = Field(
    "message content",
    lambda _, __: None,
    True,
    "-",
    "the data differ: not the same traffic, or corrupt",
)
"""What can be compared of messages that are cut into other packets."""
