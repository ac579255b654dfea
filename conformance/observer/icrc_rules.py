# SPDX-License-Identifier: BSD-2-Clause
"""Rules on the ICRC: whether it is right, and if not, what it looks like instead."""

from collections.abc import Iterator
from zlib import crc32

from roceproof.conformance.observer.observed import Observed
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import BTH_BYTES, ICRC_BYTES, UDP_BYTES
from roceproof.conformance.wire.headers import Reth
from roceproof.conformance.wire.opcodes import Family, Payload

_RULE_OF_VERSION = {4: "ICRC-02", 6: "ICRC-03", 1: "ICRC-05"}
_ONES = b"\xff" * ICRC_BYTES


def right_icrc(packet: Observed) -> bytes:
    """What the ICRC of a packet that is not cut should be."""
    return icrc.compute_at(packet.frame, packet.layout)


def lacks_icrc(packet: Observed) -> bool:
    """ICRC-01: four bytes are missing, by the opcode's headers or by the length in the RETH."""
    row = packet.row
    if row is None:
        return False
    if row.headers and packet.udp_length == UDP_BYTES + BTH_BYTES + packet.extension_bytes:
        return True
    reth = packet.reth
    only_write = row.family is Family.WRITE and Reth in row.headers and row.payload is Payload.ANY
    if reth is None or not only_write or packet.missing_header():
        return False
    return -(-reth.length // 4) * 4 == packet.payload_size + packet.pad_size + ICRC_BYTES


def wrong(
    packet: Observed, right: bytes, *, previous: bytes | None, first_sport: int | None
) -> Iterator[Violation]:
    """ICRC-02, -03, -05, and every further rule that explains the value found.

    `previous` is the right ICRC of the RoCE packet before, `first_sport` the source
    port with which the flow began.
    """
    found = packet.found_icrc
    expected, got = f"ICRC {right.hex()}", found.hex()
    yield Violation(_RULE_OF_VERSION[packet.version], expected, got)
    if packet.version == 4:
        yield from _identification(packet)
    if found == right[::-1]:
        yield Violation("ICRC-06", expected, f"{got}, which is the same backwards")
    yield from _coverage(packet)
    if found == previous:
        yield Violation("ICRC-17", expected, f"{got}, which is that of the packet before")
    if first_sport not in (None, packet.sport):
        at = packet.udp
        first = int(first_sport or 0).to_bytes(2, "big")
        if _recomputed(packet, at, first) == found:
            yield Violation("UDP-06", expected, f"{got}, which is right for port {first_sport}")
    if packet.is_cnp:
        yield Violation("CNP-09", expected, got)
    elif packet.is_response:
        yield Violation("ICRC-18", expected, got)
    before = crc32(packet.frame[: packet.end - ICRC_BYTES]).to_bytes(ICRC_BYTES, "little")
    if found in (bytes(ICRC_BYTES), _ONES, before):
        yield Violation("ICRC-22", expected, f"{got}, which is a placeholder")


def _recomputed(packet: Observed, at: int, data: bytes) -> bytes:
    """The ICRC if other bytes stood at some place."""
    frame = packet.frame[:at] + data + packet.frame[at + len(data) :]
    return icrc.compute_at(frame, packet.layout)


def _identification(packet: Observed) -> Iterator[Violation]:
    at = packet.ip + 4
    ident = int.from_bytes(packet.frame[at : at + 2], "big")
    for early in {0, (ident - 1) & 0xFFFF, (ident + 1) & 0xFFFF} - {ident}:
        if _recomputed(packet, at, early.to_bytes(2, "big")) == packet.found_icrc:
            yield Violation("IP-04", f"an ICRC over ID {ident}", f"one over ID {early}")


def _coverage(packet: Observed) -> Iterator[Violation]:
    """ICRC-08, ICRC-04, ICRC-10: bytes that are covered and should not be."""
    frame, found = packet.frame, packet.found_icrc
    head = bytes(icrc.masked_headers(frame, packet.layout))
    body = frame[packet.body : packet.end - ICRC_BYTES]
    trailer = frame[packet.end :]
    if trailer and _crc(head + body + trailer) == found:
        yield Violation("ICRC-08", "an ICRC without the Ethernet pad", "one over it")
    if (
        packet.vlan_tag is not None
        and _crc(frame[packet.ip - 6 : packet.ip - 2] + head + body) == found
    ):
        yield Violation("ICRC-04", "an ICRC without the VLAN tag", "one over it")
    byte4 = packet.byte4
    at = packet.body - packet.ip - BTH_BYTES + 4
    if byte4 != 0xFF and _crc(head[:at] + bytes((byte4,)) + head[at + 1 :] + body) == found:
        yield Violation("ICRC-10", "an ICRC with BTH byte 4 masked", f"one with {byte4:#04x}")


def _crc(covered: bytes) -> bytes:
    return crc32(b"\xff" * 8 + covered).to_bytes(ICRC_BYTES, "little")
