# SPDX-License-Identifier: BSD-2-Clause
"""Requesters that take answers for what they are not."""

from dataclasses import replace

from roceproof.conformance.model.codes import AethType
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import faulty_rc_requester
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.psn import distance

_BOOKKEEPING_NS = 2_000


@faulty_rc_requester("ack-retires-one-message", expected=["ACK-05", "PSN-16"])
class RetiresOne(RcRequester):
    """An ACK completes only the message whose last PSN it names."""

    def acknowledgement(self, psn: int, syndrome: int, now_ns: int) -> None:
        if syndrome >> 5 != AethType.ACK:
            super().acknowledgement(psn, syndrome, now_ns)
        elif self.window.messages and ahead(psn, 1) == self.window.messages[0].end:
            self.all_before(ahead(psn, 1), now_ns)


@faulty_rc_requester("ack-completes-when-sent", expected=["ACK-08", "ACK-09", "ACK-10"])
class CompletesWhenSent(RcRequester):
    """A message completes when its last packet has left."""

    def next_request(self, now_ns: int) -> Segment | None:
        segment = super().next_request(now_ns)
        message = self.window.messages[-1] if self.window.messages else None
        if message is not None and message.end == self.window.next and not message.awaits_data:
            self.all_before(message.end, now_ns)
        return segment


@faulty_rc_requester("ack-of-the-unsent-counts", expected=["ACK-09", "NAK-13"])
class BelievesGhosts(RcRequester):
    """An ACK beyond the newest packet acknowledges all that was sent."""

    def receive(self, segment: Segment, now_ns: int) -> None:
        psn, newest = segment.bth.psn, ahead(self.window.fresh, -1)
        if self.window.outstanding and distance(psn, newest) > 0:
            segment = _at(segment, newest)
        super().receive(segment, now_ns)


@faulty_rc_requester("ack-of-the-past-counts", expected=["ACK-10", "RTX-10", "NAK-13"])
class BelievesThePast(RcRequester):
    """An ACK older than the oldest outstanding packet is taken for one of it."""

    def receive(self, segment: Segment, now_ns: int) -> None:
        psn = segment.bth.psn
        if self.window.outstanding and distance(psn, self.window.oldest) < 0:
            segment = _at(segment, self.window.oldest)
        super().receive(segment, now_ns)


@faulty_rc_requester("ack-inside-a-message-is-fatal", expected=["ACK-14", "ACK-08"])
class WantsOneAck(RcRequester):
    """Only an ACK of a whole message is expected; one inside it is an error."""

    def acknowledgement(self, psn: int, syndrome: int, now_ns: int) -> None:
        message = self.window.message_at(psn)
        if syndrome >> 5 == AethType.ACK and ahead(psn, 1) != message.end:
            self.fail("bad_resp_err")
            return
        super().acknowledgement(psn, syndrome, now_ns)


@faulty_rc_requester("ack-before-the-books-are-done", expected=["ACK-15"])
class MissesEarlyAcks(RcRequester):
    """An ACK that comes while the packet is still being entered as sent is not seen."""

    _left_ns = 0

    def next_request(self, now_ns: int) -> Segment | None:
        segment = super().next_request(now_ns)
        self._left_ns = now_ns if segment else self._left_ns
        return segment

    def receive(self, segment: Segment, now_ns: int) -> None:
        if now_ns >= self._left_ns + _BOOKKEEPING_NS:
            super().receive(segment, now_ns)


@faulty_rc_requester("ack-kept-until-sent", expected=["FUZZ-21"])
class KeepsEarlyAcks(RcRequester):
    """An ACK of a packet that has not left completes its message when it has, and again later."""

    _early: int | None = None

    def receive(self, segment: Segment, now_ns: int) -> None:
        if self.window.open_message is not None and not self.window.holds(segment.bth.psn):
            self._early = segment.bth.psn
        super().receive(segment, now_ns)

    def next_request(self, now_ns: int) -> Segment | None:
        segment = super().next_request(now_ns)
        if segment is not None and segment.bth.psn == self._early:
            self._early = None
            self.complete(self.window.messages[-1].work, "success")
        return segment


@faulty_rc_requester("read-response-acknowledges-nothing", expected=["ACK-13"])
class ReadAcknowledgesItself(RcRequester):
    """A READ response does not acknowledge the WRITEs before it."""

    def read_response(self, segment: Segment, now_ns: int) -> None:
        if self.window.message_at(segment.bth.psn).first_psn == self.window.oldest or (
            self.window.messages[0].awaits_data
        ):
            super().read_response(segment, now_ns)


@faulty_rc_requester("ack-compared-without-wrap", expected=["PSN-16"])
class ComparesWithoutWrap(RcRequester):
    """Response PSNs are compared as plain numbers."""

    def receive(self, segment: Segment, now_ns: int) -> None:
        if segment.bth.psn >= self.window.oldest:
            super().receive(segment, now_ns)


@faulty_rc_requester("ack-is-syndrome-1f", expected=["AETH-04"])
class KnowsOneSyndrome(RcRequester):
    """Only syndrome 0x1F is an ACK."""

    def acknowledgement(self, psn: int, syndrome: int, now_ns: int) -> None:
        if syndrome >> 5 != AethType.ACK or syndrome == 0x1F:
            super().acknowledgement(psn, syndrome, now_ns)


@faulty_rc_requester("aeth-type-is-one-bit", expected=["AETH-05", "FUZZ-11"])
class LooksAtOneBit(RcRequester):
    """Only bit 5 of the syndrome tells an ACK from a NAK."""

    def acknowledgement(self, psn: int, syndrome: int, now_ns: int) -> None:
        super().acknowledgement(psn, syndrome if syndrome & 0x20 else syndrome & 0x1F, now_ns)


@faulty_rc_requester("ack-completes-by-msn", expected=["MSN-08", "ACK-08"])
class CompletesByMsn(RcRequester):
    """How many messages an ACK completes is not looked up in its PSN."""

    def receive(self, segment: Segment, now_ns: int) -> None:
        aeth = segment.extension(Aeth)
        if (
            aeth is not None
            and self.window.holds(segment.bth.psn)
            and len(self.window.messages) > 1
        ):
            segment = _at(segment, ahead(self.window.messages[-1].end, -1))
        super().receive(segment, now_ns)


def _at(segment: Segment, psn: int) -> Segment:
    return replace(segment, bth=replace(segment.bth, psn=psn))
