# SPDX-License-Identifier: BSD-2-Clause
"""Judges one queue pair of a device that does not retransmit: every frame, every completion.

It is told what is posted, configured and answered, and sees what the device does in the order of
time. It keeps every state that the device may be in (`state`), and objects when none is left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from roceproof.conformance.model.segment import PSN_MODULUS, distance
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.stimulus.life import Life
from roceproof.conformance.stimulus.state import (
    FLUSHED,
    SUCCESS,
    TIMED_OUT,
    Asked,
    Due,
    Remnants,
    Response,
    State,
)
from roceproof.conformance.stimulus.tolerance import asks_early
from roceproof.verbs.service import Service
from roceproof.verbs.work import Outcome, Work

_MOST_STATES = 32
_RECENT = 48  # responses that may still be on their way to the device


class Track:
    """One queue pair through all its lives."""

    def __init__(self, life: Life) -> None:
        self.works: list[Work] = []
        self.lives = [life]
        self._recent: deque[Response] = deque(maxlen=_RECENT)
        self._late: list[tuple[Response, ...]] = [()]
        """Of each life, responses sent before it that the device may take in only then."""
        self.newest = (life.spec.sq_psn - 1) % PSN_MODULUS  # that was seen
        self._states = [self._born(0, 0)]

    # what is done to the device

    def configured(self, life: Life) -> None:
        """The queue pair starts anew, or is made inactive, whenever the device takes it."""
        is_at_rest = not self.owed()
        self.lives.append(life)
        self._late.append(tuple(each._replace(is_ghost=True) for each in self._recent))
        if is_at_rest:
            self._states = [self._born(len(self.lives) - 1, len(self.works))]

    def posted(self, work: Work) -> None:
        """More work."""
        self.works.append(work)

    def answered(self, response: Response) -> None:
        """A response is on its way."""
        if not response.is_reserved:
            self._recent.append(response)
            self._keep(after for state in self._states for after in self._hears(state, response))

    # what the device does

    def takes(self, frame: bytes, time_ns: int) -> int | None:
        """The life that a frame belongs to, None if it may not leave now."""
        after = [s for state in self._states for s in self._sends(state, frame, time_ns)]
        if not after:
            return None
        self._keep(iter(after))
        latest = self._states[-1]
        self.newest = (latest.psn - 1) % PSN_MODULUS
        return latest.life

    def sent_aside(self) -> None:
        """A packet left that is no request, and counts among the identities."""
        self._keep(replace(state, identity=state.identity + 1) for state in self._states)

    def completes(self, outcome: Outcome, time_ns: int) -> bool:
        """Whether work may end so now."""
        after = [s for state in self._states for s in self._ends(state, outcome, time_ns)]
        if after:
            self._keep(iter(after))
        return bool(after)

    # what must still come

    def expected_frames(self) -> list[bytes]:
        """What may leave next."""
        return [frame for state in self._states for _, frame in self._next(state)]

    def owed(self) -> list[str]:
        """What is missing when all is quiet, in words; nothing if some state is at rest."""
        debts = (self._debts(state) for state in self._states)
        return [self._told(number) for number in min(debts, key=len)]

    def overdue(self, now_ns: int, grace_ns: int) -> bool:
        """Whether a timeout should have failed the queue pair by now."""
        latest = [state.times_out_until(self.lives[state.life]) for state in self._states]
        return all(time is not None and now_ns > time + grace_ns for time in latest)

    @property
    def posted_count(self) -> int:
        """How much work there has been."""
        return len(self.works)

    @property
    def life_count(self) -> int:
        """How often it has been configured."""
        return len(self.lives)

    @property
    def uncertain_lives(self) -> int:
        """How many configurations may not have been taken yet."""
        return len(self.lives) - 1 - min(state.life for state in self._states)

    @property
    def violations(self) -> list[Violation]:
        """What was not to be, told elsewhere here."""
        return []

    @property
    def is_dead(self) -> bool:
        """Whether it has failed, as far as anybody knows."""
        return any(state.fault is not None for state in self._states)

    @property
    def unanswered(self) -> tuple[int, int] | None:
        """The first and the last PSN seen and not acknowledged."""
        state = self._states[-1]
        if distance(state.psn, state.oldest) <= 0:
            return None
        return state.oldest, (state.psn - 1) % PSN_MODULUS

    @property
    def end_psn(self) -> int:
        """The first PSN that no posted work uses, if none of it fails."""
        state, life = self._states[-1], self.lives[-1]
        is_there = state.life + 1 == len(self.lives)
        psn = (state.psn - state.packet) if is_there else life.spec.sq_psn
        first = state.work if is_there else life.posted_before
        sent = (work for work in self.works[first:] if life.refusal(work) is None)
        return (psn + sum(map(life.packets, sent))) % PSN_MODULUS

    # states

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

    def _keep(self, states: Iterator[State]) -> None:
        kept = list(states)
        self._states = kept if len(kept) == 1 else list(dict.fromkeys(kept))[:_MOST_STATES]

    def _limit(self, state: State) -> int:
        """The first work that belongs to the next life for certain."""
        later = self.lives[state.life + 1 :]
        return later[0].posted_before if later else len(self.works)

    def _reborn(self, state: State) -> State | None:
        """The state in the next life, if that has been configured."""
        if state.life + 1 == len(self.lives):
            return None
        born = self._born(state.life + 1, 0)
        if state.open_until is None:
            ended = state.ends(self.lives[state.life].spec.service is Service.RC)
        else:
            ended = replace(state, life=born.life)
        return replace(
            ended,
            psn=born.psn,
            may=born.may,
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
        refused = self.lives[state.life].refusal(self.works[state.work])
        if refused is None:
            return None
        return replace(state, work=state.work + 1, free=(*state.free, Due(state.work, refused)))

    # responses

    def _hears(self, state: State, response: Response) -> Iterator[State]:
        life = self.lives[state.life]
        if life.spec.service is not Service.RC:
            yield state
            return
        may = tuple(
            r for r in state.may if response.sent_ns <= r.expires_ns or state.is_outstanding(r.psn)
        )
        is_ghost = not state.is_outstanding(response.psn)
        waits = replace(state, may=(*may, response._replace(is_ghost=is_ghost)))
        if state.life + 1 < len(self.lives) or state.open_until is not None:
            yield waits
        elif state.fault is not None or distance(response.psn, state.oldest) < 0:
            yield state
        elif is_ghost or may:
            yield waits
        else:
            from_ns = state.times_out_from(life)
            is_late = from_ns is not None and response.expires_ns >= from_ns
            yield waits if is_late else state.heeds(response)

    # frames

    def _next(self, state: State) -> Iterator[tuple[State, bytes]]:
        """The frames that may leave next, each with the state in front of it."""
        for start in self._starts(state):
            start = self._skipping(start)
            if start.is_told or start.work >= self._limit(start):
                continue
            life, work = self.lives[start.life], self.works[start.work]
            first = (start.psn - start.packet) % PSN_MODULUS
            yield start, life.frame(work, start.packet, first, start.identity)

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
        return replace(state, work=first, old=old, open_until=None)

    def _ways_to_end(self, life: int, number: int) -> frozenset[str]:
        work = self.works[number]
        refused = (known.refusal(work) for known in self.lives[: life + 1])
        return frozenset({FLUSHED, *(status for status in refused if status)})

    def _sends(self, state: State, frame: bytes, time_ns: int) -> Iterator[State]:
        for start, wanted in self._next(state):
            is_last = start.packet + 1 == self.lives[start.life].packets(self.works[start.work])
            if frame == wanted or asks_early(frame, wanted):
                yield self._sent(start, time_ns, is_last=is_last)

    def _sent(self, state: State, time_ns: int, *, is_last: bool) -> State:
        life, work = self.lives[state.life], self.works[state.work]
        pending, due, asked = state.pending, state.due, state.asked
        if life.spec.service is Service.RC:
            if state.packet == 0:
                last = (state.psn + life.packets(work) - 1) % PSN_MODULUS
                pending = (*pending, (state.work, last))
            if is_last:
                asked = (*asked, Asked(state.psn, time_ns))
        elif is_last:
            due = (*due, Due(state.work, SUCCESS))
        fresh = tuple(r for r in state.may if r.psn != state.psn or time_ns <= r.expires_ns)
        return replace(
            state,
            work=state.work + is_last,
            packet=0 if is_last else state.packet + 1,
            psn=(state.psn + 1) % PSN_MODULUS,
            identity=state.identity + 1,
            pending=pending,
            due=due,
            asked=asked,
            may=fresh,
        )

    # completions

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
                yield replace(state, work=state.work + 1)
        if state.old:
            yield from self._old_ends(state, outcome)
            return
        for place, due in enumerate(state.free):
            if self._fits(due, outcome):
                yield replace(state, free=state.free[:place] + state.free[place + 1 :])
                return
        passed = self._cut(state, time_ns) or state
        while (after := self._past_refused(passed)) is not None:
            if self._fits(after.free[-1], outcome):
                yield replace(after, free=after.free[:-1])
                break
            passed = after
        if state.due:
            if self._fits(state.due[0], outcome):
                yield replace(state, due=state.due[1:])
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
            or any(response.fault is not None for response in state.may)
        )
        if state.packet == 0 or not may_have_failed:
            return None
        return replace(state, work=state.work + 1, packet=0)

    def _old_ends(self, state: State, outcome: Outcome) -> Iterator[State]:
        first, rest = state.old[0], state.old[1:]
        if isinstance(first, Remnants):
            ends = self._ways_to_end(first.life, first.work)
            if first.work + 1 < first.until:
                rest = (first._replace(work=first.work + 1), *rest)
        else:
            ends = first.ends
        if self._is(first.work, outcome) and outcome.status in ends:
            yield replace(state, old=rest)

    def _fails(self, state: State, fault: Due, outcome: Outcome) -> Iterator[State]:
        if state.pending:
            number = state.pending[0][0]
            want = Due(number, FLUSHED) if state.is_told else fault._replace(work=number)
            if self._fits(want, outcome):
                yield (
                    state.told() if not state.is_told else replace(state, pending=state.pending[1:])
                )
        elif state.is_told and state.work < self._limit(state):
            ends = {FLUSHED, self.lives[state.life].refusal(self.works[state.work])}
            if self._is(state.work, outcome) and outcome.status in ends:
                yield replace(state, work=state.work + 1)

    def _may_end(self, state: State, outcome: Outcome, time_ns: int) -> Iterator[State]:
        life = self.lives[state.life]
        for place, response in enumerate(state.may):
            if state.is_outstanding(response.psn):
                left = replace(state, may=state.may[place + 1 :])
                after = list(self._ends_in(left.heeds(response), outcome, time_ns))
                yield from after
                if after and not response.is_ghost:
                    break
        from_ns = state.times_out_from(life)
        if from_ns is not None and time_ns >= from_ns and state.pending:
            failed = replace(state, fault=Due(-1, TIMED_OUT))
            yield from self._fails(failed, Due(-1, TIMED_OUT), outcome)

    def _is(self, number: int, outcome: Outcome) -> bool:
        return self.works[number].wr_id == outcome.wr_id

    def _fits(self, due: Due, outcome: Outcome) -> bool:
        return (
            self._is(due.work, outcome)
            and outcome.status == due.status
            and outcome.syndrome in (None, due.syndrome)
        )

    # debts

    def _debts(self, state: State) -> list[int]:
        found: list[int] = []
        for start in self._starts(state):
            found = self._debts_of(start)
            if not found:
                break
        return found

    def _debts_of(self, state: State) -> list[int]:
        state = self._skipping(state)
        numbers = [due.work for due in (*state.due, *state.free)]
        for left in state.old:
            until = left.until if isinstance(left, Remnants) else left.work + 1
            numbers += range(left.work, until)
        numbers += [work for work, _ in state.pending]
        limit = self._limit(state)
        begun = {number for number, _ in state.pending}
        numbers += [number for number in range(state.work, limit) if number not in begun]
        if state.life + 1 < len(self.lives):
            numbers += range(limit, len(self.works))
        return numbers

    def _told(self, number: int) -> str:
        work = self.works[number]
        return f"work {work.wr_id:#x} ({work.op.name} of {work.size} bytes, number {number})"
