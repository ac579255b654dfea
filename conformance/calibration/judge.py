# SPDX-License-Identifier: BSD-2-Clause
"""A diagnosis held against the truth.

An id, or one that is said to be equivalent, stands for a set of faults; it is true
if all of them are in the device. A diagnosis of which no alternative is true is a
wrong name, and so is blame for the link where the sender is at fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from roceproof.conformance.calibration.device import Device
from roceproof.conformance.diagnosis.result import CORRUPT, LOST, UNDECIDED, Diagnosis

DOCUMENTED = tuple(
    (frozenset({one}), frozenset(others.split()))
    for one, others in (
        ("S13", "S11 S19"),
        ("S13", "S12 S19"),
        ("S14", "S11 S15"),
        ("S15", "S14 S22"),
        ("S19", "S13 S22"),
        ("S20", "S13 S21"),
        ("S21", "S19 S20"),
        ("S45", "S06 S14"),
    )
)
"""Sets of faults that docs/explain.md calls the same function."""
_MOST_AT_ONCE = 4


class Verdict(Enum):
    """What became of a device, from best to worst."""

    CLEAN = "clean"
    """Nothing shows, and nothing is said."""
    NAMED = "named"
    CLASS = "class"
    """The truth is among what is said to be equally possible, or is the same function."""
    PARTLY = "partly"
    """Some faults are named or in a class; of the others no wrong word is said."""
    UNDECIDED = "undecided"
    MISSED = "missed"
    """Something shows, and nothing is said."""
    WRONG = "wrong"


@dataclass(frozen=True)
class Judgement:
    """The verdict, and what was wrong."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Truth:
    """What is the matter with a capture."""

    faults: tuple[frozenset[str], ...]
    """For each fault of the device the ids that name it."""
    changed: frozenset[int] = frozenset()
    """Frames in which the link changed a bit."""
    lost: bool = False
    """Whether packets never came to the tap, or not as they were sent."""

    of_peer: frozenset[str] = frozenset()
    """What is true of the peer, and need not be said."""

    @classmethod
    def of(cls, device: Device) -> Truth:
        """The truth of a drawn device."""
        flipped, peer = frozenset(device.captured.flipped), device.plan.peer
        faults = tuple(device.answers(fault) for fault in device.faults)
        lost = bool(device.captured.lost_before or flipped)
        careless = flipped and peer.answers and not peer.strict
        return cls(faults, flipped, lost, frozenset({"P21"} if careless else ()))


def judge(truth: Truth, diagnoses: Sequence[Diagnosis]) -> Judgement:
    """Hold all that is said of a capture against its truth."""
    reasons = [reason for found in diagnoses for reason in _wrong(truth, found)]
    if reasons:
        return Judgement(Verdict.WRONG, tuple(reasons))
    named = {place for found in diagnoses for place in _meant(truth, [found.id])}
    stated = {
        place for found in diagnoses for place in _meant(truth, [found.id, *found.equivalent])
    }
    everything = set(range(len(truth.faults)))
    if not everything:
        return Judgement(_of_clean(diagnoses))
    if named == everything:
        return Judgement(Verdict.NAMED)
    if stated == everything:
        return Judgement(Verdict.CLASS)
    if stated:
        return Judgement(Verdict.PARTLY)
    return Judgement(Verdict.UNDECIDED if diagnoses else Verdict.MISSED)


def _of_clean(diagnoses: Sequence[Diagnosis]) -> Verdict:
    """Of a device without a fault; what is said of its link is true."""
    ids = {found.id for found in diagnoses}
    if ids - {CORRUPT, LOST, UNDECIDED}:
        return Verdict.CLASS
    return Verdict.UNDECIDED if ids == {UNDECIDED} else Verdict.CLEAN


def _wrong(truth: Truth, found: Diagnosis) -> list[str]:
    """Why a diagnosis is wrong."""
    if found.id == UNDECIDED:
        if truth.faults or truth.changed or truth.lost:
            return []
        return [f"{found.id}: nothing is the matter"]
    if any(_is_true(truth, name, found) for name in (found.id, *found.equivalent)):
        return []
    if found.id == CORRUPT:
        return [f"{CORRUPT}: the sender made frame {min(_sent_like_that(truth, found))} wrong"]
    return [f"{found.id}: the device does not do that"]


def _is_true(truth: Truth, name: str, found: Diagnosis) -> bool:
    if name == LOST:
        return truth.lost
    if name == CORRUPT:
        return not _sent_like_that(truth, found)
    if name in truth.of_peer:
        return True
    return bool(_meant(truth, [name]))


def _sent_like_that(truth: Truth, found: Diagnosis) -> set[int]:
    return set(found.frames) - truth.changed


def _meant(truth: Truth, names: Iterable[str]) -> set[int]:
    """The faults that true names stand for."""
    meant: set[int] = set()
    for name in names:
        for ids in _readings(name):
            places = {place for place, faults in enumerate(truth.faults) if faults & ids}
            if all(any(each in faults for faults in truth.faults) for each in ids):
                meant |= places
    return meant


def _readings(name: str) -> Iterable[frozenset[str]]:
    """The sets of ids that a name may stand for."""
    readings = [frozenset(name.split("+"))]
    for ids in readings:
        for one, other in DOCUMENTED:
            for here, there in ((one, other), (other, one)):
                same = ids - here | there
                if here <= ids and len(same) <= _MOST_AT_ONCE and same not in readings:
                    readings.append(same)
    return readings
