# SPDX-License-Identifier: BSD-2-Clause
"""The half of the RC requester that sends: which packet leaves next, and whether it may.

A packet that is sent again leaves at once. A new one needs room in the window (PSN-11),
a READ or atomic operation a place among those outstanding (READ-05), a message that takes
a receive a credit where credits count, or an empty window.
"""

from collections import deque
from dataclasses import replace

from roceproof.conformance.model.requester.base import Requester
from roceproof.conformance.model.requester.policy import (
    DataRequest,
    FlowControl,
    RequesterPolicy,
)
from roceproof.conformance.model.requester.read_answers import ReadAnswers
from roceproof.conformance.model.requester.send_credits import SendCredits
from roceproof.conformance.model.requester.send_window import SendWindow
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import Message
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.work import Work


class RcSender(Requester):
    """Work requests, the window, and what leaves."""

    def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
        super().__init__(spec, policy)
        self.window = SendWindow(spec.sq_psn)
        agreed = FlowControl.CREDITS if spec.flow_control else self.policy.flow_control
        self.credits = SendCredits(agreed)
        self.answers = ReadAnswers()
        self._posted: deque[Work] = deque()

    def enqueue(self, work: Work) -> None:
        self._posted.append(work)

    def has_request(self) -> bool:
        """Whether there is a packet to send again, or a new one that may leave."""
        return self.window.replays or self.may_send_new()

    def next_request(self, now_ns: int) -> Segment | None:
        """The next copy; else the next packet of the open message, or the first of another."""
        if not self.has_request():
            return None
        window = self.window
        if not window.replays and window.open_message is None:
            self.begin(self._posted.popleft())
        message = window.message_at(window.next)
        offset = message.offset(window.next)
        if message.awaits_data:
            self.answers.asked(message, offset)
        segment = window.leave()
        if message.awaits_data:
            asks = self.policy.data_request is DataRequest.ASKS
        else:
            asks = segment.bth.ack_req or self.asks_for_ack(message, offset)
        return replace(segment, bth=replace(segment.bth, ack_req=asks))

    def begin(self, work: Work) -> None:
        """The next message takes the next PSNs."""
        self.window.begin(Message(self.spec, work, self.window.fresh))
        self.credits.begin()

    def may_send_new(self) -> bool:
        """Whether a packet that was never sent may leave."""
        message = self.window.open_message
        if message is not None:
            return self.has_room(1) and self.has_credit(self.credits.admits_open(message.work))
        return bool(self._posted) and self.may_begin(self._posted[0])

    def may_begin(self, work: Work) -> bool:
        message = Message(self.spec, work, self.window.fresh)
        if message.awaits_data and not self.may_ask_for_data():
            return False
        psns = message.span if message.awaits_data else 1
        return self.has_room(psns) and self.has_credit(self.credits.admits_next(work))

    def may_ask_for_data(self) -> bool:
        """Whether one more READ or atomic operation may be outstanding (READ-05)."""
        return self.window.awaiting_data() < self.spec.max_rd_atomic

    def has_room(self, psns: int) -> bool:
        """Whether so many more PSNs may be outstanding; one READ always may."""
        outstanding = self.window.outstanding
        return outstanding == 0 or outstanding + psns <= self.policy.max_outstanding

    def has_credit(self, admitted: bool) -> bool:
        """Whether credits allow a packet; without one it may leave alone (CRED-03)."""
        return admitted or self.window.outstanding == 0

    def asks_for_ack(self, message: Message, offset: int) -> bool:
        """Whether a packet that does not close its message sets AckReq, once it has left.

        Without it nothing would end the wait of a full window, or for credits.
        """
        if (offset + 1) % self.policy.ack_interval == 0:
            return True
        return not self.window.replays and not self.may_send_new()

    def flush(self) -> None:
        """What is not acknowledged ends with that, oldest first."""
        self.state = State.ERR
        unfinished = [message.work for message in self.window.messages]
        for work in (*unfinished, *self._posted):
            self.complete(work, "wr_flush_err")
        self.window.messages.clear()
        self._posted.clear()
