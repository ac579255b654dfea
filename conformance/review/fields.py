# SPDX-License-Identifier: BSD-2-Clause
"""The fields in which two devices may differ, and whether a difference matters.

Addresses, keys and counters are compared relative to where their flow began.
A field that does not apply to a packet has the value None.
"""

from collections.abc import Callable
from typing import NamedTuple

from roceproof.conformance.review import field_values as values
from roceproof.conformance.review.field_values import Origin, Value
from roceproof.conformance.review.story import Step
from roceproof.conformance.rules.rows import rows_of


class Field(NamedTuple):
    """One row: whether a difference matters, and why."""

    name: str
    matters: bool
    chosen: bool
    """Whether it tells nothing of the device: others chose it, or chance."""
    is_cut: bool
    """Whether it follows from how a message is cut into packets."""
    rule: str
    why: str

    def read(self, step: Step, origin: Origin) -> Value:
        return _READ[self.name](step, origin)


_READ: dict[str, Callable[[Step, Origin], Value]] = {
    "ICRC": values.icrc,
    "opcode": lambda s, _: s.row.name if s.row else f"{s.packet.bth.opcode:#04x}",
    "PSN": values.psn,
    "Solicited Event": lambda s, _: s.packet.bth.solicited,
    "MigReq": lambda s, _: s.packet.bth.migreq,
    "PadCnt": lambda s, _: s.packet.bth.pad_count,
    "TVer": lambda s, _: s.packet.bth.version,
    "P_Key": lambda s, _: f"{s.packet.bth.pkey:#06x}",
    "FECN, BECN, reserved": lambda s, _: (
        s.packet.bth.fecn << 7 | s.packet.bth.becn << 6 | s.packet.bth.reserved6
    ),
    "reserved beside AckReq": lambda s, _: s.packet.bth.reserved7,
    "AckReq at the end": values.ack_req(last=True),
    "AckReq before the end": values.ack_req(last=False),
    "AckReq on UC, UD": values.unreliable_ack_req,
    "VA": values.address,
    "R_Key": values.rkey,
    "DMALen": values.length,
    "ImmDt": values.immediate,
    "atomic operands": values.operands,
    "DETH reserved": values.datagram(lambda h: h.source_word >> 24),
    "Q_Key": values.datagram(lambda h: f"{h.qkey:#x}"),
    "AETH": values.response_class,
    "credits": values.low_bits(0),
    "RNR timer": values.low_bits(1),
    "MSN": values.msn,
    "payload length": lambda s, _: len(s.packet.payload),
    "payload": lambda s, _: values.digest(s.packet.payload) if s.packet.payload else None,
    "pad": lambda s, _: s.packet.pad.hex() or None,
    "IPv4 options": values.options,
    "IPv4 flags": lambda s, _: values.ip(s, lambda ip: f"{ip.fragment:#06x}", values.nothing),
    "IPv4 identification": lambda s, _: values.ip(s, lambda ip: ip.ident, values.nothing),
    "TTL": lambda s, _: values.ip(s, lambda ip: ip.ttl, lambda ip: ip.hop_limit),
    "DSCP": lambda s, _: values.traffic_class(s) >> 2,
    "ECN": lambda s, _: values.traffic_class(s) & 3,
    "UDP source port": lambda s, _: s.packet.udp_sport,
    "UDP checksum": lambda s, _: "zero" if s.packet.udp_checksum == 0 else "not zero",
    "VLAN": lambda s, _: s.packet.vlans.hex() or "untagged",
}


_FIELDS = {
    name: Field(name, matters == "yes", matters == "chosen", cut == "mtu", rule, why)
    for name, matters, cut, rule, why in rows_of("differences.tsv")
}
FIELDS = tuple(_FIELDS[name] for name in _READ)
MESSAGE_LENGTH, MESSAGE_CONTENT = _FIELDS["message length"], _FIELDS["message content"]
"""What can be compared of messages that are cut into other packets."""
