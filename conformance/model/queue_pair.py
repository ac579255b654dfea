# SPDX-License-Identifier: BSD-2-Clause
"""A queue pair: both halves, its state, and the order in which its packets leave."""

from roceproof.conformance.model.egress import Egress, notification
from roceproof.conformance.model.ingress import RECEIVING, Admitted
from roceproof.conformance.model.notification_point import NotificationPoint
from roceproof.conformance.model.receive_queue import Receive, ReceiveQueue
from roceproof.conformance.model.requester.base import Requester
from roceproof.conformance.model.responder.base import Responder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.opcodes import Transport
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Outcome


class QueuePair:
    """One queue pair from RESET on; to reset it means to replace it."""

    def __init__(
        self,
        spec: QpSpec,
        *,
        requester: Requester,
        responder: Responder,
        notification_point: NotificationPoint,
        egress: Egress,
        receives: ReceiveQueue,
    ) -> None:
        self.spec = spec
        self.state = spec.state
        self.requester = requester
        self.responder = responder
        self.notification_point = notification_point
        self.egress = egress
        self.receives = receives

    def enter(self, state: State) -> None:
        """Move on to RTR or RTS, or give up."""
        if state is State.ERR:
            self.fail()
        else:
            self.state = self.requester.state = state

    def fail(self) -> None:
        """From now on nothing is sent in either role; all work is flushed."""
        self.responder.silence()
        self.responder.fail()
        self.stop_requests()

    def stop_requests(self) -> None:
        """The responder has failed: what it still has to say leaves, nothing else does."""
        self.state = State.ERR
        self.requester.flush()

    def post_receive(self, receive: Receive) -> None:
        """Queue a receive; in the error state it is flushed at once."""
        if self.state is State.ERR and not self.receives.shared:
            self.responder.complete(receive, "wr_flush_err")
        else:
            self.receives.post(receive)

    def receive(self, admitted: Admitted, now_ns: int) -> None:
        """Hand a packet to the half that it is for."""
        segment, row = admitted.segment, admitted.segment.row
        if admitted.is_ce_marked and self.spec.service is not Service.UD:
            self.notification_point.marked(now_ns)
        if row is not None and row.transport is Transport.CNP:
            self.requester.notify_congestion(now_ns)
        elif row is not None and row.is_response:
            self.requester.receive(segment, now_ns)
        else:
            self.responder.now_ns = now_ns
            self.responder.accept(segment, admitted.network_header)
        self.follow_halves()

    def follow_halves(self) -> None:
        """When one half has failed, the queue pair has."""
        if self.state is State.ERR:
            return
        if self.responder.failed:
            self.stop_requests()
        elif self.requester.state is State.ERR:
            self.fail()

    def take(self, now_ns: int) -> Segment | None:
        """The next packet that leaves: CNPs before responses, responses before requests."""
        if self.state in RECEIVING and self.notification_point.take():
            return notification(self.spec)
        self.responder.now_ns = now_ns
        response = self.responder.next_response()
        if response is not None:
            return response
        requests = self.requester.take(now_ns)
        return requests[0] if requests else None

    def expire(self, now_ns: int) -> None:
        self.requester.expire(now_ns)
        self.follow_halves()

    def take_outcomes(self) -> list[Outcome]:
        """The completions since the last call."""
        outcomes = [*self.requester.outcomes, *self.responder.outcomes]
        self.requester.outcomes.clear()
        self.responder.outcomes.clear()
        return outcomes
