# SPDX-License-Identifier: BSD-2-Clause
"""Events that meet: how many cycles lie between them, on one queue pair or on two.

A timeout is seen when its completion is, which no response has decided.
"""

from collections import defaultdict
from typing import NamedTuple

from roceproof.conformance.coverage.frame_peek import Glimpse
from roceproof.conformance.coverage.queue_pairs import Answer, QueuePair
from roceproof.conformance.coverage.samplers.sampler import Life, Sampler
from roceproof.conformance.targets.bus_events import Completed, Configured, Posted, Received, Sent

_NO_RESPONSE = 0xFF
_NOTHING, _HARDLY = "nothing", 90  # percent of the cycles in which a stream stands
_KIND = 0x60  # bits of a syndrome
_ANSWERS = {0x00: "ack", 0x20: "nak", 0x60: "nak"}


class _Last(NamedTuple):
    time: int
    qpn: int


class MomentSampler(Sampler):
    """Keeps, of each kind of event, the last on two different queue pairs."""

    def __init__(self, life: Life) -> None:
        super().__init__(life)
        self._distance = life.table.ranges("distance")
        self._streams = life.table.dimensions["held"].values
        self._places = life.queue_pairs.contexts
        self._before: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._behind: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for pair in life.table.dimensions["moment"].values:
            first, second = pair.split("-")
            self._before[second].append((first, pair))
            self._behind[first].append((second, pair))
        self._last: dict[str, list[_Last]] = defaultdict(list)

    def _happens(self, event: str, time: int, qpn: int) -> None:
        place, places = qpn % self._places, self._places
        at = "first" if place == 0 else "last" if place == places - 1 else "between"
        self.add("moment.place", event, at)
        for first, pair in self._before[event]:
            for last in self._last[first]:
                if time - last.time <= self._distance.end:
                    self._meet(pair, last, qpn, time - last.time)
        for second, pair in self._behind[event]:  # what is at once has both orders
            for last in self._last[second]:
                if last.time == time:
                    self._meet(pair, last, qpn, 0)
        others = [last for last in self._last[event] if last.qpn != qpn][:1]
        self._last[event] = [_Last(time, qpn), *others]

    def _meet(self, pair: str, last: _Last, qpn: int, distance: int) -> None:
        relation = "same" if last.qpn == qpn else "other"
        self.add("moment.distance", pair, relation, self._distance.of(distance))
        self.add("moment.held", pair, relation, self._held())

    def _held(self) -> str:
        """The stream that is held back most, if it hardly moves."""
        flow = self.life.flow
        streams = {name: getattr(flow, name) for name in self._streams if name != _NOTHING}
        most = max(streams, key=lambda name: streams[name])
        return most if streams[most] >= _HARDLY else _NOTHING

    def configured(self, movement: Configured, *, is_restart: bool) -> None:
        if is_restart:
            self._happens("restart", movement.time, movement.qpn)

    def posted(self, movement: Posted, qp: QueuePair | None) -> None:
        if qp is not None:
            self._happens("work", movement.time, qp.qpn)

    def received(
        self, movement: Received, seen: Glimpse | None, qp: QueuePair | None, answer: Answer | None
    ) -> None:
        """A sound answer, be it to this life of the queue pair or to the one before."""
        if qp is None or seen is None or answer is None:
            return
        event = _ANSWERS.get(seen.syndrome & _KIND)
        if event is not None:
            self._happens(event, movement.time, qp.qpn)

    def sent(
        self, movement: Sent, seen: Glimpse | None, qp: QueuePair | None, *, is_wrap: bool
    ) -> None:
        if qp is not None:
            self._happens("departure", movement.time, qp.qpn)

    def completed(self, movement: Completed, qp: QueuePair | None) -> None:
        """A completion, and perhaps a timeout."""
        if qp is None:
            return
        self._happens("completion", movement.time, qp.qpn)
        if movement.status == "retry_exc_err" and movement.syndrome == _NO_RESPONSE:
            self._happens("timeout", movement.time, qp.qpn)
