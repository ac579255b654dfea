# SPDX-License-Identifier: BSD-2-Clause
"""How work may end: which completions fit a state, and what the state is behind them."""

from __future__ import annotations

from collections.abc import Iterator

from roceproof.conformance.stimulus.requester.incarnation import FLUSHED
from roceproof.conformance.stimulus.requester.incarnations import Lives
from roceproof.conformance.stimulus.requester.state import (
    SUCCESS,
    TIMED_OUT,
    Due,
    Remnants,
    State,
)
from roceproof.verbs.work import Outcome


class Endings(Lives):
    """The lives, and completions in them."""

    def _ends(self, state: State, outcome: Outcome, time_ns: int) -> Iterator[State]:
        for lived in self._lived(state):
            yield from self._ends_in(lived, outcome, time_ns)
            if lived.open_until is not None:
                begun = self._begun(lived, lived.work)
                yield from self._ends_in(begun, outcome, time_ns)

    def _ends_in(self, state: State, outcome: Outcome, time_ns: int) -> Iterator[State]:
        if state.open_until is not None and not state.old and state.work < state.open_until:
            ways = self._ways_to_end(state.life, state.work)
            if self._is(state.work, outcome) and outcome.status in ways:
                yield state._replace(work=state.work + 1)
        for place, due in enumerate(state.free):
            if self._fits(due, outcome):
                yield state._replace(free=state.free[:place] + state.free[place + 1 :])
                return
        if state.old:
            yield from self._old_ends(state, outcome)
            return
        passed = self._cut(state, time_ns) or state
        while (after := self._past_refused(passed)) is not None:
            if self._fits(after.free[-1], outcome):
                yield after._replace(free=after.free[:-1])
                break
            passed = after
        if state.due:
            if self._fits(state.due[0], outcome):
                yield state._replace(due=state.due[1:])
            return
        if state.fault is not None:
            yield from self._fails(state, state.fault, outcome)
            return
        yield from self._may_end(state, outcome, time_ns)

    def _cut(self, state: State, time_ns: int) -> State | None:
        """The state behind a message that a failure may have cut short, before that is told."""
        from_ns = state.times_out_from(self.lives[state.life])
        may_have_failed = (
            state.fault is not None
            or (from_ns is not None and time_ns >= from_ns)
            or any(response.may_fail for response in state.may)
        )
        if state.packet == 0 or not may_have_failed:
            return None
        return state._replace(work=state.work + 1, packet=0)

    def _old_ends(self, state: State, outcome: Outcome) -> Iterator[State]:
        first, rest = state.old[0], state.old[1:]
        if isinstance(first, Remnants):
            ends = self._ways_to_end(first.life, first.work)
            if first.work + 1 < first.until:
                rest = (first._replace(work=first.work + 1), *rest)
        else:
            ends = first.ends
        if self._is(first.work, outcome) and outcome.status in ends:
            yield state._replace(old=rest)

    def _fails(self, state: State, fault: Due, outcome: Outcome) -> Iterator[State]:
        if state.is_told and not self.lives[state.life].flushes:
            return
        if state.pending:
            number = state.pending[0][0]
            want = Due(number, FLUSHED) if state.is_told else fault._replace(work=number)
            if self._fits(want, outcome):
                yield (
                    state.told() if not state.is_told else state._replace(pending=state.pending[1:])
                )
        elif state.is_told and state.work < self._limit(state):
            ends = {FLUSHED, *self.lives[state.life].refusals(self.works[state.work])}
            if self._is(state.work, outcome) and outcome.status in ends:
                yield state._replace(work=state.work + 1)

    def _may_end(self, state: State, outcome: Outcome, time_ns: int) -> Iterator[State]:
        life = self.lives[state.life]
        for place, response in enumerate(state.may):
            if state.is_outstanding(response.psn):
                left = state._replace(may=state.may[place + 1 :])
                effects = [*self._effects(left, response)]
                after = [
                    end
                    for heard in effects
                    if heard != left  # what changes nothing is passed over here, too
                    for end in self._ends_in(heard, outcome, time_ns)
                ]
                yield from after
                may_do_nothing = response.is_ghost or response.is_reserved or left in effects
                if after and not may_do_nothing:
                    break
        from_ns = state.times_out_from(life)
        if from_ns is not None and time_ns >= from_ns and state.pending:
            failed = state._replace(fault=Due(-1, TIMED_OUT))
            yield from self._fails(failed, Due(-1, TIMED_OUT), outcome)

    def _is(self, number: int, outcome: Outcome) -> bool:
        return self.works[number].wr_id == outcome.wr_id

    def _fits(self, due: Due, outcome: Outcome) -> bool:
        return (
            self._is(due.work, outcome)
            and (outcome.status in (due.status, due.other_status) or _is_own(due, outcome))
            and (due.syndrome is None or outcome.syndrome in (None, due.syndrome))
        )


def _is_own(due: Due, outcome: Outcome) -> bool:
    """Whether it is a failure of the work itself, where any is right."""
    return due.is_any_error and outcome.status not in (SUCCESS, FLUSHED)
