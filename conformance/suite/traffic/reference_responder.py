# SPDX-License-Identifier: BSD-2-Clause
"""The reference responder at the other end of a connection, behind a network that is not perfect.

It has memory of its own, so a case can see what a device's requests have really done.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.receive_queue import ReceiveQueue
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import ANYTHING, WRONG_ANSWERS
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.frame_edits import with_flipped_bit
from roceproof.conformance.wire.icrc import Judgement, check

_LINK_BYTES = 14


@dataclass(frozen=True, kw_only=True)
class Impairment:
    """Probabilities per packet, in both directions: lost, doubled, overtaken by the next one."""

    loss: float = 0.0
    doubling: float = 0.0
    overtaking: float = 0.0


def damaged(frame: bytes, random: Random) -> bytes:
    """With a bit flipped on the way, behind the Ethernet header."""
    return bytes(with_flipped_bit(frame, random.randrange(8 * _LINK_BYTES, 8 * len(frame))))


def _with_wrong_icrc(frame: bytes, random: Random) -> bytes:
    """Damaged in what the ICRC covers."""
    while check(changed := damaged(frame, random)).judgement is not Judgement.BAD:
        pass
    return changed


class ReferenceResponder:
    """Answers for one connection of a bench. `memory.register` gives what requests may address.

    Bits that the ICRC covers are flipped on the way in both directions.
    """

    def __init__(
        self, bench: Bench, qp: Connection, impairment: Impairment, *, corruption: float = 0.0
    ) -> None:
        self.memory = Memory()
        self._bench = bench
        self._qp = qp
        self._corruption = corruption
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
        if self._is_corrupted():
            return []  # its ICRC tells
        self._to_here.carry(Segment(packet.bth, packet.extensions, packet.payload))
        return []

    def _receive(self, request: Segment) -> None:
        for response in self._responder.receive(request):
            self._to_device.carry(response)

    def _send(self, response: Segment) -> None:
        flow = self._qp.to_device
        frame, breaks = flow.frame_of(response), WRONG_ANSWERS  # doubled, and some overtake others
        if self._is_corrupted():
            frame, breaks = _with_wrong_icrc(frame, self._bench.random), ANYTHING
        self._bench.send(frame, flow=flow, breaks=breaks)

    def _is_corrupted(self) -> bool:
        return self._corruption > 0 and self._bench.random.random() < self._corruption


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
