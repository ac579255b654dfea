# SPDX-License-Identifier: BSD-2-Clause
"""Judges one queue pair of a device that does not retransmit: every frame, every completion.

It is told what is posted, configured and answered, and sees what the device does in the order of
time. It keeps every state that the device may be in (`state`), and objects when none is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from roceproof.conformance.model.segmentation import AWAIT_DATA
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.stimulus.requester.endings import Endings
from roceproof.conformance.stimulus.requester.incarnation import Life
from roceproof.conformance.stimulus.requester.state import (
    SUCCESS,
    Asked,
    Awaited,
    Due,
    Remnants,
    Response,
    State,
)
from roceproof.conformance.stimulus.requester.tolerance import is_as_wanted
from roceproof.conformance.targets.interface import TargetError
from roceproof.conformance.wire.psn import PSN_MODULUS, distance
from roceproof.verbs.service import Service
from roceproof.verbs.work import Outcome, Work

_MOST_STATES = 1 << 10
_UNREACHABLE = 1 << 16
"""So far behind what was sent that it cannot be sent while an answer to it is on its way."""


class Track(Endings):
    """One queue pair through all its lives."""

    def __init__(self, life: Life) -> None:
        super().__init__(life)
        self.newest = (life.spec.sq_psn - 1) % PSN_MODULUS  # that was seen
        self._states = [self._born(0, 0)]
        self._told_ns = 0  # a failure, if one was

    # what is done to the device

    def configured(self, life: Life) -> None:
        """The queue pair starts anew, or is made inactive, whenever the device takes it."""
        is_at_rest = not self.owed()
        self.lives.append(life)
        self._late.append(tuple(each._replace(is_ghost=True) for each in self._recent))
        if is_at_rest:
            self._states = [self._born(len(self.lives) - 1, len(self.works))]

    def posted(self, work: Work) -> None:
        self.works.append(work)

    def answered(self, response: Response) -> None:
        response = response._replace(posted=len(self.works))
        self._recent.append(response)
        self._keep(after for state in self._states for after in self._hears(state, response))

    def rested(self, since_ns: int) -> None:
        """All has been quiet since then: what was heard before has taken effect."""
        self._keep(after for s in self._certain for after in self._rested(s, since_ns))
        while self._recent and self._recent[0].sent_ns <= since_ns:
            self._recent.popleft()  # no later life hears it

    # what the device does

    def takes(self, frame: bytes, time_ns: int, *, begun_ns: int) -> int | None:
        """The life that a frame belongs to, None if it may not leave now."""
        after = [s for state in self._states for s in self._sends(state, frame, time_ns, begun_ns)]
        if not after:
            return None
        self._keep(iter(after))
        latest = self._states[-1]
        self.newest = (latest.psn - 1) % PSN_MODULUS
        return latest.life

    def sent_aside(self) -> None:
        """A packet left that is no request, and counts among the identities."""
        self._keep(
            state._replace(identity=self.lives[state.life].identity_behind(state.identity))
            for state in self._states
        )

    def completes(self, outcome: Outcome, time_ns: int) -> bool:
        """Whether work may end so now."""
        after = [s for state in self._states for s in self._ends(state, outcome, time_ns)]
        if after:
            if not any(state.is_told for state in self._states):
                self._told_ns = time_ns
            self._keep(iter(after))
        return bool(after)

    # what must still come

    def expected_frames(self, came: bytes = b"") -> list[bytes]:
        return [frame for state in self._states for _, frame in self._next(state, came)]

    def repeats(self, frame: bytes) -> list[bytes]:
        """None: nothing leaves twice."""
        return []

    def owed(self) -> list[str]:
        """What is missing when all is quiet, in words; nothing if some state is at rest."""
        debts = [(self._debts(state), state) for state in self._states]
        numbers, state = min(debts, key=lambda each: len(each[0]))
        return [self._told(number, state) for number in numbers]

    def overdue(self, now_ns: int, grace_ns: int) -> bool:
        """Whether a timeout should have failed the queue pair by now."""
        latest = [state.times_out_until(self.lives[state.life]) for state in self._certain]
        return all(time is not None and now_ns > time + grace_ns for time in latest)

    @property
    def posted_count(self) -> int:
        """How much work there has been."""
        return len(self.works)

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
        """Whether it has failed for certain."""
        return all(state.fault is not None for state in self._states)

    @property
    def unanswered(self) -> tuple[int, int] | None:
        """The first and the last PSN seen and not acknowledged."""
        alive = [state for state in self._states if state.fault is None] or self._states
        waiting = [state for state in alive if distance(state.psn, state.oldest) > 0]
        return (waiting[-1].oldest, (waiting[-1].psn - 1) % PSN_MODULUS) if waiting else None

    @property
    def awaited(self) -> list[Awaited]:
        """What is on the wire and waits for data, in order."""
        alive = [state for state in self._states if state.fault is None] or self._states
        state, found = alive[-1], list[Awaited]()
        for number, last in state.pending:
            if (work := self.works[number]).op in AWAIT_DATA:
                span = self.lives[state.life].span(work)
                found.append(Awaited(work, (last - span + 1) % PSN_MODULUS, span))
        return found

    def has_answer(self, psn: int) -> bool:
        """Whether the device has dealt with that PSN for certain."""
        return all(distance(psn, state.oldest) < 0 for state in self._states)

    @property
    def end_psn(self) -> int:
        """The first PSN that no posted work uses, if none of it fails."""
        state, life = self._states[-1], self.lives[-1]
        is_there = state.life + 1 == len(self.lives)
        psn = (state.psn - state.packet) if is_there else life.spec.sq_psn
        first = state.work if is_there else life.posted_before
        sent = (work for work in self.works[first:] if life.refusal(work) is None)
        return (psn + sum(map(life.span, sent))) % PSN_MODULUS

    # states

    @property
    def _certain(self) -> list[State]:
        """Without those in which a device has chosen to fail and yet says nothing."""
        return [state for state in self._states if not state.may_be_alive] or self._states

    def _keep(self, states: Iterator[State]) -> None:
        kept = list(states)
        self._states = kept if len(kept) == 1 else list(dict.fromkeys(kept))
        if len(self._states) > _MOST_STATES:
            raise TargetError(
                f"a queue pair may be in more than {_MOST_STATES:,} states: whoever answers it"
                " must let it rest earlier"
            )

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
        waits = state._replace(may=(*may, response._replace(is_ghost=is_ghost)))
        if state.life + 1 < len(self.lives) or state.open_until is not None:
            yield waits
        elif state.fault is not None or self._is_out_of_reach(state, response):
            yield state
        elif is_ghost or may:
            yield waits
        else:
            from_ns = state.times_out_from(life)
            is_late = from_ns is not None and response.expires_ns >= from_ns
            if is_late:
                yield waits
                return
            if response.is_reserved and not self._awaits_data(state):
                yield state
                before = state.acknowledges(response)
                yield before
                yield before.heeds(response)
            yield from self._effects(state, response)

    def _rested(self, state: State, since_ns: int) -> Iterator[State]:
        left = [state]  # there may be thousands of responses
        while left:
            state = left.pop()
            after = self._rested_once(state, since_ns)
            if after is None:
                yield state
            else:
                left += after[::-1]

    def _rested_once(self, state: State, since_ns: int) -> list[State] | None:
        """The states behind the next response that has taken effect, None where there is none."""
        is_clear = state.open_until is None and state.life + 1 == len(self.lives)
        is_clear &= bool(state.may) and state.fault is None
        if not is_clear or state.may[0].sent_ns > since_ns:
            return None
        response, left = state.may[0], state._replace(may=state.may[1:])
        from_ns = state.times_out_from(self.lives[state.life])
        if response.is_reserved or not state.is_outstanding(response.psn):
            return [left]
        if response.is_ghost or (from_ns is not None and response.expires_ns >= from_ns):
            return None
        return [*self._effects(left, response)]

    def _is_out_of_reach(self, state: State, response: Response) -> bool:
        """Whether it can never be heeded: acknowledged before, or too far from being sent."""
        behind = distance(response.psn, state.psn)
        return distance(response.psn, state.oldest) < 0 or behind > _UNREACHABLE

    # frames

    def _next(self, state: State, came: bytes = b"") -> Iterator[tuple[State, bytes]]:
        """The frames that may leave next, or have come, each with the state in front of it."""
        for start in self._starts(state):
            start = self._skipping(start)
            if start.is_told or start.work >= self._limit(start):
                continue
            life, work = self.lives[start.life], self.works[start.work]
            for ready in self._with_room(start):
                first = (ready.psn - ready.packet) % PSN_MODULUS
                yield ready, life.frame(work, ready.packet, first, ready.identity, came=came)

    def _with_room(self, state: State) -> Iterator[State]:
        """The state if its next work may leave (READ-05), else those that an answer makes of it."""
        waiting = {state: None}
        while waiting:
            yield from (each for each in waiting if self._has_room(each))
            waiting = {
                after: None
                for each in waiting
                if each.may and not self._has_room(each)
                for after in self._hears_first(each)
                if after.fault is None
            }

    def _has_room(self, state: State) -> bool:
        if self.works[state.work].op not in AWAIT_DATA:
            return True
        awaiting = sum(self.works[number].op in AWAIT_DATA for number, _ in state.pending)
        return awaiting < self.lives[state.life].spec.max_rd_atomic

    def _hears_first(self, state: State) -> Iterator[State]:
        """The first of the responses that may take effect does so, or never will."""
        left = state._replace(may=state.may[1:])
        yield left
        if state.is_outstanding(state.may[0].psn):
            yield from self._effects(left, state.may[0])

    def _sends(self, state: State, frame: bytes, time_ns: int, begun_ns: int) -> Iterator[State]:
        if state.late is not None and begun_ns <= self._told_ns:
            yield from self._sent_late(state, *state.late, frame)
        for start, wanted in self._next(state, frame):
            is_last = start.packet + 1 == self.lives[start.life].packets(self.works[start.work])
            if is_as_wanted(frame, wanted):
                waits_ns = start.waits_ns if start.is_outstanding(start.oldest) else begun_ns
                waiting = start._replace(waits_ns=waits_ns)
                yield self._sent(waiting, time_ns, is_last=is_last)

    def _sent_late(self, state: State, number: int, packet: int, frame: bytes) -> Iterator[State]:
        """A packet that had begun to leave when the failure was told, and ends."""
        begun = self._skipping(state._replace(work=number, packet=packet, is_told=False))
        if begun.work >= self._limit(begun):
            return
        life, first = self.lives[state.life], (state.psn - begun.packet) % PSN_MODULUS
        work, identity = self.works[begun.work], state.identity
        if is_as_wanted(frame, life.frame(work, begun.packet, first, identity, came=frame)):
            behind = life.identity_behind(identity)
            yield state._replace(psn=(state.psn + 1) % PSN_MODULUS, identity=behind, late=None)

    def _sent(self, state: State, time_ns: int, *, is_last: bool) -> State:
        life, work = self.lives[state.life], self.works[state.work]
        pending, due, asked = state.pending, state.due, state.asked
        span = life.span(work)
        psns = span if work.op in AWAIT_DATA else 1
        behind = (state.psn + psns) % PSN_MODULUS
        if life.spec.service is Service.RC:
            if state.packet == 0:
                last = (state.psn + span - 1) % PSN_MODULUS
                pending = (*pending, (state.work, last))
            if is_last:
                asked = (*asked, Asked((behind - 1) % PSN_MODULUS, time_ns))
        elif is_last:
            due = (*due, Due(state.work, SUCCESS))
        fresh = tuple(
            r
            for r in state.may
            if not 0 <= distance(r.psn, state.psn) < psns
            or time_ns <= r.expires_ns
            or state.work < r.posted
        )
        return state._replace(
            work=state.work + is_last,
            packet=0 if is_last else state.packet + 1,
            psn=behind,
            identity=life.identity_behind(state.identity),
            pending=pending,
            due=due,
            asked=asked,
            may=fresh,
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
        if state.is_told and not self.lives[state.life].flushes:
            return []
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

    def _told(self, number: int, state: State) -> str:
        """A debt, and what has become of the work."""
        work = self.works[number]
        told = f"work {work.wr_id:#x} ({work.op.name} of {work.size} bytes, number {number})"
        return f"{told} {self._stage(number, state)}"

    def _stage(self, number: int, state: State) -> str:
        for due in (*state.due, *state.free):
            if due.work == number:
                has_left = self.lives[state.life].spec.service is not Service.RC
                done = "which has left" if has_left else "which is acknowledged"
                return done if due.status == SUCCESS else f"which ends with {due.status}"
        is_sent = any(work == number for work, _ in state.pending)
        if state.fault is not None:
            is_first = is_sent and not state.is_told and state.pending[0][0] == number
            return f"which ends with {state.fault.status}" if is_first else "which is flushed"
        return "which waits for an answer" if is_sent else "which was not sent"
