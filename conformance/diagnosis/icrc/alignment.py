# SPDX-License-Identifier: BSD-2-Clause
"""Which packet's result each packet of a sequence carries: a path through offsets with few changes.

An offset is how many places later the packet stands whose result it is (earlier,
if negative). Equal results make the offset of a packet ambiguous, packets that
were not captured leave gaps: the path is the one that the most packets bear out,
less a price for every change of the offset.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import eq
from typing import NamedTuple

PRICE = 1.75
"""What a change of the offset has to gain, in packets: two in a row that bear out the new one."""
_FEW = 8
_AROUND = 3
_NEAR = 256
"""How many packets on either side of a change are asked."""


class Run(NamedTuple):
    """Packets in a row at one offset: those from a place up to the next run's."""

    start: int
    offset: int
    feigned: bool = False
    """Whether packets that were not captured make the offset look nearer to 0 than it is."""


@dataclass(slots=True)
class _Step:
    """A run of a path, with the path that leads to it."""

    run: Run
    before: _Step | None


class Index:
    """Where in a sequence each result belongs."""

    def __init__(self, results: Sequence[int | None]) -> None:
        self._places: dict[int | None, list[int]] = {}
        for place, result in enumerate(results):
            self._places.setdefault(result, []).append(place)

    def places(self, found: int, centre: int) -> Sequence[int]:
        """All places if they are few, else those around a centre."""
        places = self._places.get(found, ())
        if len(places) <= _FEW:
            return places
        at = bisect_left(places, centre)
        return places[max(0, at - _AROUND) : at + _AROUND]


def align(results: Sequence[int | None], found: Sequence[int]) -> list[Run]:
    """The best path, from offset 0 at place 0 on; `results` are what should have been found."""
    index = Index(results)
    scores: dict[int, tuple[float, _Step]] = {0: (0.0, _Step(Run(0, 0), None))}
    best, offset = 0.0, 0
    for place, value in enumerate(found):
        leader = scores[offset][1]
        threshold = best - PRICE
        centres = {*index.places(value, place), *index.places(value, place + offset)}
        for other in sorted(centres, key=lambda each: abs(each - place)):
            candidate = other - place
            score, step = scores.get(candidate, (threshold, None))
            if step is None or score < threshold:
                score, step = threshold, _Step(Run(place, candidate), leader)
            scores[candidate] = score + 1, step
            if score + 1 > best:
                best, offset = score + 1, candidate
    return _tidied(_told_apart(_runs(scores[offset][1]), results, found), results, found)


def _runs(last: _Step) -> list[Run]:
    runs: list[Run] = []
    step: _Step | None = last
    while step is not None:
        runs.append(step.run)
        step = step.before
    return runs[::-1]


def _told_apart(runs: list[Run], results: Sequence[int | None], found: Sequence[int]) -> list[Run]:
    """Without changes of the offset that most packets near them on either side tell nothing of.

    Where traffic repeats itself, a repetition far away holds what a damaged packet nearby should,
    and a path through the luckiest repetitions explains more than the one offset that is true.
    """

    def borne(first: int, end: int, *offsets: int) -> int:
        first, end = max(first, -min(offsets)), min(end, len(results) - max(offsets))
        if first >= end:
            return 0
        own = found[first:end]
        sources = (results[first + offset : end + offset] for offset in offsets)
        return sum(map(all, zip(*(map(eq, own, source) for source in sources), strict=True)))

    kept: list[tuple[Run, int]] = []
    """With how many packets bear each out."""
    ends = [after.start for _, after in pairwise(runs)] + [len(found)]
    for run, end in zip(runs, ends, strict=True):
        count = borne(run.start, end, run.offset)
        while kept:
            before, held = kept[-1]
            first, last = max(before.start, run.start - _NEAR), min(end, run.start + _NEAR)
            near = borne(first, run.start, before.offset), borne(run.start, last, run.offset)
            both = [
                borne(*side, before.offset, run.offset)
                for side in ((first, run.start), (run.start, last))
            ]
            if all(2 * told <= own for told, own in zip(both, near, strict=True)):
                break
            kept.pop()
            count, _, offset = max(
                (far + borne(first, last, offset), -abs(offset), offset)
                for far, offset in ((held - near[0], before.offset), (count - near[1], run.offset))
            )
            run = Run(before.start, offset)
        kept.append((run, count))
    return [run for run, _ in kept]


def _tidied(runs: list[Run], results: Sequence[int | None], found: Sequence[int]) -> list[Run]:
    """Without runs that nothing bears out; those that missing packets feign are marked.

    At offset k, a packet that was not captured makes the k places in front of it (behind it, if k
    is negative) look as if the offset were nearer to 0.
    """
    ends = [after.start for _, after in pairwise(runs)] + [len(found)]
    borne = [
        run
        for run, end in zip(runs, ends, strict=True)
        if any(carries(results, found, place, run.offset) for place in range(run.start, end))
    ]
    if not borne:
        return []
    kept = [Run(0, borne[0].offset)]
    place = 1
    while place < len(borne):
        back = _end_of_feigned(borne, place, kept[-1].offset)
        kept += [run._replace(feigned=True) for run in borne[place:back]]
        kept.append(borne[back])
        place = back + 1
    return kept


def _end_of_feigned(runs: Sequence[Run], first: int, around: int) -> int:
    """The run at which a real offset is reached again; the first itself if that is one."""
    for number in range(first, len(runs)):
        same_side = runs[number].offset * around > 0
        if same_side and abs(runs[number].offset) >= abs(around):
            return number
        last = number + 1 == len(runs)
        if not same_side or last or runs[number + 1].start - runs[number].start > abs(around):
            return first
    return first


def copies_of_one(path: Sequence[Run], found: Sequence[int]) -> dict[int, int]:
    """Where one entry that was put in several times stands in front of a slip, with the offsets.

    From a slip by three on the offset is three less, and two packets in front of it hold the same.
    """
    copies = {}
    for before, run in pairwise(path):
        first = run.start - (before.offset - run.offset) + 1
        for place in range(run.start - 1, max(first, before.start) - 1, -1):
            if found[place] != found[run.start]:
                break
            copies[place] = run.start + run.offset - place
    return copies


def carries(results: Sequence[int | None], found: Sequence[int], place: int, offset: int) -> bool:
    """Whether the packet at a place holds the result that belongs so many places later."""
    source = place + offset
    return 0 <= source < len(results) and results[source] == found[place]
