# SPDX-License-Identifier: BSD-2-Clause
"""Judges a device whose completions may be seen before the frame that they follow.

Only behind the DUT contract is the order of both known; elsewhere a completion waits, in each state
that does not explain it, until what explains it has come.
"""

from __future__ import annotations

from collections.abc import Iterator

from roceproof.conformance.stimulus.requester.requester_checker import Track
from roceproof.conformance.stimulus.requester.state import State
from roceproof.verbs.work import Outcome


class EarlyTrack(Track):
    """A track whose states may have completions that are not explained yet."""

    def completes(self, outcome: Outcome, time_ns: int) -> bool:
        """Sooner or later it must fit; of refused work, which may be told at once, also later."""
        self._states = [each._replace(early=(*each.early, outcome)) for each in self._states]
        self._explain(time_ns)
        return True

    def takes(self, frame: bytes, time_ns: int, *, begun_ns: int) -> int | None:
        """A frame, and what had waited for it; an answer that came later explains nothing."""
        life = super().takes(frame, time_ns, begun_ns=begun_ns)
        if life is not None:
            self._explain(time_ns)
        return life

    def owed(self) -> list[str]:
        """Completions that nothing has explained count as well."""
        debts = [(self._debts(each), self._unexplained(each), each) for each in self._states]
        numbers, early, state = min(debts, key=lambda each: len(each[0]) + len(each[1]))
        unexplained = [f"work {o.wr_id:#x} completed with {o.status}" for o in early]
        return [self._told(number, state) for number in numbers] or unexplained

    def _unexplained(self, state: State) -> list[Outcome]:
        """Of what a failed queue pair does not flush, refused work alone may have been told."""
        is_silent = state.is_told and not self.lives[state.life].flushes
        return [each for each in state.early if not (is_silent and self._is_refusal(each))]

    def _explain(self, time_ns: int) -> None:
        """Keep the states that explain most; a refusal may be in front of its turn in any."""
        found = [after for state in self._states for after in self._explained(state, time_ns)]
        lacks = [sum(not self._is_refusal(each) for each in state.early) for state in found]
        least = min(lacks)
        self._keep(state for state, n in zip(found, lacks, strict=True) if n == least)

    def _explained(self, state: State, time_ns: int) -> Iterator[State]:
        places = [0] if state.early else []
        if all(map(self._is_refusal, state.early[:-1])):
            places = [*range(len(state.early))]
        for place in places:
            if after := [*self._ends(state, state.early[place], time_ns)]:
                rest = state.early[:place] + state.early[place + 1 :]
                for each in after:
                    yield from self._explained(each._replace(early=rest), time_ns)
                if self._is_refusal(state.early[place]) and self._cut(state, time_ns) is not None:
                    yield state  # or it was told at once, and the message before goes on
                return
        yield state

    def _is_refusal(self, outcome: Outcome) -> bool:
        return any(
            work.wr_id == outcome.wr_id and outcome.status in life.refusals(work)
            for work in self.works
            for life in self.lives
        )
