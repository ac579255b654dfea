# SPDX-License-Identifier: BSD-2-Clause
"""What a requester counts when it does not count packets: P03-P09, P12-P16, P23, P25.

A hypothesis says for every step between two new requests how far the PSN moves,
or judges a whole run of steps; it holds if it is right about every step, the
healthy ones included, and says something else than a healthy requester somewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter

from roceproof.conformance.diagnosis.psn.stream import Step, Stream
from roceproof.conformance.diagnosis.psn.timeline import PSN_MODULUS, Sent, behind, distance
from roceproof.conformance.wire.opcodes import Family, Position

_BEATS = (4, 8, 16, 32, 64, 128)
_LAG = 3  # events that have been seen but not yet counted
_RECENT = 8  # requests received that may not have been executed yet
_LEAST_CASES = 2
_NEAR = 4
_LEAST_COUNTED = 3  # fewer steps follow other packets by chance

Predict = Callable[[Stream, Step], int | None]


def hypotheses(stream: Stream) -> list[str]:
    """The ids that fit every step, or those up to the first recovery; most telling first."""
    for run in (list(stream.steps), stream.runs[0]):
        steps = [step for step in run if step.healthy is not None and not stream.excused(step)]
        if any(step.wrong for step in steps):
            found = [id_ for id_, holds in _JUDGES if holds(stream, steps)]
            if found:
                return list(dict.fromkeys(found))
    wrong = stream.wrong
    repeats_or_skips = all(step.taken == 0 or step.skipped for step in wrong)
    if stream.side.reliable or not wrong or not repeats_or_skips:
        return []
    repeats = any(step.taken == 0 for step in wrong)
    found = ["P23", *(["P14"] if repeats else [])]
    if stream.side.messages_are_odd and repeats:
        found.append("P03")
    if any(follows_received(stream, step.after) for step in wrong):
        found.append("P25")
    return found


def _by_step(predict: Predict) -> Callable[[Stream, list[Step]], bool]:
    def holds(stream: Stream, steps: list[Step]) -> bool:
        return all(predict(stream, step) in (step.taken, None) for step in steps)

    return holds


def _per_message(_: Stream, step: Step) -> int | None:
    return 1 if step.before.row.position & Position.LAST else 0


def _sixteen_bits(_: Stream, step: Step) -> int | None:
    low = step.before.psn & 0xFFFF
    moved = (low + (step.healthy or 1)) & 0xFFFF
    return moved - low


def _read_by_one(_: Stream, step: Step) -> int | None:
    return 1 if step.before.row.family is Family.READ else step.healthy


def _empty_stays(_: Stream, step: Step) -> int | None:
    stays = _is_empty(step.before) or (_reads_nothing(step.before) and step.taken == 0)
    return 0 if stays else step.healthy


def _reads_nothing(sent: Sent) -> bool:
    """Whether it is a READ of no bytes, which some count by its payload and others as a request."""
    return sent.reth is not None and sent.row.family is Family.READ and sent.reth.length == 0


def _is_empty(sent: Sent) -> bool:
    carries = sent.row.family in (Family.SEND, Family.WRITE)
    return carries and sent.size == 0 and sent.row.position == Position.ONLY


def _reversed(psn: int) -> int:
    return int.from_bytes(psn.to_bytes(3, "big"), "little")


def _byte_order(_: Stream, step: Step) -> int | None:
    after = _reversed((_reversed(step.before.psn) + (step.healthy or 1)) % PSN_MODULUS)
    return distance(after, step.before.psn)


def _beats(_: Stream, steps: list[Step]) -> bool:
    """P07: the bytes are those of the payload, or of all between BTH and ICRC."""
    return any(
        all(_is_beats(step, size(step.before), width) for step in steps)
        for size in (attrgetter("size"), attrgetter("body"))
        for width in _BEATS
    )


def _is_beats(step: Step, size: int, width: int) -> bool:
    """A READ has no payload, and takes what a healthy one does or a beat."""
    beats = max(1, -(-size // width))
    return step.taken == beats or (
        step.before.row.family is Family.READ and step.taken == step.healthy
    )


def _shared(stream: Stream, steps: list[Step]) -> bool:
    """P09: across the station's QPs, most requests go on where another QP's request ended."""
    crossings, joined = stream.side.crossings
    several = sum(step.wrong for step in steps) >= _LEAST_CASES
    return several and joined >= _LEAST_CASES and 2 * joined > crossings


def _counts(
    events: Callable[[Stream], Sequence[int]], least: int = _LEAST_COUNTED
) -> Callable[[Stream, list[Step]], bool]:
    """Whether the PSN moves on with each of those frames, at most a few of them late."""

    def holds(stream: Stream, steps: list[Step]) -> bool:
        numbers = events(stream)
        if not numbers:
            return False
        moved = [part for run in stream.runs for part in _of_known_length(run)]
        wrong = sum(step.wrong and not stream.excused(step) for run in moved for step in run)
        return wrong >= least and all(_tracks(run, numbers) for run in moved)

    return holds


def _of_known_length(run: list[Step]) -> Iterator[list[Step]]:
    """The parts of a run between steps of which nobody knows how far they should go."""
    for known, part in groupby(run, lambda step: step.healthy is not None):
        if known:
            yield [*part]


def _tracks(run: list[Step], numbers: Sequence[int]) -> bool:
    begin = bisect_right(numbers, run[0].before.number)
    extra, previous = 0, 0
    for step in run:
        extra += step.taken - (step.healthy or 1)
        seen = bisect_right(numbers, step.after.number) - begin
        if not max(previous, seen - _LAG) <= extra <= seen + _LAG:
            return False
        previous = extra
    return True


def _acks_received(stream: Stream) -> Sequence[int]:
    other = stream.side.counterpart
    return other.reply_numbers if other else []


def _acks_sent(stream: Stream) -> Sequence[int]:
    return stream.side.reply_numbers


def _requests_received(stream: Stream) -> Sequence[int]:
    other = stream.side.counterpart
    return other.request_numbers if other else []


def _loads_peers(stream: Stream, steps: list[Step]) -> bool:
    """P25 with one register for both: what goes wrong goes on behind a request just received."""
    wrong = [step for step in steps if step.wrong]
    far = any(not 0 <= step.taken <= _NEAR for step in wrong)
    enough = far or len(wrong) >= _LEAST_CASES
    return enough and all(follows_received(stream, step.after) for step in wrong)


def follows_received(stream: Stream, sent: Sent) -> bool:
    """Whether a request has the PSN behind one of those that its QP received last."""
    other = stream.side.counterpart
    received = behind(other.requests, sent.number) if other else 0
    return other is not None and any(
        distance(sent.psn, each.psn) == 1
        for each in other.requests[max(0, received - _RECENT) : received]
    )


def _latched_early(_: Stream, steps: list[Step]) -> bool:
    """P14: packets carry the PSN of the one before, and the next ones do not."""
    late: list[int] = []
    timely: list[int] = []
    previous: Sent | None = None
    right = returned = 0
    for step in steps:
        if step.before is not previous:
            right = step.before.psn
        before, right = right, (right + (step.healthy or 1)) % PSN_MODULUS
        if step.after.psn not in (before, right):
            return False
        (timely if step.after.psn == right else late).append(step.pause_ns)
        returned += bool(late) and step.after.psn == right
        previous = step.after
    if not late or not returned:
        return False
    return len(late) >= _LEAST_CASES or max(late) < min(timely)


def _some_alike(stream: Stream, _: list[Step]) -> bool:
    """P14 where packets are alike, so that one that carries the PSN before seems a repeat."""
    return any(each.jump.psn == each.before.psn for each in stream.recoveries)


def _twice(_: Stream, steps: list[Step]) -> bool:
    """P16: single PSNs are left out, inside messages, too; the stalls do not show on the wire."""
    wrong = [step for step in steps if step.wrong]
    inside = [step for step in wrong if not step.after.row.position & Position.FIRST]
    return bool(inside) and all(step.taken == (step.healthy or 1) + 1 for step in wrong)


def _skips_one(stream: Stream, steps: list[Step]) -> bool:
    """P23 where it looks like P12 or P16, for all leave out single PSNs."""
    if stream.side.reliable:
        return False
    return all(step.taken == (step.healthy or 1) + 1 for step in steps if step.wrong)


def _beside_empty(_: Stream, steps: list[Step]) -> bool:
    """P12 with empty messages: each takes one PSN too many."""
    wrong = [step for step in steps if step.wrong]
    empty = [step for step in steps if _is_empty(step.before)]
    return wrong == empty and all(step.taken == 2 for step in wrong)


def _between_messages(_: Stream, steps: list[Step]) -> bool:
    """P12 with aborted messages, which the wire does not show: single PSNs left out at a start."""
    wrong = [step for step in steps if step.wrong]
    at_start = all(step.after.row.position & Position.FIRST for step in wrong)
    return at_start and all(step.taken == (step.healthy or 1) + 1 for step in wrong)


def _now_and_then(stream: Stream, steps: list[Step]) -> bool:
    """P16 that met no packet inside a message, and nothing but empty ones by design."""
    return _between_messages(stream, steps) and not _beside_empty(stream, steps)


_JUDGES: tuple[tuple[str, Callable[[Stream, list[Step]], bool]], ...] = (
    ("P15", _by_step(_byte_order)),
    ("P04", _by_step(_sixteen_bits)),
    ("P08", _by_step(_read_by_one)),
    ("P13", _by_step(_empty_stays)),
    ("P03", _by_step(_per_message)),
    ("P07", _beats),
    ("P09", _shared),
    ("P06", _counts(_acks_received)),
    ("P06", _counts(_acks_sent)),
    ("P25", _counts(_requests_received)),
    ("P25", _loads_peers),
    ("P14", _latched_early),
    ("P12", _beside_empty),
    ("P12", _between_messages),
    ("P16", _twice),
    ("P16", _now_and_then),
    ("P23", _skips_one),
)


_BY_CHANCE = (
    ("P06", _counts(_acks_received, 1)),
    ("P06", _counts(_acks_sent, 1)),
    ("P25", _counts(_requests_received, 1)),
    ("P14", _some_alike),
)


def besides(stream: Stream) -> list[str]:
    """What fits few wrong steps as well, if by chance."""
    return list(dict.fromkeys(id_ for id_, holds in _BY_CHANCE if holds(stream, [])))


def carry(stream: Stream) -> list[tuple[tuple[str, ...], list[Sent]]]:
    """P05 and P24: what the seven bits beside AckReq tell."""
    marked = stream.side.marked
    if not marked:
        return []
    if stream.first.reserved7:
        return [(("P24", "PSN-19"), marked)]
    before = stream.side.requests[: behind(stream.side.requests, marked[0].number - 1)]
    wrapped = any(distance(b.psn, a.psn) > 0 and b.psn < a.psn for a, b in pairwise(before))
    at_wrap = before and before[-1].psn > marked[0].psn
    if not (at_wrap or wrapped):
        return []
    asks_always = all(sent.ack_req for sent in before)
    return [(("P05", "P24") if asks_always else ("P05",), marked)]
