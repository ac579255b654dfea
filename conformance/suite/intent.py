# SPDX-License-Identifier: BSD-2-Clause
"""What a case breaks on purpose; whatever else it sends has to keep the rules.

It follows from what the case says: fields that a healthy sender sets otherwise, bytes that it
changed, opcodes by number. What does not follow is declared by the case,
`@case(..., breaks=OUT_OF_SEQUENCE)`, or by whoever sends the frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from roceproof.conformance.rules.table import RULES
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.wire.frame_edits import Trailer

if TYPE_CHECKING:
    from roceproof.conformance.suite.packets import Sendable

Rules = frozenset[str]

ANYTHING: Rules = frozenset(RULES)
"""What a frame may break that was made by damage, by chance, or by hand from its first byte."""
NOTHING: Rules = frozenset()


def _family(*names: str) -> Rules:
    """All rules of the families named, or one by one."""
    chosen = frozenset(rule for rule in RULES if rule in names or rule.partition("-")[0] in names)
    return chosen


OUT_OF_SEQUENCE = _family(
    *("PSN-01", "PSN-02", "PSN-03", "PSN-04", "PSN-05", "PSN-07", "PSN-18", "BTH-14", "RTX-17")
)
"""Requests at PSNs that are not due: gaps, what was never sent, rests of READs that are none."""
OUT_OF_ORDER = _family("OPC-01", "OPC-02", "OPC-03", "OPC-05")
"""Packets that have no place in the message that is open, or in none."""
WRONG_LENGTHS = _family(
    *(
        "MTU",
        "RETH-02",
        "RETH-03",
        "IMM-01",
        "IMM-03",
        "PAD-01",
        "PAD-03",
        "PAD-04",
        "OPC-01",
        "UD-04",
    )
)
"""Packets and messages of other lengths than path MTU and RETH ask for; where the immediate is that
length, the two seem to stand in the other order."""
WRONG_ANSWERS = _family(
    *("ACK", "NAK", "RNR", "MSN", "READ", "DUP", "PSN-20", "AETH", "ATOM-02", "CNP-02")
)
"""Responses to what was not asked, or not that."""
UNASKED = _family("UC-02", "UD-06")
"""Acknowledgements asked for where there are none."""
CHANGED_ON_THE_WAY = _family("IP-07", "VLAN-02", "UDP-04")
"""What stays the same all the way unless somebody changes it, and is changed back."""
OTHER_OPCODES = _family("BTH-01", "OPC-11", "OPC-12")
"""Opcodes that the service does not have."""
WRONG_REQUESTS = OUT_OF_SEQUENCE | OUT_OF_ORDER | WRONG_LENGTHS | UNASKED | OTHER_OPCODES
"""All of these: what a requester does that forgets where it was."""
WRONG_MESSAGES = _family("CM-01", "CM-02", "CM-03")
"""Datagrams of connection management that are none."""

_OF_FIELDS: dict[str, Rules] = {
    **dict.fromkeys(("m", "migreq"), _family("BTH-03", "CNP-10")),
    **dict.fromkeys(("pad", "padcount"), _family("PAD", "MTU-07")),
    **dict.fromkeys(("tver", "version"), _family("BTH-04")),
    "pkey": _family("BTH-06"),
    **dict.fromkeys(("fecn", "becn", "resv6"), _family("BTH-08", "CNP-10")),
    "resv7": _family("PSN-19"),
    **dict.fromkeys(("qpn", "dqpn"), _family("BTH-10", "IP-08")),
    **dict.fromkeys(("src_ip", "dst_ip", "src", "dst"), _family("IP-08", "BTH-10")),
    "dst_mac": _family("ETH-05"),
    **dict.fromkeys(("tos", "tc"), _family("IP-07")),
    **dict.fromkeys(("ttl", "hop_limit", "hlim"), _family("IP-06")),
    **dict.fromkeys(("fragment", "frag", "flags"), _family("IP-03")),
    "sport": _family("UDP-04", "UDP-05"),
    **dict.fromkeys(("vlan", "prio", "dei"), _family("VLAN-02", "VLAN-04")),
    "syndrome": _family("AETH-02", "AETH-03"),
    **dict.fromkeys(("len", "plen", "chksum", "ihl", "dport", "icrc", "options", "type"), ANYTHING),
}
"""What is broken where a healthy sender leaves a field alone; it does say PSNs, lengths, MSNs."""
_OF_NO_CONNECTION = (0x64, 0x65, 0x81)
"""Opcodes that have names of their own: datagrams and CNPs."""


def meant_by(packet: Sendable) -> Rules:
    """The rules that a packet breaks because of what is said of it."""
    if isinstance(packet, Pattern):
        by_number = not packet.own_service and packet.opcode not in _OF_NO_CONNECTION
        if by_number or not all(isinstance(edit, Trailer) for edit, _ in packet.edits):
            return ANYTHING
        around = _family("ETH") if packet.edits else NOTHING
        return around.union(*(_OF_FIELDS.get(name, NOTHING) for name in packet.said))
    if isinstance(packet, bytes | bytearray):
        return NOTHING
    from roceproof.conformance.wire.scapy.edits import is_frame

    if is_frame(packet):
        return ANYTHING
    layers: Iterable[Any] = packet.iterpayloads()
    said = (name for layer in layers for name in layer.fields)
    return NOTHING.union(*(_OF_FIELDS.get(name, NOTHING) for name in said))
