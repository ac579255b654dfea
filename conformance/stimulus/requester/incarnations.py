# SPDX-License-Identifier: BSD-2-Clause
"""The lives that a queue pair may be in: a configuration is taken at a moment that nobody sees.

Work that was posted before a configuration may be taken before or behind it, so a life may begin
with any of it; what was taken before ends with the life.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from roceproof.conformance.model.segmentation import AWAIT_DATA
from roceproof.conformance.stimulus.requester.data_effects import effects_on_data
from roceproof.conformance.stimulus.requester.incarnation import FLUSHED, Life
from roceproof.conformance.stimulus.requester.state import Due, Remnants, Response, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Work

_RECENT = 48  # responses that may still be on their way to the device


class Lives:
    """All that was configured and posted."""

    def __init__(self, life: Life) -> None:
        self.works: list[Work] = []
        self.lives = [life]
        self._recent: deque[Response] = deque(maxlen=_RECENT)
        self._late: list[tuple[Response, ...]] = [()]
        """Of each life, responses sent before it that the device may take in only then."""

    def _born(self, number: int, first: int) -> State:
        spec = self.lives[number].spec
        return State(
            life=number,
            work=first,
            psn=spec.sq_psn,
            identity=spec.ip_id,
            oldest=spec.sq_psn,
            may=self._late[number],
        )

    def _limit(self, state: State) -> int:
        """The first work that belongs to the next life for certain."""
        later = self.lives[state.life + 1 :]
        return later[0].posted_before if later else len(self.works)

    def _reborn(self, state: State) -> State | None:
        """The state in the next life, if that has been configured."""
        if state.life + 1 == len(self.lives):
            return None
        born = self._born(state.life + 1, 0)
        waiting = (response._replace(is_ghost=True) for response in state.may)
        if state.open_until is None:
            ended = state.ends(self.lives[state.life].spec.service is Service.RC)
        else:
            ended = state._replace(life=born.life)
        return ended._replace(
            psn=born.psn,
            may=tuple(dict.fromkeys((*born.may, *waiting))),
            identity=born.identity,
            oldest=born.oldest,
            open_until=self.lives[born.life].posted_before,
        )

    def _skipping(self, state: State) -> State:
        """Past all work for which nothing is sent."""
        while (after := self._past_refused(state)) is not None:
            state = after
        return state

    def _past_refused(self, state: State) -> State | None:
        """Past one such work, None if the next one is sent."""
        is_between = state.packet == 0 and state.open_until is None and not state.is_told
        if not is_between or state.work >= self._limit(state):
            return None
        refused = sorted(self.lives[state.life].refusals(self.works[state.work]))
        if not refused:
            return None
        due = Due(state.work, refused[0], other_status=refused[-1])
        return state._replace(work=state.work + 1, free=(*state.free, due))

    def _starts(self, state: State) -> Iterator[State]:
        """The state with each work that may be the first of its life."""
        for lived in self._lived(state):
            if lived.open_until is None:
                yield lived
            else:
                for first in range(lived.work, lived.open_until + 1):
                    yield self._begun(lived, first)

    def _lived(self, state: State) -> Iterator[State]:
        """The state in this life and, unless there are none, in those behind it."""
        yield state
        reborn = self._reborn(state)
        if reborn is not None:
            yield from self._lived(reborn)

    def _begun(self, state: State, first: int) -> State:
        """An open life begins with that work; those before were of the life before."""
        old = state.old
        if first > state.work:
            old = (*old, Remnants(state.work, first, state.life))
        return state._replace(work=first, old=old, open_until=None)

    def _awaits_data(self, state: State) -> bool:
        """Whether a READ or an atomic is on the wire."""
        return any(self.works[number].op in AWAIT_DATA for number, _ in state.pending)

    def _effects(self, state: State, response: Response) -> Iterator[State]:
        """What a response to what is outstanding makes of a state."""
        if response.data is None and not self._awaits_data(state):
            yield state.heeds(response)
        else:
            yield from effects_on_data(state, response, self.lives[state.life], self.works)

    def _ways_to_end(self, life: int, number: int) -> frozenset[str]:
        work = self.works[number]
        refused = (known.refusals(work) for known in self.lives[: life + 1])
        return frozenset({FLUSHED}).union(*refused)
