# SPDX-License-Identifier: BSD-2-Clause
"""The PSN half of the diagnosis: what each device does in all its connections together.

Evidence is gathered connection by connection. A device has the same fault in
all of them, so the signature is the one that explains most of what its counting
does wrong; what recovery and responder show in the same connections follows
from that and is no fault of its own.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from roceproof.conformance.diagnosis.budget import Budget, OutOfBudget
from roceproof.conformance.diagnosis.observation import Observation, Station
from roceproof.conformance.diagnosis.psn.events import LEAST_COUNTED
from roceproof.conformance.diagnosis.psn.evidence import (
    Cause,
    Evidence,
    of_counting,
    of_recovery,
    of_responder,
    of_restarts,
    of_start,
)
from roceproof.conformance.diagnosis.psn.kinds import PLACED
from roceproof.conformance.diagnosis.psn.names import first_advice, separating, title_of
from roceproof.conformance.diagnosis.psn.neighbours import meet_neighbours
from roceproof.conformance.diagnosis.psn.pairing import pair_sides
from roceproof.conformance.diagnosis.psn.start import Ends
from roceproof.conformance.diagnosis.psn.stream import Stream, streams_of
from roceproof.conformance.diagnosis.psn.timeline import Key, Suffered, sides_of
from roceproof.conformance.diagnosis.psn.weighing import best
from roceproof.conformance.diagnosis.result import CORRUPT, LOST, UNDECIDED, Diagnosis

_SHOWN = 3
_LEAST_UNPROVEN = 4
"""Wrong steps and answers in packets of which no ICRC tells that they left like that."""
_EXACT = frozenset({"P04", "P05", "P15", "P24", LOST}) | PLACED
"""What a single step tells, for no other error looks like it; or what accuses nobody."""
_SHARE = 0.6  # of the wrong steps of a device; what explains less is not its habit
_LAST_RESORT = ("P19",)
_MISLEADING = ("P20",)
_RETURNS = ("P18",)
_TAKE_DAMAGED = ("P21", CORRUPT)
_RESENDING = frozenset({"P11", "P17", "P18"})
"""Wrong repetitions, which draw answers that look wrong."""
_MOVE_THE_START = frozenset({"P06", "P09", "P15", "P25"})


def explain_psns(
    observations: list[Observation],
    facts: Mapping[str, Any] | None,
    budget: Budget | None = None,
    *,
    from_start: bool = True,
    suffered: Suffered | None = None,
    odd: frozenset[Station] = frozenset(),
    deaf: bool = False,
) -> list[Diagnosis]:
    """Explain the PSNs of every device; nothing if all are right.

    Where the observations are a stretch from the middle of a capture, nothing begins in it.
    `suffered` tells which frames did so on the way, where that is known: a wrong ICRC of another
    may be the sender's habit, which a peer of the same make does not mind. `odd` are the stations
    whose messages are built wrongly. With `deaf`, who has wrong ICRCs may find right ones wrong,
    and drop acknowledgements.
    """
    budget = budget or Budget()
    streams = _streams(observations, facts, budget, suffered, odd)
    evidence = _gathered(streams, budget, deaf=deaf)
    if not from_start:
        evidence = [found for found in evidence if found.cause is not Cause.START]
    fitting = [found.ids or found.weak for found in evidence]
    if any(ids != _LAST_RESORT and LOST not in ids for ids in fitting):
        evidence = [found for found in evidence if (found.ids or found.weak) != _LAST_RESORT]
    damaged = any(sent.damaged for stream in streams for sent in stream.requests)
    if damaged or (suffered and suffered.changed):  # that may look like one wrong return
        returns = [each for each in evidence if each.ids[:1] == _RETURNS]
        count = Counter(each.device for each in returns for _ in each.frames)
        evidence = [
            each._replace(ids=(), weak=_RETURNS)
            if each.ids[:1] == _RETURNS and count[each.device] == 1
            else each
            for each in evidence
        ]
    careless = {found.device for found in evidence if found.ids == _TAKE_DAMAGED}
    is_open = suffered is not None and suffered.is_open
    if is_open or len(careless) > 1:  # so many are hardly at fault at once
        ids, weak = ((), _TAKE_DAMAGED) if is_open else (_TAKE_DAMAGED[::-1], ())
        evidence = [
            found._replace(ids=ids, weak=weak) if found.ids == _TAKE_DAMAGED else found
            for found in evidence
        ]
    devices: dict[Station, list[Evidence]] = {}
    for found in evidence:
        devices.setdefault(found.device, []).append(found)
    miscounted = {
        found.connection
        for found in evidence
        if found.cause is Cause.COUNTING or found.ids == _MISLEADING
    }
    return [
        diagnosis
        for device, found in devices.items()
        for diagnosis in _diagnose(device, found, evidence, miscounted, held_back=deaf)
    ]


def _streams(
    observations: list[Observation],
    facts: Mapping[str, Any] | None,
    budget: Budget,
    suffered: Suffered | None,
    odd: frozenset[Station],
) -> list[Stream]:
    streams: list[Stream] = []
    sides = sides_of(observations, facts, suffered)
    pair_sides(sides, budget)
    for side in sides:
        side.messages_are_odd = side.station in odd
        try:
            streams += streams_of(side, budget)
        except OutOfBudget:
            budget.leave_out("the order of PSNs", str(side.station))
    meet_neighbours(streams)
    return streams


def _gathered(streams: list[Stream], budget: Budget, *, deaf: bool) -> list[Evidence]:
    """All that the connections show, as far as the budget goes."""
    evidence: list[Evidence] = []
    try:
        evidence += of_restarts(streams, budget)
    except OutOfBudget:
        for stream in streams:
            budget.leave_out("restarts", str(stream.side.station))
    ends = Ends(streams)
    known: set[int] = set()
    for stream in streams:
        evidence += of_start(stream, ends, begins=id(stream.side) not in known)
        known.add(id(stream.side))
        evidence += of_counting(stream)
        try:
            found = [*of_recovery(stream, budget, deaf=deaf), *of_responder(stream, budget)]
        except OutOfBudget:
            budget.leave_out("reactions to losses and to requests", str(stream.side.station))
        else:
            evidence += found
    return evidence


def _diagnose(
    device: Station,
    evidence: Sequence[Evidence],
    everything: Sequence[Evidence],
    miscounted: set[frozenset[Key]],
    *,
    held_back: bool,
) -> list[Diagnosis]:
    diagnoses = []
    counted: tuple[str, ...] = ()
    counting = [found for found in evidence if found.cause in (Cause.COUNTING, Cause.NETWORK)]
    if counting:
        counted = best(counting, _SHARE, held_back=held_back)
        diagnoses.append(_diagnosis(device, counted, counting, least=LEAST_COUNTED))
    starts = [found for found in evidence if found.cause is Cause.START]
    moved = counted if LOST not in counted else counted[:1]
    if starts and not _MOVE_THE_START & {*moved}:
        ids = best(starts, _SHARE)
        if LOST in ids:
            ids += tuple(id_ for id_ in counted if id_ in _MOVE_THE_START and id_ not in ids)
        diagnoses.append(_diagnosis(device, ids, starts))
    resent = {found.connection for found in everything if _resends(found)}
    resending = Counter(found.requester for found in everything if _resends(found))
    answered = Counter(found.requester for found in evidence if found.cause is Cause.REACTION)
    begun_wrongly = {
        found.connection
        for found in everything
        if found.cause is Cause.START and found.device != device
    }
    counts_wrongly = {
        found.connection
        for found in everything
        if found.cause is Cause.COUNTING and LOST not in found.ids
    }
    reactions: dict[tuple[str, ...], list[Evidence]] = {}
    for found in evidence:
        follows = found.connection in miscounted and found.ids != _MISLEADING
        follows |= found.ids == _MISLEADING and found.connection in counts_wrongly
        if not _resends(found):
            follows |= found.connection in resent | begun_wrongly
            follows |= resending[found.requester] > answered[found.requester]
        if found.cause is Cause.REACTION and not follows:
            reactions.setdefault(found.ids[:1], []).append(found)
    if _LAST_RESORT in reactions:  # what is sure in one connection is in the others
        reactions[_LAST_RESORT] += reactions.pop((), [])
    return diagnoses + [_diagnosis(device, _common(found), found) for found in reactions.values()]


def _resends(found: Evidence) -> bool:
    """Whether it is about repetitions, or may be."""
    return bool(_RESENDING & {*found.ids, *found.weak})


def _common(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """The ids that fit in every connection in which any fit."""
    fitting = [found.ids for found in evidence if found.ids]
    return tuple(id_ for id_ in next(iter(fitting), ()) if all(id_ in ids for ids in fitting))


def _diagnosis(
    device: Station, ids: tuple[str, ...], evidence: Sequence[Evidence], *, least: int = 0
) -> Diagnosis:
    """In words; undecided below so many wrong steps, but for what one of them tells alone."""
    explained = [found for found in evidence if set(ids) & {*found.ids, *found.weak}]
    frames = sorted({number for found in explained or evidence for number in found.frames})
    total = len({number for found in evidence for number in found.frames})
    shown = explained or evidence
    text = "; ".join(found.text for found in shown[:_SHOWN])
    few = len(frames) < least and ids[:1] != (LOST,) and not {*ids} <= _EXACT
    few |= len(frames) < _LEAST_UNPROVEN and not all(found.is_proven for found in shown)
    if len(shown) > _SHOWN:
        text += f"; and in {len(shown) - _SHOWN} more connections"
    if few or not ids:
        fitting = ids or tuple(id_ for found in evidence for id_ in found.ids)
        weak = (id_ for found in evidence for id_ in found.weak)
        possible = tuple(dict.fromkeys((*fitting, *weak)))
        advice = "Give the start PSNs with --qps; capture both directions from the first packet."
        words = "no hypothesis fits"
        if possible:
            words = f"only {' or '.join(possible)} fits, and not surely"
        text = f"{device}: {words}. {text}."
        return Diagnosis(UNDECIDED, possible, tuple(frames), 0, total, text, advice)
    id_, *others = ids
    advice = first_advice(id_)
    if others:
        names = "; ".join(f"{other}: {title_of(other)}" for other in others)
        traffic = " or ".join(dict.fromkeys(separating(each) for each in ids))
        advice += f" This traffic fits as well: {names}. To tell them apart: {traffic}."
    text = f"{device}: {title_of(id_)}. {text}."
    return Diagnosis(id_, tuple(others), tuple(frames), len(frames), total, text, advice)
