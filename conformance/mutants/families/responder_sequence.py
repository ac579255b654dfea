# SPDX-License-Identifier: BSD-2-Clause
"""Responders with faults in their checks of order, sizes, pads and PSNs."""

from collections import deque
from typing import Any

from roceproof.conformance.model.responder.connected import ACCESS, OpenMessage, Refusal
from roceproof.conformance.model.responder.rc import RcResponder, Region
from roceproof.conformance.model.responder.rc_answers import ACKNOWLEDGE, Answer, response
from roceproof.conformance.model.responder.uc import UcResponder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import faulty_rc_responder, faulty_uc_responder
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.opcodes import Family, Opcode, Position
from roceproof.conformance.wire.psn import distance

_HALF_OF_16_BITS = 1 << 15
_NAK_INVALID, _NAK_ACCESS = 0x61, 0x62


def words(size: int) -> int:
    """Bytes as words of four."""
    return -(-size // 4)


# order of opcodes


@faulty_rc_responder("rc-stray-packets-ignored", expected=["OPC-06"])
class StrayPacketsIgnored(RcResponder):
    """A MIDDLE or LAST without a message is dropped and forgotten."""

    def in_order(self, request: Segment) -> None:
        row = request.row
        if row is None or row.position & Position.FIRST or self.message is not None:
            super().in_order(request)


@faulty_rc_responder("rc-message-inside-message", expected=["OPC-07"])
class MessageInsideMessage(RcResponder):
    """A FIRST or ONLY starts a message, whether the one before has ended or not."""

    def follows(self, row: Opcode) -> bool:
        if row.position & Position.FIRST:
            self.abandon()
        return super().follows(row)


@faulty_rc_responder("rc-family-not-tracked", expected=["OPC-08"])
class FamilyNotTracked(RcResponder):
    """The state machine knows the place in a message, but not whether it is a SEND or a WRITE."""

    def follows(self, row: Opcode) -> bool:
        return bool(row.position & Position.FIRST) == (self.message is None)


@faulty_rc_responder("rc-duplicate-ends-message", expected=["OPC-09"])
class DuplicateEndsMessage(RcResponder):
    """A repeated READ sets the opcode tracker back."""

    def reread(self, request: Segment) -> None:
        super().reread(request)
        self.message = None


@faulty_rc_responder("rc-forbidden-as-access-error", expected=["OPC-13"])
class ForbiddenAsAccessError(RcResponder):
    """An operation that the queue pair forbids is answered as if its memory did."""

    def check_permission(self, request: Segment, row: Opcode) -> Refusal | None:
        return None if super().check_permission(request, row) is None else ACCESS


class AnsweringUcResponder(UcResponder):
    """A responder of UC that has the output of one of RC."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._answers: deque[Segment] = deque()

    def answer(self, request: Segment, code: int) -> None:
        psn = request.bth.psn
        self._answers.append(response(self.spec.remote_qpn, ACKNOWLEDGE, psn, Aeth(code, 0)))

    def next_response(self) -> Segment | None:
        return self._answers.popleft() if self._answers else None


@faulty_uc_responder("uc-naks-what-is-out-of-order", expected=["OPC-10", "NAK-11"])
class NaksWhatIsOutOfOrder(AnsweringUcResponder):
    """The check of the opcodes' order draws a NAK on UC, too."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        row = request.row
        if row is not None and not self.follows(row):
            self.answer(request, _NAK_INVALID)
        super().accept(request, network_header)


@faulty_uc_responder("uc-naks-what-it-refuses", expected=["NAK-11"])
class NaksWhatItRefuses(AnsweringUcResponder):
    """A request that may not be executed draws a NAK on UC, too."""

    def refusal_of(self, request: Segment, row: Opcode) -> Refusal | None:
        refusal = super().refusal_of(request, row)
        if refusal is not None:
            self.answer(request, refusal.syndrome or _NAK_ACCESS)
        return refusal


@faulty_uc_responder("uc-acknowledges", expected=["ACK-11"])
class UcAcknowledges(AnsweringUcResponder):
    """The generator of ACKs looks at AckReq and not at the service."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        super().accept(request, network_header)
        if request.bth.ack_req:
            self.answer(request, 0x1F)


# sizes and pads


@faulty_rc_responder("rc-length-of-last-only", expected=["MTU-06"])
class LengthOfLastOnly(RcResponder):
    """The size of a packet is checked where the message ends."""

    def check_length(self, request: Segment, row: Opcode) -> Refusal | None:
        return super().check_length(request, row) if row.position & Position.LAST else None


@faulty_rc_responder("rc-only-beyond-mtu", expected=["MTU-06"])
class OnlyBeyondMtu(RcResponder):
    """A message of one packet may be as long as its receive or its DMALen."""

    def check_length(self, request: Segment, row: Opcode) -> Refusal | None:
        return None if row.position is Position.ONLY else super().check_length(request, row)


@faulty_rc_responder("rc-read-begins-with-first", expected=["MTU-10"])
class ReadBeginsWithFirst(RcResponder):
    """The data of a READ begin with a FIRST, also where it is the only packet."""

    def read_position(self, answer: Answer) -> Position:
        return super().read_position(answer) if answer.sent else Position.FIRST


@faulty_rc_responder("rc-pad-in-memory", expected=["PAD-03"])
class PadInMemory(RcResponder):
    """Whole words are written, the pad included."""

    def place(self, message: OpenMessage, data: bytes) -> None:
        super().place(message, data)
        done, left = message.done, message.left
        super().place(message, bytes(-len(data) % 4))
        message.done, message.left = done, left


@faulty_rc_responder("rc-dma-length-in-words", expected=["PAD-07"])
class DmaLengthInWords(RcResponder):
    """Payload and DMALen are compared in words of four bytes."""

    def check_dma_length(self, request: Segment, row: Opcode, left: int) -> Refusal | None:
        if row.position & Position.LAST and words(len(request.payload)) == words(left):
            return None
        return super().check_dma_length(request, row, left)


# PSN


@faulty_rc_responder("rc-empty-message-takes-no-psn", expected=["PSN-04"])
class EmptyMessageTakesNoPsn(RcResponder):
    """A message takes as many PSNs as its payload fills packets, and an empty one none."""

    def execute(self, request: Segment, row: Opcode) -> None:
        super().execute(request, row)
        if row.family is Family.SEND and not request.payload:
            self.expected_psn = request.bth.psn


@faulty_rc_responder("rc-read-takes-one-psn", expected=["PSN-05"], explained_as=["P22"])
class ReadTakesOnePsn(RcResponder):
    """A READ request is one packet, and so the expected PSN moves on by one."""

    def execute(self, request: Segment, row: Opcode) -> None:
        super().execute(request, row)
        self.expected_psn = ahead(request.bth.psn, 1)


@faulty_rc_responder("rc-expects-the-psn-before", expected=["PSN-12"], explained_as=["P20"])
class ExpectsThePsnBefore(RcResponder):
    """The expected PSN is loaded with the one before the configured one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expected_psn = ahead(self.expected_psn, -1)


@faulty_rc_responder("rc-duplicates-in-16-bits", expected=["PSN-13"])
class DuplicatesIn16Bits(RcResponder):
    """What lies further behind than half of 16 bits is taken for ahead."""

    def region_of(self, psn: int) -> Region:
        is_far = distance(psn, self.expected_psn) < -_HALF_OF_16_BITS
        return Region.AHEAD if is_far else super().region_of(psn)


@faulty_rc_responder("rc-ahead-in-16-bits", expected=["PSN-14"])
class AheadIn16Bits(RcResponder):
    """What lies further ahead than half of 16 bits is taken for a duplicate."""

    def region_of(self, psn: int) -> Region:
        is_far = distance(psn, self.expected_psn) > _HALF_OF_16_BITS
        return Region.DUPLICATE if is_far else super().region_of(psn)


@faulty_rc_responder("rc-plain-psn-compare", expected=["PSN-15", "PSN-13"])
class PlainPsnCompare(RcResponder):
    """PSNs are compared as plain numbers."""

    def region_of(self, psn: int) -> Region:
        if psn == self.expected_psn:
            return Region.EXPECTED
        return Region.DUPLICATE if psn < self.expected_psn else Region.AHEAD
