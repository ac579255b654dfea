# SPDX-License-Identifier: BSD-2-Clause
"""Whether a packet that was sent again is what it was (RTX-03), or asks for the rest of a READ."""

from roceproof.conformance.model.monitor.sent import Sent
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.wire.headers import ImmDt, Reth
from roceproof.conformance.wire.opcodes import Family, Position, name_of
from roceproof.conformance.wire.psn import distance


def rest_of(read: Sent, psn: int, path_mtu: int) -> Reth | None:
    """What a READ that asks again from that PSN on must say."""
    reth = read.segment.extension(Reth)
    if reth is None:
        return None
    passed = distance(psn, read.psn) * path_mtu
    return Reth((reth.address + passed) % (1 << 64), reth.rkey, reth.length - passed)


def changed(before: Sent, now: Segment, path_mtu: int) -> Violation | None:
    """The rule that a copy breaks, if it is none."""
    first = before.segment
    if now.bth.opcode != first.bth.opcode:
        names = (name_of(first.bth.opcode), name_of(now.bth.opcode))
        return Violation("RTX-03", f"a copy of {names[0]}", names[1])
    if before.is_read:
        return _changed_read(before, now, path_mtu)
    if now.extension(ImmDt) != first.extension(ImmDt):
        return Violation("IMM-06", str(first.extension(ImmDt)), str(now.extension(ImmDt)))
    if now.extensions != first.extensions:
        return Violation("RTX-03", _told(first), _told(now))
    sizes = [(len(one.payload), one.bth.pad_count) for one in (first, now)]
    if sizes[0] != sizes[1]:
        before_size, size = (f"{one[0]} bytes and PadCnt {one[1]}" for one in sizes)
        return Violation("RTX-14", before_size, size)
    if now.payload != first.payload:
        pairs = enumerate(zip(first.payload, now.payload, strict=True))
        at, (was, is_now) = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
        return Violation("RTX-16", f"byte {at} of the payload {was:#04x}", f"{is_now:#04x}")
    if now.bth.solicited != first.bth.solicited:
        return Violation("RTX-03", f"SE={first.bth.solicited:d}", f"SE={now.bth.solicited:d}")
    return None


def lacks_ack_request(segment: Segment) -> bool:
    """Whether a copy closes a SEND or WRITE and asks for no ACK (RTX-20)."""
    row = segment.row
    if row is None or row.family not in (Family.SEND, Family.WRITE):
        return False
    return bool(row.position & Position.LAST) and not segment.bth.ack_req


def is_unlike(before: Sent, now: Segment) -> bool:
    """Whether a packet has nothing of the one whose PSN it has."""
    first = before.segment
    return now.bth.opcode != first.bth.opcode and now.payload != first.payload


def _changed_read(before: Sent, now: Segment, path_mtu: int) -> Violation | None:
    right = rest_of(before, now.bth.psn, path_mtu)
    if now.extension(Reth) == right:
        return None
    return Violation("RTX-17", str(right), str(now.extension(Reth)))


def _told(segment: Segment) -> str:
    return " ".join(map(str, segment.extensions))
