# SPDX-License-Identifier: BSD-2-Clause
"""What all requesters have in common: work goes in, packets come out at a bounded rate.

The owner tells the time. It calls `take` and `expire` whenever `next_deadline` says so, and
after everything it hands in; both do nothing where nothing is due.
"""

from abc import ABC, abstractmethod

from roceproof.conformance.model.requester.pacing import Pacer
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import refusal
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.work import Outcome, Work


class Requester(ABC):
    """The send side of one queue pair, from its first PSN on."""

    def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
        self.spec = spec
        self.policy = policy or RequesterPolicy()
        self.state = spec.state
        """Requests leave in RTS only; the owner moves a queue pair on, errors move it to ERR."""
        self.outcomes: list[Outcome] = []
        self.not_before = 0
        """The time up to which nothing is sent, whatever the rate allows."""
        self._pacer = Pacer(self.policy)

    def post(self, work: Work) -> None:
        """Take a work request; one that is refused ends at once and changes nothing else."""
        if self.state is State.ERR:
            self.complete(work, "wr_flush_err")
            return
        refused = refusal(self.spec, work)
        if refused is None:
            self.enqueue(work)
        else:
            self.complete(work, refused)

    def take(self, now_ns: int) -> list[Segment]:
        """The packet that leaves now, if one does."""
        if self.state is not State.RTS or now_ns < self._earliest:
            return []
        segment = self.next_request(now_ns)
        if segment is None:
            return []
        self._pacer.sent(len(segment.payload), now_ns)
        return [segment]

    def receive(self, segment: Segment, now_ns: int) -> None:  # noqa: B027
        """Take a response; unreliable services have none and ignore what comes."""

    def next_deadline(self) -> int | None:
        """When to call `take` and `expire` next, which may be in the past; None if never."""
        if self.state is State.RTS and self.has_request():
            return self._earliest
        return None

    def expire(self, now_ns: int) -> None:  # noqa: B027
        """Let timers act that are due."""

    def notify_congestion(self, now_ns: int) -> None:
        """A CNP came: it changes the rate and nothing else."""
        self._pacer.slow_down(now_ns)

    def complete(self, work: Work, status: str) -> None:
        """Say how a work request ended."""
        self.outcomes.append(Outcome(wr_id=work.wr_id, status=status))

    @property
    def _earliest(self) -> int:
        return max(self._pacer.slot, self.not_before)

    @abstractmethod
    def enqueue(self, work: Work) -> None:
        """Keep a work request that is not refused."""

    @abstractmethod
    def has_request(self) -> bool:
        """Whether a packet could leave, the rate and waits aside."""

    @abstractmethod
    def next_request(self, now_ns: int) -> Segment | None:
        """The packet that leaves next, as sent; None if none may."""

    @abstractmethod
    def flush(self) -> None:
        """Move to ERR: work that is not done ends with that, nothing is sent any more."""
