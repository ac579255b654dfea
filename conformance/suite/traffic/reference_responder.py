# SPDX-License-Identifier: BSD-2-Clause
"""The reference responder at the other end of a connection, behind a network that is not perfect.

It has memory of its own, so a case can see what a device's requests have really done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.receive_queue import ReceiveQueue
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.wire.codec import Packet


@dataclass(frozen=True, kw_only=True)
class Impairment:
    """Probabilities per packet, in both directions: lost, doubled, overtaken by the next one."""

    loss: float = 0.0
    doubling: float = 0.0
    overtaking: float = 0.0


class ReferenceResponder:
    """Answers for one connection of a bench. `memory.register` gives what requests may address."""

    def __init__(self, bench: Bench, qp: Connection, impairment: Impairment) -> None:
        self.memory = Memory()
        self._bench = bench
        self._qp = qp
        self._impairment = impairment
        # The model's own specification is a device's: this end is the device's peer.
        self._responder = RcResponder(
            qp.spec_of_the_other_end(), memory=self.memory, receives=ReceiveQueue()
        )
        self._to_here = Network(bench, impairment, self._receive)
        self._to_device = Network(bench, impairment, self._send)
        qp.answer_with = self._take

    @property
    def msn(self) -> int:
        """How many messages were executed."""
        return self._responder.msn

    def _take(self, packet: Packet) -> list[Pattern]:
        self._to_here.carry(Segment(packet.bth, packet.extensions, packet.payload))
        return []

    def _receive(self, request: Segment) -> None:
        for response in self._responder.receive(request):
            self._to_device.carry(response)

    def _send(self, response: Segment) -> None:
        flow = self._qp.to_device
        breaks = WRONG_ANSWERS  # the network doubles them, and some overtake others
        self._bench.send(flow.frame_of(response), flow=flow, breaks=breaks)


class Network:
    def __init__(
        self, bench: Bench, impairment: Impairment, deliver: Callable[[Segment], None]
    ) -> None:
        self._random = bench.random
        self._impairment = impairment
        self._deliver = deliver
        self._held: Segment | None = None

    def carry(self, segment: Segment) -> None:
        """Deliver a packet, or what becomes of it."""
        draw = self._random.random
        if draw() < self._impairment.loss:
            return
        if self._held is None and draw() < self._impairment.overtaking:
            self._held = segment
            return
        self._deliver(segment)
        if draw() < self._impairment.doubling:
            self._deliver(segment)
        late, self._held = self._held, None
        if late is not None:
            self._deliver(late)
