# SPDX-License-Identifier: BSD-2-Clause
"""The UC requester: packets in order, each PSN used once, complete when the last one has left."""

from collections import deque

from roceproof.conformance.model.requester.base import Requester
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import Message
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.work import Work


class UcRequester(Requester):
    """The send side of an unreliable connection."""

    def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
        super().__init__(spec, policy)
        self._posted: deque[Work] = deque()
        self._message: Message | None = None  # that has begun to leave
        self._sent = 0  # packets of it
        self._psn = spec.sq_psn  # of the next message

    def enqueue(self, work: Work) -> None:
        self._posted.append(work)

    def has_request(self) -> bool:
        """Whether a message has packets left, or waits."""
        return self._message is not None or bool(self._posted)

    def next_request(self, now_ns: int) -> Segment | None:
        """The next packet of the open message, or the first of the next."""
        if self._message is None:
            if not self._posted:
                return None
            self._message = Message(self.spec, self._posted.popleft(), self._psn)
            self._psn = self._message.end
        segment = self._message.request(self._sent)
        self._sent += 1
        if self._sent == self._message.packets:
            self.complete(self._message.work, "success")
            self._message, self._sent = None, 0
        return segment

    def flush(self) -> None:
        """What has not left wholly ends unsent."""
        self.state = State.ERR
        if self._message is not None:
            self._posted.appendleft(self._message.work)
        while self._posted:
            self.complete(self._posted.popleft(), "wr_flush_err")
        self._message = None
