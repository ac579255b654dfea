# SPDX-License-Identifier: BSD-2-Clause
"""Rules on the BTH, the headers behind it, and the pad, that one packet decides by itself."""

from collections.abc import Iterator

from roceproof.conformance.observer.observed import Observed
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.rules.table import Severity
from roceproof.conformance.wire.headers import Aeth, AtomicEth, Deth, ImmDt, Reth
from roceproof.conformance.wire.opcodes import Opcode, Payload, Transport

DEFAULT_PKEY = 0xFFFF
_BECN, _RESERVED6 = 0x40, 0x3F
_WRITE_ONLY_IMM = (Reth, ImmDt)
_RULE_OF_MISSING = {
    Reth: "RETH-01",
    ImmDt: "IMM-01",
    Aeth: "AETH-01",
    AtomicEth: "ATOM-01",
    Deth: "UD-01",
}
_RULE_OF_RESERVED = {Transport.UC: "OPC-11", Transport.UD: "OPC-12"}


def fields(packet: Observed, *, is_configured: bool) -> Iterator[Violation]:
    """BTH-01, -02, -04, -06, -08, OPC-11, OPC-12, PSN-19, UC-02, UD-06.

    Of a queue pair that nobody has told of, another P_Key may be the site's.
    """
    row, service = packet.row, packet.transport_class
    if row is None:
        rule = _RULE_OF_RESERVED.get(Transport(service), "BTH-01")
        yield Violation(rule, "a defined opcode", f"{packet.opcode:#04x}")
    elif packet.solicited and not (row.may_solicit or row.is_response or packet.is_cnp):
        yield Violation("BTH-02", f"{row.name} without Solicited Event", "Solicited Event")
    if packet.tver:
        yield Violation("BTH-04", "TVer 0", str(packet.tver))
    if packet.pkey != DEFAULT_PKEY:
        severity = None if is_configured else Severity.SHOULD
        yield Violation("BTH-06", f"P_Key {DEFAULT_PKEY:#x}", f"{packet.pkey:#06x}", severity)
    allowed = _BECN if packet.is_cnp else 0
    if packet.byte4 & ~allowed:
        severity = None if packet.byte4 & _RESERVED6 else Severity.SHOULD
        yield Violation("BTH-08", "BTH byte 4 of 0x00", f"{packet.byte4:#04x}", severity)
    if packet.beside_ack_request:
        yield Violation("PSN-19", "0x00 beside AckReq", f"{packet.beside_ack_request:#04x}")
    if packet.ack_requested and service == Transport.UC:
        yield Violation("UC-02", "AckReq 0", "AckReq 1")
    if packet.ack_requested and service == Transport.UD:
        yield Violation("UD-06", "AckReq 0", "AckReq 1")


def misplaced(packet: Observed, row: Opcode) -> Iterator[Violation]:
    """RETH-01, IMM-01, AETH-01, ATOM-01, UD-01: a header without room, or in the wrong place."""
    missing = packet.missing_header()
    if missing is not None:
        rule = _RULE_OF_MISSING.get(missing, "UDP-02")
        yield Violation(rule, f"{row.name} with {missing.__name__}", "no room for it")
    elif row.headers == _WRITE_ONLY_IMM and _immediate_stands_first(packet):
        yield Violation("IMM-01", "RETH before the immediate", "the immediate before RETH")


def _immediate_stands_first(packet: Observed) -> bool:
    """Whether RETH and ImmDt make sense only when read in the other order."""
    if packet.header_at(ImmDt) is None:
        return False
    word = packet.frame[packet.body : packet.payload_at]
    as_read, swapped = (int.from_bytes(word[at : at + 4], "big") for at in (12, 16))
    return as_read != packet.payload_size == swapped


def pads(packet: Observed, row: Opcode) -> Iterator[Violation]:
    """PAD-05, PAD-01 where it exceeds the payload, PAD-02."""
    count = packet.pad_count
    if row.payload is Payload.NONE and count:
        yield Violation("PAD-05", f"{row.name} with PadCnt 0", str(count))
    elif count != packet.pad_size:
        yield Violation("PAD-01", "PadCnt within the payload", str(count))
    elif any(packet.pad) and not packet.cut:
        yield Violation("PAD-02", bytes(count).hex(), packet.pad.hex())
