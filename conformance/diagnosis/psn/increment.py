# SPDX-License-Identifier: BSD-2-Clause
"""What a requester counts when it does not count packets: P03-P09, P12-P16, P23, P25.

A hypothesis says for every step between two new requests how far the PSN moves,
or judges a whole run of steps; it holds if it is right about every step, the
healthy ones included, and says something else than a healthy requester somewhere.
"""

from collections.abc import Callable, Sequence
from math import inf

from roceproof.conformance.diagnosis.psn.beats import BEATS_OF_BODY, BEATS_OF_FRAME, Predict
from roceproof.conformance.diagnosis.psn.events import (
    acks_received,
    acks_sent,
    counts,
    follows_received,
    loads_peers,
    requests_received,
    without_data,
)
from roceproof.conformance.diagnosis.psn.late import latched_early, some_alike, taken_up_by_a_loss
from roceproof.conformance.diagnosis.psn.steps import Step
from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import Sent
from roceproof.conformance.wire.opcodes import Family, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, distance

_LEAST_CASES = 2
_LOST_AT_ONCE = 64
_PER_LOSS = 2  # wrong steps that bear a way of counting out, for each that seems to be a loss
_MANY_CASES = 5  # so many do even if each might be a loss by itself
LOOSE = frozenset({"P06", "P25"})
"""What follows other packets, a few of them late, and so may fit where something else is exact."""


def hypotheses(stream: Stream) -> list[str]:
    """The ids that fit every step, those up to the first recovery, or all but what may be losses.

    The most telling come first.
    """
    for run in (list(stream.steps), stream.runs[0]):
        steps = [step for step in run if step.is_known and not stream.excused(step)]
        if any(step.wrong for step in steps):
            found = [id_ for id_, holds in _JUDGES if holds(stream, steps)]
            if LOOSE.issuperset(found):
                found += _but_for_what_is_missing(stream)
            if found:
                return list(dict.fromkeys(found))
    found = _but_for_what_is_missing(stream)
    if found:
        return found
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
    if any(step.taken == (step.healthy or 1) + 1 for step in wrong):
        found.append("P16")
    return found


def _but_for_what_is_missing(stream: Stream) -> list[str]:
    known = [step for step in stream.steps if step.is_known]
    return [id_ for id_, holds in _BUT_FOR_LOSSES if holds(stream, known)]


def _by_step(predict: Predict) -> Callable[[Stream, list[Step]], bool]:
    def holds(stream: Stream, steps: list[Step]) -> bool:
        return all(predict(stream, step) in (step.taken, None) for step in steps)

    return holds


def _but_for_losses(
    fits: Predict, per_loss: int = _PER_LOSS, least: int = _MANY_CASES
) -> Callable[[Stream, list[Step]], bool]:
    """As `_by_step`, where some packets were lost on the way to the capture."""

    def holds(stream: Stream, steps: list[Step]) -> bool:
        left = borne_out = clear = 0
        for step in steps:
            expected = fits(stream, step)
            if expected is None:
                continue
            if not 0 <= step.taken - expected <= _LOST_AT_ONCE:
                return False
            left += step.taken != expected
            if step.wrong and step.taken == expected:
                borne_out += 1
                clear += step.taken < (step.healthy or 1)
        return bool(clear or borne_out >= least) and borne_out >= per_loss * left

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


def _empty_twice(_: Stream, step: Step) -> int | None:
    return 2 if _is_empty(step.before) else step.healthy


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


def _frame_beats(stream: Stream, steps: list[Step]) -> bool:
    """P07 where the beats of all headers are counted; steps of several sizes have to say so."""
    if len({step.taken for step in steps if step.wrong}) < _LEAST_CASES:
        return False
    return any(_by_step(way)(stream, steps) for way in BEATS_OF_FRAME)


def _some_of(
    ways: Sequence[Callable[[Stream, list[Step]], bool]],
) -> Callable[[Stream, list[Step]], bool]:
    return lambda stream, steps: any(way(stream, steps) for way in ways)


def _shared(stream: Stream, steps: list[Step]) -> bool:
    """P09: what goes wrong begins or ends where another QP of the station takes over."""
    wrong = [step for step in steps if step.wrong]
    met = sum(not stream.shared.isdisjoint((s.before.number, s.after.number)) for s in wrong)
    return 0 < len(wrong) <= 2 * met


def _partly_shared(stream: Stream, _: list[Step]) -> bool:
    """P09 where packets are missing, so that few show where the register went on."""
    return any(step.after.number in stream.shared for step in stream.wrong)


def _some_behind_the_peer(stream: Stream, _: list[Step]) -> bool:
    """P25 where other packets are missing."""
    return any(follows_received(stream, step.after) for step in stream.wrong)


def _twice(_: Stream, steps: list[Step]) -> bool:
    """P16: single PSNs are left out, inside messages, too; the stalls do not show on the wire."""
    wrong = [step for step in steps if step.wrong]
    inside = [step for step in wrong if not step.after.row.position & Position.FIRST]
    return bool(inside) and all(step.taken == (step.healthy or 1) + 1 for step in wrong)


def _mostly_twice(_: Stream, steps: list[Step]) -> bool:
    """P16 where some packets were lost in front of the capture."""
    wrong = [step for step in steps if step.wrong]
    single = [step for step in wrong if step.taken == (step.healthy or 1) + 1]
    inside = any(not step.after.row.position & Position.FIRST for step in single)
    few = len(single) >= max(_MANY_CASES, _PER_LOSS * (len(wrong) - len(single)))
    return inside and few and all(step.skipped for step in wrong)


def _mostly_skips_one(stream: Stream, steps: list[Step]) -> bool:
    """P23 where it looks like that."""
    return not stream.side.reliable and _mostly_twice(stream, steps)


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
    ("P07", _some_of([_by_step(beats) for beats in BEATS_OF_BODY])),
    ("P07", _frame_beats),
    ("P09", _shared),
    ("P06", counts(acks_received)),
    ("P06", counts(acks_sent)),
    ("P06", counts(without_data(acks_received))),
    ("P06", counts(without_data(acks_sent))),
    ("P25", counts(requests_received)),
    ("P25", loads_peers),
    ("P14", latched_early),
    ("P12", _beside_empty),
    ("P12", _between_messages),
    ("P16", _twice),
    ("P16", _now_and_then),
    ("P23", _skips_one),
    ("P23", taken_up_by_a_loss),
)


_BUT_FOR_LOSSES: tuple[tuple[str, Callable[[Stream, list[Step]], bool]], ...] = (
    ("P15", _but_for_losses(_byte_order)),
    ("P04", _but_for_losses(_sixteen_bits)),
    ("P08", _but_for_losses(_read_by_one)),
    ("P13", _but_for_losses(_empty_stays)),
    ("P12", _but_for_losses(_empty_twice)),
    ("P03", _but_for_losses(_per_message)),
    ("P07", _some_of([_but_for_losses(beats) for beats in BEATS_OF_BODY])),
    ("P16", _mostly_twice),
    ("P23", _mostly_skips_one),
)
_AT_TIMES = (
    ("P04", _but_for_losses(_sixteen_bits, 0)),
    ("P08", _but_for_losses(_read_by_one, 0)),
    ("P13", _but_for_losses(_empty_stays, 0)),
    ("P03", _but_for_losses(_per_message, 0)),
    ("P12", _but_for_losses(_empty_twice, 0, 1)),
)
"""What explains some steps that no loss does, if there are losses, too."""

_BY_CHANCE = (
    ("P09", _partly_shared),
    ("P06", counts(acks_received, 1)),
    ("P06", counts(acks_sent, 1)),
    ("P06", counts(without_data(acks_received), 1)),
    ("P06", counts(without_data(acks_sent), 1)),
    ("P25", counts(requests_received, 1)),
    ("P25", _some_behind_the_peer),
    ("P14", some_alike),
)


_HELD_BACK = (
    ("P09", _partly_shared),
    ("P06", counts(acks_received, 1, inf)),
    ("P06", counts(acks_sent, 1, inf)),
    ("P25", _some_behind_the_peer),
    ("P25", counts(requests_received, 1, inf)),
)


def held_back(stream: Stream) -> list[str]:
    """What fits packets that may have waited inside, long after their PSNs were drawn."""
    return list(dict.fromkeys(id_ for id_, holds in _HELD_BACK if holds(stream, [])))


def besides(stream: Stream) -> list[str]:
    """What fits few wrong steps as well, if by chance."""
    known = [step for step in stream.steps if step.is_known]
    found = [id_ for id_, holds in _BY_CHANCE if holds(stream, [])]
    return list(dict.fromkeys(found + [id_ for id_, holds in _AT_TIMES if holds(stream, known)]))
