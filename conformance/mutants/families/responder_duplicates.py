# SPDX-License-Identifier: BSD-2-Clause
"""Responders with faults in what they make of requests that come again."""

from typing import Any

from roceproof.conformance.model.codes import AethType, NakCode, syndrome
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.model.responder.rc_answers import HOLDERS, Answer, held_span
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import faulty_rc_responder
from roceproof.conformance.wire.headers import Reth
from roceproof.conformance.wire.opcodes import Family, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, distance


@faulty_rc_responder("rc-duplicate-send-delivered", expected=["DUP-01", "FUZZ-14"])
class DuplicateSendDelivered(RcResponder):
    """A SEND that comes again takes another receive."""

    def acknowledge_duplicate(self, request: Segment) -> None:
        row = request.row
        is_send = row is not None and row.family is Family.SEND and row.position is Position.ONLY
        if is_send and len(self.receives):
            receive = self.receives.take()
            receive.write(0, request.payload)
            self.complete(receive, "success", byte_len=len(request.payload))
        super().acknowledge_duplicate(request)


@faulty_rc_responder("rc-duplicate-write-executed", expected=["DUP-02", "QPS-05"])
class DuplicateWriteExecuted(RcResponder):
    """A WRITE that comes again is written again."""

    def acknowledge_duplicate(self, request: Segment) -> None:
        reth = request.extension(Reth)
        if reth is not None and request.payload:
            region = self.memory.region(reth.rkey)
            if region is not None and region.holds(reth.address, len(request.payload)):
                region.write(reth.address - region.addr, request.payload)
        super().acknowledge_duplicate(request)


@faulty_rc_responder("rc-duplicate-forgets-the-nak", expected=["NAK-02"])
class DuplicateForgetsTheNak(RcResponder):
    """A duplicate makes the responder forget that a sequence NAK is out."""

    def acknowledge_duplicate(self, request: Segment) -> None:
        self.pending_nak = None
        super().acknowledge_duplicate(request)


@faulty_rc_responder("rc-duplicate-ack-of-the-newest", expected=["DUP-03"])
class DuplicateAckOfTheNewest(RcResponder):
    """The ACK of a duplicate names the PSN before the expected one, whatever was asked there."""

    def duplicate_ack_psn(self, request: Segment) -> int:
        return ahead(self.expected_psn, -1)


@faulty_rc_responder("rc-read-from-the-cache", expected=["DUP-04"])
class ReadFromTheCache(RcResponder):
    """What was read once is answered from a cache from then on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cache: dict[tuple[int, int, int], bytes] = {}

    def read_memory(self, reth: Reth, at: int, size: int) -> bytes:
        place = reth.rkey, reth.address + at, size
        return self._cache.setdefault(place, super().read_memory(reth, at, size))


@faulty_rc_responder("rc-reread-from-the-start", expected=["DUP-05"])
class RereadFromTheStart(RcResponder):
    """A READ that is asked for again is answered as a whole, wherever it shall go on."""

    def reread(self, request: Segment) -> None:
        for kept in self.kept:
            if kept.covers(request, self.spec.path_mtu):
                self.answers.append(Answer(kept, kept.request, self.msn))
                return


@faulty_rc_responder("rc-reread-not-bounded", expected=["DUP-06"])
class RereadNotBounded(RcResponder):
    """A READ at the PSN of an earlier one is served whatever it asks for."""

    def reread(self, request: Segment) -> None:
        for kept in self.kept:
            span = held_span(kept.request, kept.row, self.spec.path_mtu)
            if kept.row.family is Family.READ and (0 <= distance(request.bth.psn, kept.psn) < span):
                self.answers.append(Answer(kept, request, self.msn))
                return


@faulty_rc_responder("rc-atomic-executed-again", expected=["DUP-07", "ATOM-06"])
class AtomicExecutedAgain(RcResponder):
    """An atomic that comes again is executed again."""

    def replay(self, request: Segment) -> None:
        for kept in self.kept:
            if kept.is_repeated_by(request):
                kept.original = self.operate(request, kept.row)
        super().replay(request)


@faulty_rc_responder("rc-atomic-of-another", expected=["DUP-08"])
class AtomicOfAnother(RcResponder):
    """An atomic whose result is no longer kept is answered with that of another."""

    def replay(self, request: Segment) -> None:
        before = len(self.answers)
        super().replay(request)
        if len(self.answers) == before and self.kept:
            self.answers.append(Answer(self.kept[-1], request, self.msn))


@faulty_rc_responder("rc-duplicate-moves-the-address", expected=["DUP-09"])
class DuplicateMovesTheAddress(RcResponder):
    """A WRITE that comes again leaves its address behind for the message that is open."""

    def acknowledge_duplicate(self, request: Segment) -> None:
        reth = request.extension(Reth)
        if reth is not None and self.message is not None:
            self.message.address, self.message.rkey = reth.address - self.message.done, reth.rkey
        super().acknowledge_duplicate(request)


@faulty_rc_responder("rc-duplicate-ends-a-send", expected=["DUP-09"])
class DuplicateEndsASend(RcResponder):
    """A request that comes again sets the place in the open SEND back to its start."""

    def duplicate(self, request: Segment) -> None:
        super().duplicate(request)
        if self.message is not None and self.message.family is Family.SEND:
            self.message.done = 0


@faulty_rc_responder("rc-unasked-duplicate-refused", expected=["DUP-10"])
class UnaskedDuplicateRefused(RcResponder):
    """A request that comes again without AckReq draws a sequence NAK."""

    def duplicate(self, request: Segment) -> None:
        row = request.row
        if request.bth.ack_req or (row is not None and row.family in HOLDERS):
            super().duplicate(request)
        else:
            self.nak(self.expected_psn, syndrome(AethType.NAK, NakCode.PSN_SEQUENCE_ERROR))


@faulty_rc_responder("rc-ack-of-nothing", expected=["DUP-12", "QPS-04"])
class AckOfNothing(RcResponder):
    """A duplicate before the first request is acknowledged with the PSN that the register holds."""

    def acknowledge_duplicate(self, request: Segment) -> None:
        if self.anything_executed:
            super().acknowledge_duplicate(request)
        else:
            self.acknowledge(PSN_MODULUS - 1)
