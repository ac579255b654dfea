# SPDX-License-Identifier: BSD-2-Clause
"""Rules on responses, and on payload where none belongs, that one packet decides by itself."""

from collections.abc import Iterator

from roceproof.conformance.observer.observed import ACKNOWLEDGE, READ_MIDDLE, Observed
from roceproof.conformance.observer.psn import PATH_MTUS
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.wire.framing import BTH_BYTES, ICRC_BYTES, UDP_BYTES
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.opcodes import Opcode, Payload

ACK, RNR_NAK, NAK = 0, 1, 3
"""The type of a syndrome, bits 7:5; bit 7 set gives none of these."""
LAST_NAK_CODE = 4
_RULE_OF_PAYLOAD = {
    0x0C: "READ-01",
    0x11: "ACK-07",
    0x12: "ATOM-02",
    0x13: "ATOM-01",
    0x14: "ATOM-01",
    0x1C: "UDP-02",
    0x81: "CNP-01",
}


def is_defined(syndrome: int) -> bool:
    """Whether the syndrome is one that a responder may send."""
    kind = syndrome >> 5
    return kind in (ACK, RNR_NAK) or (kind == NAK and syndrome & 31 <= LAST_NAK_CODE)


def bare(packet: Observed, row: Opcode) -> Iterator[Violation]:
    """ACK-07, READ-01, ATOM-01, ATOM-02, CNP-01, UDP-02: payload behind an opcode without."""
    if row.payload is Payload.NONE and packet.payload_size + packet.pad_size:
        right = UDP_BYTES + BTH_BYTES + packet.extension_bytes + ICRC_BYTES
        rule = _RULE_OF_PAYLOAD[row.value]
        yield Violation(rule, f"{row.name} of UDP length {right}", str(packet.udp_length))


def response(packet: Observed, row: Opcode, path_mtu: int | None) -> Iterator[Violation]:
    """ACK-07, AETH-01 on a READ RESP MIDDLE, AETH-02, AETH-03."""
    if packet.solicited or packet.ack_requested:
        which = "Solicited Event" if packet.solicited else "AckReq"
        yield Violation("ACK-07", f"{row.name} without {which}", which)
    if middle_has_aeth(packet, path_mtu):
        extra = packet.payload_size - Aeth.SIZE
        yield Violation("AETH-01", f"{row.name} of {extra} bytes", "4 bytes more")
    syndrome = packet.syndrome
    if syndrome is None:
        return
    if not is_defined(syndrome):
        yield Violation("AETH-02", "a defined syndrome", f"{syndrome:#04x}")
    elif syndrome >> 5 != ACK and packet.opcode != ACKNOWLEDGE:
        yield Violation("AETH-03", f"{row.name} with an ACK syndrome", f"{syndrome:#04x}")


def middle_has_aeth(packet: Observed, path_mtu: int | None) -> bool:
    """Whether a READ RESP MIDDLE is four bytes longer than it may be."""
    allowed = (path_mtu,) if path_mtu else PATH_MTUS
    return packet.opcode == READ_MIDDLE and packet.payload_size - Aeth.SIZE in allowed
