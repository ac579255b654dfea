# SPDX-License-Identifier: BSD-2-Clause
"""Requesters whose PSN moves with what else happens at their QP: P06 and P25."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from roceproof.conformance.diagnosis.psn.steps import Step
from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import ACKNOWLEDGE, Reply, Sent, behind
from roceproof.conformance.wire.psn import distance

_LAG = 3  # events that have been seen but not yet counted
_LATE_NS = 3_000
"""So long ago they may have been seen, besides."""
_RECENT = 8  # requests received that may not have been executed yet
_LEAST_CASES = 2
_NEAR = 4
LEAST_COUNTED = 3  # fewer steps follow other packets by chance


def counts(
    events: Callable[[Stream], Sequence[Sent] | Sequence[Reply]],
    least: int = LEAST_COUNTED,
    lag: float = _LAG,
) -> Callable[[Stream, list[Step]], bool]:
    """Whether the PSN moves on with each of those frames, at most a few of them late."""

    def holds(stream: Stream, steps: list[Step]) -> bool:
        seen = events(stream)
        if not seen:
            return False
        moved = [part for run in stream.runs for part in _of_known_length(run)]
        wrong = sum(step.wrong and not stream.excused(step) for run in moved for step in run)
        return wrong >= least and all(_tracks(run, seen, lag) for run in moved)

    return holds


def _of_known_length(run: list[Step]) -> Iterator[list[Step]]:
    """The parts of a run between steps of which nobody knows how far they should go."""
    for known, part in groupby(run, lambda step: step.healthy is not None):
        if known:
            yield [*part]


def _tracks(run: list[Step], events: Sequence[Sent] | Sequence[Reply], lag: float) -> bool:
    begin = behind(events, run[0].before.number)
    owed = max(_LAG, min(begin, lag))  # of before, not yet counted
    extra, previous = 0, 0
    for step in run:
        extra += step.taken - (step.healthy or 1)
        seen = behind(events, step.after.number) - begin
        since, late = step.after.time_ns - _LATE_NS, 0
        while late < seen and events[begin + seen - 1 - late].time_ns > since:
            late += 1
        if not max(previous, seen - late - lag) <= extra <= seen + owed:
            return False
        previous = extra
    return True


def acks_received(stream: Stream) -> Sequence[Reply]:
    """The replies to its requests."""
    other = stream.side.counterpart
    return other.replies if other else []


def acks_sent(stream: Stream) -> Sequence[Reply]:
    """Those that its QP sends."""
    return stream.side.replies


def without_data(events: Callable[[Stream], Sequence[Reply]]) -> Callable[[Stream], list[Reply]]:
    """Those that are no responses to a READ."""
    return lambda stream: [each for each in events(stream) if each.opcode == ACKNOWLEDGE]


def requests_received(stream: Stream) -> Sequence[Sent]:
    """The requests of its peer."""
    other = stream.side.counterpart
    return other.requests if other else []


def loads_peers(stream: Stream, steps: list[Step]) -> bool:
    """P25 with one register for both: what goes wrong goes on behind a request just received."""
    wrong = [step for step in steps if step.wrong]
    far = any(not 0 <= step.taken <= _NEAR for step in wrong)
    enough = far or len(wrong) >= _LEAST_CASES
    return enough and all(follows_received(stream, step.after) for step in wrong)


def follows_received(stream: Stream, sent: Sent) -> bool:
    """Whether a request has the PSN behind one of those that its QP received last."""
    side = stream.side
    for other in [side.counterpart] if side.counterpart else side.may_be_counterpart:
        received = behind(other.requests, sent.number)
        recent = other.requests[max(0, received - _RECENT) : received]
        if any(distance(sent.psn, each.psn) == 1 for each in recent):
            return True
    return False
