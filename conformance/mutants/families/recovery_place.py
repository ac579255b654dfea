# SPDX-License-Identifier: BSD-2-Clause
"""Requesters that go back to the wrong place, too often, or not at all."""

from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import faulty_rc_requester
from roceproof.conformance.wire.psn import distance


@faulty_rc_requester("nak-restarts-behind", expected=["NAK-06", "RTX-02"])
class RestartsElsewhere(RcRequester):
    """A sequence NAK at n is answered from n + 1 on."""

    steps = 1

    def restart_point(self) -> int:
        point = ahead(super().restart_point(), self.steps)
        return point if distance(point, self.window.fresh) < 0 else super().restart_point()


@faulty_rc_requester("timeout-restarts-at-message", expected=["RTX-02", "NAK-06"])
class RestartsAtMessage(RcRequester):
    """A replay begins at the first packet of the message."""

    def restart_point(self) -> int:
        return self.window.message_at(self.window.oldest).first_psn


@faulty_rc_requester("rtx-one-packet-only", expected=["RTX-04", "NAK-06"])
class SendsOneCopy(RcRequester):
    """After a NAK one packet is sent again, then new ones follow."""

    def next_request(self, now_ns: int) -> Segment | None:
        is_copy = self.window.replays
        segment = super().next_request(now_ns)
        if is_copy:
            self.window.next = self.window.fresh
        return segment


@faulty_rc_requester("rtx-stops-at-the-wrap", expected=["RTX-15"])
class StopsAtWrap(RcRequester):
    """The replay loop ends where the PSN is below its start."""

    def go_back(self) -> None:
        super().go_back()
        if self.window.next > self.window.fresh:
            self.window.next = self.window.fresh


@faulty_rc_requester("nak-left-to-the-timeout", expected=["RTX-08"])
class IgnoresNaks(RcRequester):
    """A sequence NAK only acknowledges; the timeout does the rest."""

    def sequence_nak(self, psn: int, now_ns: int) -> None:
        self.all_before(psn, now_ns)


@faulty_rc_requester("nak-each-restarts", expected=["RTX-09"])
class RestartsForEach(RcRequester):
    """Every NAK of one gap restarts the replay."""

    def retry_at_once(self) -> None:
        self._has_restarted = False
        super().retry_at_once()


@faulty_rc_requester("nak-of-the-acknowledged-replays", expected=["RTX-10"])
class SendsAgainWhatIsDone(RcRequester):
    """A NAK of an acknowledged PSN sends what the buffer holds there now."""

    _last: Segment | None = None
    _owed: Segment | None = None

    def has_request(self) -> bool:
        return self._owed is not None or super().has_request()

    def next_request(self, now_ns: int) -> Segment | None:
        owed, self._owed = self._owed, None
        if owed is not None:
            return owed
        segment = super().next_request(now_ns)
        self._last = segment or self._last
        return segment

    def receive(self, segment: Segment, now_ns: int) -> None:
        is_nak = segment.bth.opcode == 0x11 and segment.extensions[0].pack()[0] == 0x60
        if is_nak and distance(segment.bth.psn, self.window.oldest) < 0:
            self._owed = self._last
        super().receive(segment, now_ns)


@faulty_rc_requester("rtx-completes-twice", expected=["RTX-12"])
class CompletesTwice(RcRequester):
    """The ACK of a packet that was sent twice completes its message twice."""

    def progress(self, psn: int, now_ns: int) -> None:
        before = len(self.outcomes)
        restarted = self._has_timed_out
        super().progress(psn, now_ns)
        if restarted and len(self.outcomes) > before:
            self.outcomes.append(self.outcomes[-1])

    _has_timed_out = False

    def timeout(self) -> None:
        self._has_timed_out = True
        super().timeout()


@faulty_rc_requester("rtx-lower-ack-confuses-the-window", expected=["RTX-21"])
class LowerAckIsFatal(RcRequester):
    """An ACK below the NAK that restarted ends the queue pair."""

    def receive(self, segment: Segment, now_ns: int) -> None:
        below = distance(segment.bth.psn, self.window.oldest) < 0
        if below and self._has_restarted and self.window.messages:
            self.fail("bad_resp_err")
            return
        super().receive(segment, now_ns)


@faulty_rc_requester("rtx-new-work-overtakes", expected=["RTX-24"])
class NewWorkFirst(RcRequester):
    """Work posted during a replay leaves before the replay is over."""

    def next_request(self, now_ns: int) -> Segment | None:
        if self.window.replays and self.may_send_new() and self.window.open_message is None:
            held, self.window.next = self.window.next, self.window.fresh
            segment = super().next_request(now_ns)
            self.window.next = held
            return segment
        return super().next_request(now_ns)


@faulty_rc_requester("rtx-progress-ignored", expected=["RTX-13"])
class IgnoresProgress(RcRequester):
    """ACKs that arrive during a replay are not heeded."""

    def progress(self, psn: int, now_ns: int) -> None:
        if not self.window.replays:
            super().progress(psn, now_ns)


@faulty_rc_requester("rtx-pointers-collide", expected=["RTX-22", "FUZZ-14"])
class LosesUnderLoss(RcRequester):
    """After a few recoveries the replay pointer is taken for the acknowledged one."""

    _naks = 0

    def retry_at_once(self) -> None:
        self._naks += 1
        super().retry_at_once()
        if self._naks > 2 and self.window.messages:
            self.progress(self.window.messages[0].end, 0)
