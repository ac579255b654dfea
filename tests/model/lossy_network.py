# SPDX-License-Identifier: BSD-2-Clause
"""A requester and a responder of the model with a network between that loses, repeats, reorders.

Everything follows from the seed. Each direction delays packets, some so much that later
ones overtake them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from random import Random

from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.model.segment import Segment

Tap = Callable[[int, Segment], None]
_DELAY_NS = 2_000


@dataclass(frozen=True)
class Impairment:
    """Probabilities per packet, and how late a late one is at most."""

    loss: float = 0.0
    duplication: float = 0.0
    lateness: float = 0.0
    late_ns: int = 1_500


class LossyNetwork:
    """Runs the two until the requester has nothing left to do."""

    def __init__(
        self,
        requester: RcRequester,
        responder: RcResponder,
        impairment: Impairment,
        seed: int,
        *,
        sent: Tap = lambda _now, _segment: None,
        heard: Tap = lambda _now, _segment: None,
    ) -> None:
        self.requester = requester
        self.responder = responder
        self.now = 0
        self.lost = 0
        self._impairment = impairment
        self._random = Random(seed)
        self._sent = sent  # each request as it leaves the requester
        self._heard = heard  # each response as it reaches it
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers = count()

    def at(self, time: int, action: Callable[[], None]) -> None:
        """Let something happen."""
        heappush(self._events, (time, next(self._numbers), action))

    def run(self, steps: int) -> bool:
        """Until nothing can happen any more; whether it came to that."""
        for _ in range(steps):
            due = self.requester.next_deadline()
            event = self._events[0][0] if self._events else None
            if due is None and event is None:
                return True
            if due is not None and (event is None or due < event):
                self.now = max(self.now, due)
            else:
                self.now, _, action = heappop(self._events)
                action()
            self.requester.expire(self.now)
            for segment in self.requester.take(self.now):
                self._sent(self.now, segment)
                self._carry(segment, self._reach_responder)
        return False

    def _carry(self, segment: Segment, arrive: Callable[[Segment], None]) -> None:
        chance = self._random.random
        if chance() < self._impairment.loss:
            self.lost += 1
            return
        for _ in range(1 + (chance() < self._impairment.duplication)):
            late = chance() < self._impairment.lateness
            delay = _DELAY_NS + late * self._random.randrange(self._impairment.late_ns)
            self.at(self.now + delay, lambda: arrive(segment))

    def _reach_responder(self, request: Segment) -> None:
        for response in self.responder.receive(request):
            self._carry(response, self._reach_requester)

    def _reach_requester(self, response: Segment) -> None:
        self._heard(self.now, response)
        self.requester.receive(response, self.now)
