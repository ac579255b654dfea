# SPDX-License-Identifier: BSD-2-Clause
"""What the far side of a play says to the device: frames, and good answers to what has left."""

from __future__ import annotations

from typing import Any

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.stimulus.requester.answers import response
from roceproof.conformance.stimulus.requester.data_responses import DataResponse, responses_to
from roceproof.conformance.stimulus.requester.landings import Landings
from roceproof.conformance.stimulus.requester.pace import Pace
from roceproof.conformance.stimulus.requester.queue_pair import QueuePair
from roceproof.conformance.stimulus.requester.state import Response
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.intent import (
    ANYTHING,
    CHANGED_ON_THE_WAY,
    NOTHING,
    WRONG_ANSWERS,
    Rules,
    meant_by,
)
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.suite.reporting.transcript import DAMAGED, Entry
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.psn import distance

_CREDIT_CODES = 32
_NO_AETH = 0x1F
"""What a response without an AETH says as one with it: it is an ACK."""


class Departures:
    """The wire to the device."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.landings = Landings(bench)
        self.pace = self._fresh_pace()
        self._acknowledged = 0

    def _fresh_pace(self) -> Pace:
        if not self._is_told:
            patience = self.bench.target.patience
            return Pace(reaction_ns=patience.answer_ns, grain_ns=patience.grain_ns)
        return Pace.of(self.bench.target.clock_ps, self.bench.claims.data_width)

    @property
    def _is_told(self) -> bool:
        """Whether addresses, numbers and time are what the bench says."""
        return Capability.LOCKSTEP in self.bench.claims.capabilities

    def say(self, known: QueuePair, answer: Pattern, **notes: bool) -> None:
        """An answer of the far side, which counts no messages and may answer anything."""
        breaks = WRONG_ANSWERS | CHANGED_ON_THE_WAY | meant_by(answer)
        self.send(known.codec.build(answer), breaks=breaks, **notes)

    def send(
        self,
        frame: bytes,
        *,
        is_void: bool = False,
        is_damaged: bool = False,
        breaks: Rules = NOTHING,
    ) -> None:
        """A frame travels when time next moves."""
        target = self.bench.target
        self.pace.sent(len(frame), target.now_ns)
        if is_damaged and Capability.DAMAGE not in self.bench.claims.capabilities:
            return
        comment = DAMAGED if is_damaged else ""
        self.bench.transcript.add(
            Entry(target.now_ns, False, frame, comment, is_void, breaks=breaks)
        )
        if is_damaged:
            target.send_damaged(frame)
        else:
            target.send(frame)

    def acknowledge(self, known: QueuePair, psn: int) -> None:
        """A good answer to all up to that PSN; by its code the completion tells which it was.

        What waits for data gets them, and an ACK follows if something else stands behind.
        """
        syndrome = self._acknowledged % _CREDIT_CODES
        self._acknowledged += 1
        known.unserved = 0
        with_data = [each for each in self.data_due(known) if distance(each.request_psn, psn) <= 0]
        for each in with_data:
            self.deliver(known, each.of(syndrome))
        if not with_data or distance(with_data[-1].psn, psn) < 0:
            self.say(known, response(known.codec, psn=psn, syndrome=syndrome))
            known.judge.answered(self.sent_now(psn, syndrome))

    def data_due(self, known: QueuePair) -> list[DataResponse]:
        """The responses with data that are awaited, as a responder would send them."""
        outstanding = known.judge.unanswered
        if outstanding is None:
            return []
        mtu, data = known.life.spec.path_mtu, self.landings.bytes_of
        return [
            response
            for awaited in known.judge.awaited
            for response in responses_to(awaited, outstanding[0], data(awaited.work), mtu)
        ]

    def deliver(self, known: QueuePair, answer: DataResponse, **fields: Any) -> None:
        """A response with data, of which whoever judges knows."""
        pattern = answer.pattern.but(**fields) if fields else answer.pattern
        frame = known.codec.build(pattern)
        packet = parse(frame)
        assert packet is not None
        breaks = ANYTHING if answer.is_odd else WRONG_ANSWERS | CHANGED_ON_THE_WAY
        self.send(frame, breaks=breaks | meant_by(pattern))
        known.sent.append(answer)
        syndrome = packet.aeth.syndrome if packet.aeth else _NO_AETH
        told = self.sent_now(packet.bth.psn, syndrome)
        known.judge.answered(told._replace(data=segment_of(packet)))

    def sent_now(self, psn: int, syndrome: int, *, msn: int = 0) -> Response:
        """What an answer that has just been sent may do, and when."""
        now, pace = self.bench.target.now_ns, self.pace
        return Response(psn, syndrome, now, now + pace.lag_ns(now), pace.waits_ns(now), msn=msn)


def segment_of(packet: Packet) -> Segment:
    """The packet as the transport sees it."""
    return Segment(packet.bth, packet.extensions, packet.payload)
