# SPDX-License-Identifier: BSD-2-Clause
"""Requesters that take RNR NAKs and fatal NAKs for something else."""

from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.mutants.faulty import faulty_rc_requester


@faulty_rc_requester("rnr-resends-one-message", expected=["RNR-04"])
class ResendsOneForRnr(RcRequester):
    """After an RNR NAK only the refused packet is sent again."""

    _behind_rnr = False

    def rnr_nak(self, psn: int, timer_code: int, now_ns: int) -> None:
        super().rnr_nak(psn, timer_code, now_ns)
        self._behind_rnr = True

    def next_request(self, now_ns: int) -> Segment | None:
        is_copy = self.window.replays
        segment = super().next_request(now_ns)
        if is_copy and self._behind_rnr:
            self._behind_rnr = False
            self.window.next = self.window.fresh
        return segment


@faulty_rc_requester("rnr-acknowledges-nothing", expected=["RNR-10", "RNR-04"])
class RnrAcknowledgesNothing(RcRequester):
    """An RNR NAK does not acknowledge what stands before it."""

    def rnr_nak(self, psn: int, timer_code: int, now_ns: int) -> None:
        super().rnr_nak(self.window.oldest, timer_code, now_ns)


@faulty_rc_requester("nak-fatal-retried", expected=["NAK-09", "QPS-03"])
class RetriesFatalNaks(RcRequester):
    """A fatal NAK is answered by trying again."""

    def fatal_nak(self, psn: int, status: str, now_ns: int) -> None:
        self.sequence_nak(psn, now_ns)


@faulty_rc_requester("nak-fatal-overlooked-amid-a-message", expected=["NAK-09", "ACK-15"])
class OverlooksNaksAmidAMessage(RcRequester):
    """A fatal NAK counts only while every message that has begun to leave has left as a whole."""

    def fatal_nak(self, psn: int, status: str, now_ns: int) -> None:
        if self.window.open_message is None:
            super().fatal_nak(psn, status, now_ns)


@faulty_rc_requester("nak-fatal-for-all", expected=["NAK-10"])
class FatalForAll(RcRequester):
    """A fatal NAK ends every message that is outstanding."""

    def fatal_nak(self, psn: int, status: str, now_ns: int) -> None:
        self.fail(status)


@faulty_rc_requester("nak-outside-moves-the-window", expected=["NAK-13"])
class NaksMoveTheWindow(RcRequester):
    """A sequence NAK outside the window moves it there."""

    def receive(self, segment: Segment, now_ns: int) -> None:
        is_nak = segment.bth.opcode == 0x11 and segment.extensions[0].pack()[0] == 0x60
        if is_nak and self.window.messages and not self.window.holds(segment.bth.psn):
            self.all_before(self.window.fresh, now_ns)
            return
        super().receive(segment, now_ns)
