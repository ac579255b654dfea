# SPDX-License-Identifier: BSD-2-Clause
"""What one connection shows of PSN faults, and how it is said."""

from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.observation import Station
from roceproof.conformance.diagnosis.psn import recovery as psn_recovery
from roceproof.conformance.diagnosis.psn import responder as psn_responder
from roceproof.conformance.diagnosis.psn.carry import carry
from roceproof.conformance.diagnosis.psn.increment import LOOSE, besides, held_back, hypotheses
from roceproof.conformance.diagnosis.psn.kinds import AT_THE_END, BY_KIND, at_the_end, by_kind
from roceproof.conformance.diagnosis.psn.loss import Gap
from roceproof.conformance.diagnosis.psn.start import Ends, follows_the_peer, judge_start
from roceproof.conformance.diagnosis.psn.steps import Step
from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import Key, Side
from roceproof.conformance.diagnosis.result import CORRUPT, LOST
from roceproof.conformance.wire.psn import PSN_MODULUS, distance

_FEW, _MANY = 2, 4
_LIKE_LOSS = frozenset({"P12", "P16", "P23"})
_ANYWHERE = _LIKE_LOSS | LOOSE | {"P14", LOST}
"""What may befall any step."""


class Cause(Enum):
    """What kind of behaviour evidence is about."""

    START = auto()
    COUNTING = auto()
    REACTION = auto()
    """To a loss, or to requests: a peer that counts wrongly provokes it."""
    NETWORK = auto()


class Evidence(NamedTuple):
    """Frames of one connection that one class of signatures explains."""

    device: Station
    """The one at fault."""
    connection: frozenset[Key]
    """Both directions, as far as they are known."""
    cause: Cause
    ids: tuple[str, ...]
    frames: tuple[int, ...]
    text: str
    requester: Station
    """Who sent the requests."""
    weak: tuple[str, ...] = ()
    """What fits, too, if other connections bear it out."""
    may_be_lost: bool = False
    """Whether losses would look the same."""
    held_back: tuple[str, ...] = ()
    """What fits, too, if packets may wait inside long after their PSNs were drawn."""
    is_proven: bool = True
    """Whether ICRCs tell that the packets which it rests on left like that."""


def _evidence(
    side: Side,
    cause: Cause,
    ids: Sequence[str],
    frames: Sequence[int],
    text: str,
    *,
    peer: bool,
    weak: Sequence[str] = (),
    may_be_lost: bool = False,
    held_back: Sequence[str] = (),
) -> Evidence:
    other = side.counterpart
    is_proven = side.is_proven and (cause is Cause.COUNTING or other is None or other.is_proven)
    device = other.station if peer and other else side.station
    connection = frozenset({side.key, other.key if other else side.key})
    return Evidence(
        device,
        connection,
        cause,
        tuple(ids),
        tuple(frames),
        f"{side.key}: {text}",
        side.station,
        tuple(weak),
        may_be_lost,
        tuple(held_back),
        is_proven,
    )


def of_start(stream: Stream, ends: Ends, *, begins: bool) -> Iterator[Evidence]:
    """P01, P02, P10, P20: where the PSNs begin."""
    side, first = stream.side, stream.first
    if not begins:
        if follows_the_peer(stream):
            text = f"frame {first.number} goes on behind the peer's PSN, at {first.psn:#08x}"
            yield _evidence(side, Cause.COUNTING, ("P25",), (first.number,), text, peer=False)
        return
    start = judge_start(stream, ends)
    if start is not None and start.responder:
        text = f"frame {first.number} begins rightly at PSN {first.psn:#08x}, and is not expected"
        reply = next(each for each in side.answers if each.number > first.number)
        yield _evidence(side, Cause.START, start.ids, (reply.number,), text, peer=True)
    elif start is not None:
        text = f"frame {first.number} begins at PSN {first.psn:#08x}, {start.expected:#08x} is due"
        yield _evidence(side, Cause.START, start.ids, (first.number,), text, peer=False)


def of_counting(stream: Stream) -> Iterator[Evidence]:
    """P03-P09, P12-P16, P23-P25: how the PSNs go on."""
    side = stream.side
    for ids, marked in carry(stream) if stream.requests[0] is side.requests[0] else ():
        text = f"the bits beside AckReq are {marked[0].reserved7:#04x} in frame {marked[0].number}"
        frames = [sent.number for sent in marked]
        yield _evidence(side, Cause.COUNTING, ids, frames, text, peer=False)
    resumed = {
        recovery.onward.number
        for recovery in psn_recovery.wrong_returns(stream)
        if recovery.onward is not None
    }
    wrong = [
        step
        for step in stream.wrong
        if step.after.number not in resumed and not side.repeats_step(step.before, step.after)
    ]
    if wrong:
        frames = [step.after.number for step in wrong]
        fits = hypotheses(stream)
        small = bool(fits) or len(wrong) <= _FEW
        between = _between_messages(stream, wrong)
        by_chance = bool(fits) and len(wrong) < _MANY
        if small and between and _LIKE_LOSS.issuperset(fits):
            fits = [LOST, *fits, *(id_ for id_ in besides(stream) if id_ not in fits)]
        elif between and (by_chance or _LIKE_LOSS & {*fits}):
            fits.insert(
                next((n for n, id_ in enumerate(fits) if id_ in _LIKE_LOSS), len(fits)), LOST
            )
        weak = [id_ for id_ in besides(stream) if id_ not in fits]
        text = _step_text(wrong)
        if _ANYWHERE.issuperset(fits):
            fits, more, words = _placed(stream, fits)
            weak += more
            text += words
        yield _evidence(
            side,
            Cause.COUNTING,
            fits,
            frames,
            text,
            peer=False,
            weak=weak,
            may_be_lost=between or LOST in fits,
            held_back=held_back(stream),
        )
    torn = stream.torn
    if torn:
        step = torn[0]
        text = f"in front of frame {step.after.number} packets of a message are missing"
        frames = [step.after.number for step in torn]
        yield _evidence(side, Cause.NETWORK, (LOST,), frames, text, peer=False)


def _placed(stream: Stream, fits: Sequence[str]) -> tuple[list[str], list[str], str]:
    """The ids, weak ones and words, where the places of the wrong steps tell more than fits."""
    steps = [step for step in stream.steps if step.healthy is not None and not stream.excused(step)]
    if words := by_kind(steps):
        return [BY_KIND, *fits], [], f", and so behind {words}, behind no other"
    if at_the_end(steps):
        first = [LOST] if LOST in fits else []
        rest = [id_ for id_ in fits if id_ not in first]
        if any(step.taken == 0 for step in steps):
            rest += [id_ for id_ in ("P14", *_of_uc(stream)) if id_ not in rest]
        return [*first, AT_THE_END, *rest], [], ""
    return [*fits], [BY_KIND] if by_kind(steps, 1) else [], ""


def _of_uc(stream: Stream) -> tuple[str, ...]:
    return () if stream.side.reliable else ("P23",)


def _between_messages(stream: Stream, wrong: Sequence[Step]) -> bool:
    return all(step.skipped and stream.gap(step) is Gap.BETWEEN for step in wrong)


def _step_text(wrong: Sequence[Step]) -> str:
    step = wrong[0]
    due = (step.before.psn + (step.healthy or 1)) % PSN_MODULUS
    return (
        f"{len(wrong)} steps are wrong; frame {step.after.number} has "
        f"PSN {step.after.psn:#08x} behind {step.before.psn:#08x}, {due:#08x} is due"
    )


def of_restarts(streams: Sequence[Stream], budget: Budget) -> Iterator[Evidence]:
    """P17: judged over all connections of a device."""
    devices: dict[Station, list[tuple[Stream, psn_recovery.Restart]]] = {}
    for stream in streams:
        for restart in psn_recovery.restarts(stream, budget):
            devices.setdefault(stream.side.station, []).append((stream, restart))
    for found in devices.values():
        if psn_recovery.restarts_wrongly([restart for _, restart in found]):
            # The first packets of a few resends may have been lost, or changed on the way.
            ids = ("P17", LOST) if len(found) <= _FEW else ("P17",)
            for stream, (nak, jump, *_) in found:
                text = (
                    f"frame {nak.number} asks for PSN {nak.psn:#08x}, "
                    f"the resend begins at {jump.psn:#08x} in frame {jump.number}"
                )
                side = stream.side
                yield _evidence(side, Cause.REACTION, ids, (jump.number,), text, peer=False)


def of_recovery(stream: Stream, budget: Budget, *, deaf: bool) -> Iterator[Evidence]:
    """P11, P18, P19: what is sent again, and what comes behind it.

    A requester that may drop acknowledgements repeats what is acknowledged for that alone.
    """
    side = stream.side
    again = psn_recovery.new_psns(side, budget) or psn_recovery.new_psns_unanswered(stream)
    if again:
        text = f"frame {again[0].number} repeats a packet under a new PSN, {again[0].psn:#08x}"
        frames = [sent.number for sent in again]
        yield _evidence(side, Cause.REACTION, ("P11",), frames, text, peer=False)
    returns = [
        (each, each.onward)
        for each in psn_recovery.wrong_returns(stream)
        if each.onward is not None
    ]
    if returns:
        first, onward = returns[0]
        text = f"behind the repeats frame {onward.number} does not go on at {first.due:#08x}"
        frames = [onward.number for _, onward in returns]
        sure = not all(each.repeats_at_once for each, _ in returns)
        skips = all(distance(onward.psn, each.due) > 0 for each, onward in returns)
        known = ("P18", LOST) if skips and len(returns) <= _FEW else ("P18",)
        ids, weak = (known, ()) if sure else ((), (*known, "P14"))
        yield _evidence(side, Cause.REACTION, ids, frames, text, peer=False, weak=weak)
    replays = psn_recovery.corner_replays(stream, budget)
    if replays:
        text = f"frame {replays[0].number} repeats PSN {replays[0].psn:#08x}, which is acknowledged"
        frames = [sent.number for sent in replays]
        ids, weak = ((), ("P19",)) if deaf else (("P19",), ())
        yield _evidence(side, Cause.REACTION, ids, frames, text, peer=False, weak=weak)


def of_responder(stream: Stream, budget: Budget) -> Iterator[Evidence]:
    """P20, P21, P22: what the replies say that the responder expects."""
    side = stream.side
    beside = psn_responder.constant_offset(stream, budget)
    damaged = psn_responder.moved_by_damage(side, budget)
    inside, counted = psn_responder.short_reads(stream, budget)
    behind_first = all(distance(reply.psn, stream.first.psn) == 1 for reply in inside)
    short = ("P22", *(["P20"] if behind_first else []))
    for ids, weak, replies, what in (
        (("P20",), (), beside, "acknowledges a PSN beside the request's"),
        (("P21", CORRUPT), (), damaged, "takes a damaged request for received"),
        (
            short if counted else (),
            () if counted else short,
            inside,
            "asks for a PSN inside a READ's range",
        ),
    ):
        if replies:
            text = f"frame {replies[0].number} {what} (PSN {replies[0].psn:#08x})"
            frames = [reply.number for reply in replies]
            yield _evidence(side, Cause.REACTION, ids, frames, text, peer=True, weak=weak)
