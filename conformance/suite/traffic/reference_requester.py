# SPDX-License-Identifier: BSD-2-Clause
"""The reference requester at this end of a connection, behind a network that is not perfect.

It sends again what gets lost, so a case can hand it work and look at what the device has made
of it when all is done.
"""

from collections.abc import Sequence
from dataclasses import replace

from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.recovery import timeout_code
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import ANYTHING, CHANGED_ON_THE_WAY, NOTHING
from roceproof.conformance.suite.traffic.reference_responder import Impairment, Network, damaged
from roceproof.verbs.work import Work


class ReferenceRequester:
    """Asks on behalf of one connection of a bench. Bits are flipped on the way to the device."""

    def __init__(
        self, bench: Bench, qp: Connection, impairment: Impairment, *, corruption: float = 0.0
    ) -> None:
        self._bench = bench
        self._qp = qp
        self._corruption = corruption
        spec = replace(qp.spec_of_the_other_end(), ack_timeout=timeout_code(bench))
        self._requester = RcRequester(spec)
        self._to_device = Network(bench, impairment, self._send)
        self._to_here = Network(bench, impairment, self._receive)

    def work_through(self, works: Sequence[Work], *, within_ns: int) -> None:
        """Have all of this done, one message behind the other; each ends with success."""
        target, requester = self._bench.target, self._requester
        deadline, before = target.now_ns + within_ns, len(requester.outcomes)
        for work in works:
            requester.post(work)
        while (done := len(requester.outcomes) - before) < len(works):
            now = target.now_ns
            if now > deadline:
                raise self._bench.failed(f"{done} of {len(works)} messages were done in time")
            requester.expire(now)
            if len(requester.outcomes) - before == len(works):
                break  # nothing more is due, and nothing more may come
            for segment in requester.take(now):
                self._to_device.carry(segment)
            due = requester.next_deadline()
            wait_ns = deadline - now if due is None else due - now
            self._bench.pump(max(1, wait_ns), lambda: bool(self._qp.inbox))
            while self._qp.inbox:
                packet = self._qp.inbox.popleft()
                self._to_here.carry(Segment(packet.bth, packet.extensions, packet.payload))
        for work, outcome in zip(works, requester.outcomes[before:], strict=True):
            if (outcome.wr_id, outcome.status) != (work.wr_id, "success"):
                raise self._bench.failed(f"message {work.wr_id} ended with {outcome.status}")

    def _send(self, request: Segment) -> None:
        flow, random = self._qp.to_device, self._bench.random
        frame = flow.frame_of(request)
        breaks = CHANGED_ON_THE_WAY if self._corruption else NOTHING
        if random.random() < self._corruption:
            frame, breaks = damaged(frame, random), ANYTHING
        self._bench.send(frame, flow=flow, breaks=breaks)

    def _receive(self, response: Segment) -> None:
        self._requester.receive(response, self._bench.target.now_ns)
