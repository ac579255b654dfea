# SPDX-License-Identifier: BSD-2-Clause
"""All states that a requester may be in, since nobody sees when a response takes effect.

Responses take effect in their order, each within the reaction time behind its arrival.
"""

from collections.abc import Iterable

from roceproof.conformance.model.monitor.response_effects import ResponseEffects
from roceproof.conformance.model.monitor.sent import WireRecord
from roceproof.conformance.model.monitor.state import WatchState
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.queue_pair import QpSpec


class Candidates:
    """The states after the last packet, and the responses since."""

    def __init__(self, spec: QpSpec, wire: WireRecord) -> None:
        self._states = [WatchState(oldest=spec.sq_psn, cursor=spec.sq_psn)]
        self._effects = ResponseEffects(spec, wire)
        self._spec = spec
        self._wire = wire
        self._responses: dict[int, tuple[Segment, int, int]] = {}
        """Each with when it may take effect first, and when it must have."""
        self._levels: dict[int, dict[WatchState, None]] = {}
        """By the number of responses that are taken in."""
        self._count = 0

    def hear(self, response: Segment, now_ns: int, lag_ns: int) -> None:
        """A response may take effect from now on, and has when so much time is over."""
        self._responses[self._count] = (response, now_ns, now_ns + lag_ns)
        self._count += 1

    def reached(self, now_ns: int) -> list[WatchState]:
        """The states that are possible now, those that took in most responses at the end."""
        self._take_in_responses()
        return [
            state
            for taken_in, states in self._levels.items()
            if taken_in == self._count or self._responses[taken_in][2] > now_ns
            for state in states
        ]

    def _take_in_responses(self) -> None:
        """Until a packet leaves, states stay what they are, and each response makes more."""
        if not self._levels:
            self._levels[min(state.taken_in for state in self._states)] = {}
        readings = self._effects.readings
        for taken_in in range(max(self._levels), self._count + 1):
            states = self._levels.setdefault(taken_in, {})
            states |= dict.fromkeys(state for state in self._states if state.taken_in == taken_in)
            if taken_in == self._count:
                return
            response, heard_ns, latest_ns = self._responses[taken_in]
            timed_out = [state.times_out() for state in states if self._may_end(state, latest_ns)]
            self._levels[taken_in + 1] = dict.fromkeys(
                after
                for state in (*states, *timed_out)
                for after in readings(state, response, heard_ns, latest_ns)
            )

    def _may_end(self, state: WatchState, by_ns: int) -> bool:
        """Whether its timer may run out by then, just before a response takes effect."""
        from_ns = state.timeout_from(self._wire, self._spec)
        has_sent = state.cursor != state.oldest
        return from_ns is not None and from_ns <= by_ns and has_sent and state.has_retry(self._spec)

    def settle(self, states: Iterable[WatchState]) -> None:
        """A packet has left: only these are possible now, of those that were reached."""
        self._states = list(dict.fromkeys(states))
        self._levels.clear()
        least = min(self._states, key=lambda state: state.taken_in)
        for number in [number for number in self._responses if number < least.taken_in]:
            del self._responses[number]
        oldest = min(self._states, key=lambda state: distance(state.oldest, least.oldest)).oldest
        self._wire.forget_before(oldest)
