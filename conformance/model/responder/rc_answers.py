# SPDX-License-Identifier: BSD-2-Clause
"""What an RC responder sends, and what it keeps in order to send it again.

READs, atomics and their like hold one of the responder's resources until the last response
has left, and are kept behind that until a newer one needs the place.
"""

from dataclasses import dataclass

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.headers import Aeth, AtomicAckEth, Bth, Extension, Reth
from roceproof.conformance.wire.opcodes import OPCODES, Family, Opcode, Position
from roceproof.conformance.wire.psn import distance, packet_count

ACKNOWLEDGE, ATOMIC_ACK = 0x11, 0x12
HOLDERS = (Family.READ, Family.ATOMIC, Family.FLUSH)
"""The kinds of request that are answered from a resource and not by an ACK."""
READ_RESPONSE = {
    Position.FIRST: 0x0D,
    Position.MIDDLE: 0x0E,
    Position.LAST: 0x0F,
    Position.ONLY: 0x10,
}


@dataclass(slots=True)
class Kept:
    """A request that holds a resource, and how it was answered."""

    request: Segment
    row: Opcode
    msn: int
    original: int = 0  # what an atomic found in memory
    answered: bool = False
    rested: bool = False  # answered, and nothing was under way since

    @property
    def psn(self) -> int:
        """The PSN of the request and of its first response."""
        return self.request.bth.psn

    def is_repeated_by(self, request: Segment) -> bool:
        """Whether that is the same request once more."""
        return request.bth.psn == self.psn and request.bth.opcode == self.row.value

    def goes_on_as(self, request: Segment, path_mtu: int) -> bool:
        """Whether a repeated READ asks for all of this one from its PSN on, and nothing else."""
        mine, asked = self.request.extension(Reth), request.extension(Reth)
        if mine is None or asked is None:
            return False
        passed = distance(request.bth.psn, self.psn) * path_mtu
        return (asked.address, asked.length) == (mine.address + passed, mine.length - passed)

    def covers(self, request: Segment, path_mtu: int) -> bool:
        """Whether a repeated READ asks for what this one did, or for part of it."""
        mine, asked = self.request.extension(Reth), request.extension(Reth)
        if request.bth.opcode != self.row.value or mine is None or asked is None:
            return False
        skipped = distance(request.bth.psn, self.psn)
        psns, asked_psns = packet_count(mine.length, path_mtu), packet_count(asked.length, path_mtu)
        end = asked.address + asked.length
        return (
            mine.rkey == asked.rkey
            and 0 <= skipped <= psns - asked_psns
            and mine.address <= asked.address
            and end <= mine.address + mine.length
        )


@dataclass(slots=True)
class Answer:
    """Responses that wait for their turn: to `kept`, as `request` asks for them."""

    kept: Kept
    request: Segment
    msn: int
    sent: int = 0

    @property
    def psn(self) -> int:
        """The PSN of the next response."""
        return ahead(self.request.bth.psn, self.sent)


def held_span(request: Segment | Packet, row: Opcode, path_mtu: int) -> int:
    """The PSNs of a request: those of its responses if it is a READ."""
    reth = request.extension(Reth)
    if row.family is Family.READ and reth is not None:
        return packet_count(reth.length, path_mtu)
    return 1


def response(
    dest_qpn: int,
    opcode: int,
    psn: int,
    aeth: Aeth,
    *,
    data: bytes = b"",
    original: int | None = None,
) -> Segment:
    """A response packet; the AETH is left out where the opcode has none."""
    bth = Bth(opcode=opcode, dest_qpn=dest_qpn, psn=psn, pad_count=-len(data) % 4)
    headers: tuple[Extension, ...] = (aeth,) if Aeth in OPCODES[opcode].headers else ()
    if original is not None:
        headers = (*headers, AtomicAckEth(original))
    return Segment(bth, headers, data)
