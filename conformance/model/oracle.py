# SPDX-License-Identifier: BSD-2-Clause
"""Which answers a responder may give to a frame, whatever its reading of the specification.

An oracle stands beside one queue pair of a device. It is told of the memory and the
receives that the device has, of every frame that is sent there, and of what came back;
it keeps all states in which a conforming device can then be.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from roceproof.conformance.model.alternatives import Alternative, alternatives
from roceproof.conformance.model.codes import AethType
from roceproof.conformance.model.components import RESPONDERS
from roceproof.conformance.model.ingress import Drop, Ingress
from roceproof.conformance.model.memory import OWN_DOMAIN, Memory, Region
from roceproof.conformance.model.receive_queue import Receive, ReceiveQueue
from roceproof.conformance.model.responder.base import Responder
from roceproof.conformance.model.responder.connected import ConnectedResponder
from roceproof.conformance.model.responder.policy import ResponderPolicy
from roceproof.conformance.model.responder.rc_answers import Kept
from roceproof.conformance.model.responder.rc_responses import RcResponses
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.headers import Aeth, AtomicAckEth
from roceproof.conformance.wire.opcodes import Transport
from roceproof.verbs import work
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec, State
from roceproof.verbs.work import Op, Outcome

Answer = tuple[Segment, ...]
_AT_ONCE = frozenset({"asked_ack", "repeated_ack"})
"""An ACK that comes later is looked for only where one at once does not explain what came."""
_FLUSHED = "wr_flush_err"


class Reaction(NamedTuple):
    """The responses to a frame, and why it was dropped, if it was before the queue pair."""

    answer: Answer
    drop: Drop | None = None


class Beside:
    """Ingress and responder of one queue pair under one policy."""

    def __init__(
        self, host: Host, qp: Qp, policy: ResponderPolicy, executes: Collection[Op] | None
    ) -> None:
        self.memory = Memory()
        self.receives = ReceiveQueue(shared=qp.spec.shared_receive)
        self.spec: QpSpec = qp.spec
        self.responder: Responder = RESPONDERS[qp.spec.service](
            qp.spec, memory=self.memory, receives=self.receives, policy=policy, executes=executes
        )
        self.ingress = Ingress(host.mac, {host.ip}, {qp.qpn: self}, policy)

    @property
    def state(self) -> State:
        return State.ERR if self.responder.failed else self.spec.state

    @property
    def policy(self) -> ResponderPolicy:
        return self.responder.policy

    @policy.setter
    def policy(self, policy: ResponderPolicy) -> None:
        self.responder.policy = self.ingress.policy = policy

    def rest(self) -> None:
        """All that was asked for has been answered."""
        for kept in self._kept():
            kept.rested = True

    def busy(self) -> Beside | None:
        """The same while READs and atomics that came since wait for their turn; None if none do.

        As many may be under way as the queue pair allows, and one more is refused then.
        """
        if sum(not kept.rested for kept in self._kept()) < self.spec.max_dest_rd_atomic:
            return None
        own: Beside = pickle.loads(pickle.dumps(self))
        for kept in own._kept():
            kept.answered = kept.rested
        return own

    @property
    def owes(self) -> bool:
        """Whether an ACK that was asked for has not come yet, and still will."""
        return bool(self._debts())

    def _debts(self) -> list[int]:
        own = self.responder
        return own.debts if isinstance(own, RcResponses) and not own.failed else []

    def paid(self) -> Iterator[tuple[Beside, Answer]]:
        """The same behind each ACK that it owes, and that ACK."""
        for psn in self._debts():
            own: Beside = pickle.loads(pickle.dumps(self))
            assert isinstance(own.responder, RcResponses)
            own.responder.acknowledge(psn)
            yield own, tuple(iter(own.responder.next_response, None))

    def _kept(self) -> Iterable[Kept]:
        return self.responder.kept if isinstance(self.responder, RcResponses) else ()

    def react(self, frame: bytes) -> Reaction:
        admitted = self.ingress.examine(frame)
        if isinstance(admitted, Drop):
            return Reaction((), admitted)
        row = admitted.segment.row
        if row is not None and (row.is_response or row.transport is Transport.CNP):
            return Reaction(())
        return Reaction(tuple(self.responder.receive(admitted.segment, admitted.network_header)))


class Unexplained(NamedTuple):
    """How far a row of frames could be explained: the first answer that differs from all allowed.

    Nothing is wanted where one was left over, or where an ACK that was asked for did not come.
    """

    place: int  # of the frame that broke it; their number, if nothing is wanted
    wanted: list[Segment]
    got: Segment | None


class Oracle:
    """All states in which the device can be."""

    def __init__(
        self,
        host: Host,
        qp: Qp,
        *,
        policy: ResponderPolicy | None = None,
        tolerated: Collection[Enum] = (),
        executes: Collection[Op] | None = None,
    ) -> None:
        self._tolerated = tolerated
        self.states = [Beside(host, qp, policy or ResponderPolicy(), executes)]

    # what the device has; to be told before the first frame

    def mirror(
        self, region: work.Region, *, access: frozenset[str] = FULL_ACCESS, domain: int = OWN_DOMAIN
    ) -> None:
        """The device has this memory, with these bytes."""
        for state in self.states:
            own = state.memory.register(
                region.extent, addr=region.addr, rkey=region.rkey, access=access, domain=domain
            )
            own.write(0, region.read(0, region.extent))

    def post_receive(
        self, *, wr_id: int, region: work.Region, offset: int = 0, length: int
    ) -> None:
        """The device has this receive, in memory that is mirrored."""
        for state in self.states:
            own = self._mirrored(state, region.rkey)
            state.receives.post(Receive(wr_id, own, offset, length))

    def forget(self, rkey: int) -> None:
        """The key was taken back."""
        for state in self.states:
            state.memory.invalidate(rkey)

    # frames

    def allowed(self, frame: bytes) -> list[Alternative]:
        """All that may happen; `result` is a `Reaction`. The states do not change."""
        ways = [way for state in self.states for way in self._ways(state, frame)]
        return list({_signature(way): way for way in reversed(ways)}.values())

    def observe(self, frame: bytes, got: Sequence[Segment]) -> list[Alternative]:
        """The device was sent the frame and answered so; the ways that lead there, none if none.

        From now on the device is where one of them ends.
        """
        fitting = [way for way in self.allowed(frame) if matches(way.result.answer, got)]
        if fitting:
            self.states = [way.model for way in fitting]
        return fitting

    def observe_all(self, frames: Sequence[bytes], got: Sequence[Segment]) -> Unexplained | None:
        """As `observe`, of frames in a row whose answers came when all of them were sent.

        An ACK may be left to a later response of the same row, or come behind any of them.
        """
        unexplained = self._follow(frames, got, _AT_ONCE)
        if unexplained is not None and self._follow(frames, got, frozenset()) is None:
            return None
        return unexplained

    def _follow(
        self, frames: Sequence[bytes], got: Sequence[Segment], settled: frozenset[str]
    ) -> Unexplained | None:
        paths = [(state, 0) for state in self.states]
        policy = self.states[0].policy
        for index, frame in enumerate(frames):
            paths += _paid(paths, got)
            ways = [(way, at) for state, at in paths for way in self._ways(state, frame, settled)]
            ends = [
                (way.model, at + len(way.result.answer))
                for way, at in ways
                if matches(way.result.answer, got[at : at + len(way.result.answer)])
            ]
            if not ends:
                return _unexplained(index, [(way.result.answer, at) for way, at in ways], got)
            paths = _distinct(ends, policy)
        paths += _paid(paths, got)
        whole = [state for state, at in paths if at == len(got) and not state.owes]
        if not whole:
            return _unexplained(len(frames), [((), at) for _, at in paths], got)
        self.states = whole
        for state in self.states:
            state.rest()
        return None

    @property
    def next_psns(self) -> set[int]:
        """The PSNs that a device which still lives may expect."""
        responders = [state.responder for state in self.states]
        connected = [each for each in responders if isinstance(each, ConnectedResponder)]
        return {each.expected_psn for each in connected if not each.failed}

    @property
    def may_live(self) -> bool:
        """Whether a conforming device may still be serving."""
        return any(not state.responder.failed for state in self.states)

    @property
    def must_live(self) -> bool:
        """Whether every conforming device is still serving."""
        return all(not state.responder.failed for state in self.states)

    def fail(self) -> None:
        """The queue pair is told to enter the error state; the device is at rest."""
        for state in self.states:
            state.responder.fail()

    def observe_outcomes(
        self, got: Sequence[Outcome], *, is_strict: bool = False
    ) -> list[list[Outcome]]:
        """These are all completions so far; those that were possible, none if these were.

        Which error a receive ends with is not compared; but if that is strict, one that no message
        has begun to fill is flushed.
        """
        fitting = [s for s in self.states if _fit(s.responder.outcomes, got, is_strict=is_strict)]
        if not fitting:
            return [state.responder.outcomes for state in self.states]
        self.states = fitting
        return []

    def holds(self, rkey: int) -> bool:
        """Whether the key may still name memory."""
        return any(state.memory.region(rkey) is not None for state in self.states)

    def observe_memory(
        self, got: Mapping[int, bytes], *, unsaid: Mapping[int, Sequence[range]] | None = None
    ) -> tuple[int, int] | None:
        """Regions hold these bytes, by key; the first that may not be so, and where.

        Of places that are `unsaid` nothing is asked.
        """
        differing = [self._differing(state, got, unsaid or {}) for state in self.states]
        fitting = [s for s, wrong in zip(self.states, differing, strict=True) if wrong is None]
        if not fitting:
            return differing[0]
        self.states = fitting
        return None

    def _differing(
        self, state: Beside, got: Mapping[int, bytes], unsaid: Mapping[int, Sequence[range]]
    ) -> tuple[int, int] | None:
        for rkey, data in got.items():
            own = state.memory.region(rkey)
            want = data if own is None else own.read(0, len(data))
            for place in unsaid.get(rkey, ()):
                span = slice(place.start, place.stop)
                want = want[: place.start] + data[span] + want[place.stop :]
            if want != data:
                return rkey, next(
                    n for n, pair in enumerate(zip(want, data, strict=True)) if pair[0] != pair[1]
                )
        return None

    def _ways(
        self, state: Beside, frame: bytes, settled: frozenset[str] = _AT_ONCE
    ) -> Iterator[Alternative]:
        ways = partial(alternatives, tolerated=self._tolerated, settled=settled)
        yield from ways(state, _take(frame))
        busy = state.busy()
        if busy is not None and not busy.responder.failed:
            yield from (way for way in ways(busy, _take(frame)) if way.model.responder.failed)

    def may_hold(self, rkey: int, offset: int, data: bytes) -> bool:
        """Whether that memory of a conforming device may hold these bytes now."""
        return any(
            self._mirrored(state, rkey).read(offset, len(data)) == data for state in self.states
        )

    @staticmethod
    def _mirrored(state: Beside, rkey: int) -> Region:
        region = state.memory.region(rkey)
        if region is None:
            raise KeyError(f"no memory with key {rkey:#x} was mirrored, or it is invalid now")
        return region


def _unexplained(
    place: int, ways: Iterable[tuple[Answer, int]], got: Sequence[Segment]
) -> Unexplained:
    """Of the ways that explain most of what came, what each goes on with."""
    reached: dict[int, list[Segment]] = {}
    for answer, start in ways:
        pairs = zip(answer, got[start:], strict=False)
        same = sum(1 for _ in takewhile(lambda pair: matches(pair[:1], pair[1:]), pairs))
        reached.setdefault(start + same, []).extend(answer[same : same + 1])
    furthest = max(reached)
    came = got[furthest] if furthest < len(got) else None
    return Unexplained(place, reached[furthest], came)


def _paid(paths: Iterable[tuple[Beside, int]], got: Sequence[Segment]) -> list[tuple[Beside, int]]:
    """Those that owe an ACK, where it is what came next."""
    ways = [(*way, at) for state, at in paths if at < len(got) for way in state.paid()]
    return [(state, at + 1) for state, ack, at in ways if matches(ack, got[at : at + 1])]


def _take(frame: bytes) -> Callable[[Beside], Reaction]:
    return lambda model: model.react(frame)


def _fit(own: Sequence[Outcome], got: Sequence[Outcome], *, is_strict: bool) -> bool:
    if [*map(_ending, own)] != [*map(_ending, got)]:
        return False
    pairs = zip(own, got, strict=True)
    return not is_strict or all(g.status == _FLUSHED for o, g in pairs if o.status == _FLUSHED)


def _ending(outcome: Outcome) -> tuple[object, ...]:
    if outcome.status != "success":
        return outcome.wr_id, False
    return outcome.wr_id, True, outcome.byte_len, outcome.immediate, outcome.invalidated


def matches(expected: Iterable[Segment], got: Iterable[Segment]) -> bool:
    """Whether two answers say the same; MigReq and credits may differ."""
    return [*map(_meaning, expected)] == [*map(_meaning, got)]


def _meaning(segment: Segment) -> tuple[object, ...]:
    aeth, original = segment.extension(Aeth), segment.extension(AtomicAckEth)
    code: int | None = None
    if aeth is not None:
        is_ack = aeth.syndrome >> 5 == AethType.ACK
        code = AethType.ACK if is_ack else aeth.syndrome
    bth = segment.bth
    msn = None if aeth is None else aeth.msn
    return bth.opcode, bth.dest_qpn, bth.psn, code, msn, original, segment.payload


def _signature(way: Alternative) -> tuple[object, ...]:
    """Ways with the same answer differ at most in whether the queue pair lives."""
    return tuple(map(_meaning, way.result.answer)), way.model.responder.failed, way.result.drop


def _distinct(
    paths: Iterable[tuple[Beside, int]], policy: ResponderPolicy
) -> list[tuple[Beside, int]]:
    """One path of each kind that the next frames cannot tell apart, each free to choose anew."""
    found = {}
    for state, at in paths:
        state.policy = policy
        found[pickle.dumps((state, at))] = (state, at)
    return list(found.values())
