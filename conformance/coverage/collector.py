# SPDX-License-Identifier: BSD-2-Clause
"""Counts what a device's life has reached: shows each movement to all samplers."""

from functools import lru_cache

from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.coverage.frame_peek import glimpse
from roceproof.conformance.coverage.proxy import ObservedTarget
from roceproof.conformance.coverage.queue_pairs import QueuePairs
from roceproof.conformance.coverage.samplers.depth import DepthSampler
from roceproof.conformance.coverage.samplers.fields import FieldSampler
from roceproof.conformance.coverage.samplers.messages import MessageSampler
from roceproof.conformance.coverage.samplers.moments import MomentSampler
from roceproof.conformance.coverage.samplers.received import ReceivedSampler
from roceproof.conformance.coverage.samplers.requests import RequestSampler
from roceproof.conformance.coverage.samplers.responder import ResponderSampler
from roceproof.conformance.coverage.samplers.sampler import Life, Sampler
from roceproof.conformance.coverage.table import NO_WIDTH, load_table, record_point
from roceproof.conformance.targets.bus_events import (
    Completed,
    Configured,
    Disturbed,
    Grant,
    Movement,
    Posted,
    Provided,
    Received,
    Registered,
    Sent,
)
from roceproof.conformance.targets.interface import Claims, Target
from roceproof.dpi.session.options import Flow

_glimpse_again = lru_cache(maxsize=32)(glimpse)
"""What is sent to a device often comes several times."""
_ALWAYS: tuple[type[Sampler], ...] = (
    FieldSampler,
    MessageSampler,
    DepthSampler,
    ReceivedSampler,
    ResponderSampler,
    RequestSampler,
)


class Collector:
    """Watches one device; `target` is what its bench drives instead of it."""

    def __init__(self, target: Target, claims: Claims, counts: Counts) -> None:
        width = claims.data_width
        self._life = Life(
            counts=counts,
            table=load_table(),
            host=target.host,
            width=NO_WIDTH if width is None else str(width),
            lanes=0 if width is None else width // 8,
            queue_pairs=QueuePairs(claims.qps),
            flow=Flow(),
            executes=claims.executes,
        )
        self.target = ObservedTarget(target, self.observe)  # type: ignore[abstract]
        kinds = _ALWAYS if width is None else (*_ALWAYS, MomentSampler)
        self._samplers = [kind(self._life) for kind in kinds]

    def finish(self) -> None:
        """Its life is over; what is counted once in a life is counted now."""
        self.target.drain()
        for sampler in self._samplers:
            sampler.finish()
        records = self.target.records()
        for record, hit in records.bins() if records else ():
            self._life.counts.add_each(record_point(record), hit)
        self._life.count()

    def observe(self, movement: Movement | Grant) -> None:
        """Something has moved, or the device was given something."""
        match movement:
            case Registered() | Provided():
                for sampler in self._samplers:
                    sampler.granted(movement)
            case Sent():
                self._sent(movement)
            case Received():
                self._received(movement)
            case Posted():
                self._posted(movement)
            case Completed():
                self._completed(movement)
            case Configured():
                self._configured(movement)
            case Disturbed():
                self._life.flow = movement.flow

    def _configured(self, movement: Configured) -> None:
        is_restart = self._life.queue_pairs.configure(
            movement.qpn, movement.spec, command=movement.command
        )
        for sampler in self._samplers:
            sampler.configured(movement, is_restart=is_restart)

    def _posted(self, movement: Posted) -> None:
        qp = self._life.queue_pairs.get(movement.qpn)
        if qp is not None:
            qp.post(movement.work)
        for sampler in self._samplers:
            sampler.posted(movement, qp)

    def _received(self, movement: Received) -> None:
        seen = _glimpse_again(movement.frame)
        qp = self._life.queue_pairs.get(seen.dest_qpn) if seen is not None else None
        answer = None
        is_good = seen is not None and seen.is_sound and not movement.is_damaged
        if seen is not None and qp is not None and is_good and seen.is_response:
            answer = qp.answer(seen) if qp.service == "RC" else None
        for sampler in self._samplers:
            sampler.received(movement, seen, qp, answer)

    def _sent(self, movement: Sent) -> None:
        seen = glimpse(movement.frame, believes=True)
        qp = None
        is_wrap = False
        if seen is not None and not seen.is_response:
            qp = self._life.queue_pairs.sender(seen.dest_qpn)
            if qp is not None and seen.opcode >> 5 != qp.spec.service:
                qp = None  # a congestion notification
            if qp is not None:
                is_wrap = qp.send(seen, movement.time)
        for sampler in self._samplers:
            sampler.sent(movement, seen, qp, is_wrap=is_wrap)

    def _completed(self, movement: Completed) -> None:
        qp = self._life.queue_pairs.get(movement.qpn)
        if qp is not None and not movement.is_receive:
            qp.complete(movement.status)
        for sampler in self._samplers:
            sampler.completed(movement, qp)
