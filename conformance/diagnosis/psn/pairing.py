# SPDX-License-Identifier: BSD-2-Clause
"""Which direction answers which, where neither configuration nor CM tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from roceproof.conformance.diagnosis.budget import Budget, OutOfBudget
from roceproof.conformance.diagnosis.psn.index import PsnIndex
from roceproof.conformance.diagnosis.psn.timeline import PATH_MTUS, Sent, Side, distance
from roceproof.conformance.wire.opcodes import Family

_APART = 4096  # farther than any loss; between such PSNs others may count


def pair_sides(sides: list[Side], budget: Budget) -> None:
    """Find the counterparts that the configuration does not name."""
    taken = {id(side.counterpart) for side in sides if side.counterpart}
    opposite: dict[tuple[int, bytes, bytes], PsnIndex[Side]] = {}
    for side in sides:
        if side.requests:
            ends = side.key.interface, side.key.destination, side.key.source
            index = opposite.setdefault(ends, PsnIndex(budget))
            for first, count in _ranges(side):
                index.add(first - 2, count + 4, side)
    for side in sides:
        if side.counterpart is not None or not side.replies or id(side) in taken:
            continue
        known = opposite.get((side.key.interface, side.key.source, side.key.destination))
        try:
            chosen = _best(side, known) if known else None
        except OutOfBudget:
            budget.leave_out("who answers whom", str(side.station))
            return
        if chosen is not None:
            side.counterpart, chosen.counterpart = chosen, side
            taken |= {id(side), id(chosen)}


def _best(side: Side, known: PsnIndex[Side]) -> Side | None:
    """The one among whose requests' PSNs, or two off, the most replies lie; None if it is a tie."""
    fits: Counter[int] = Counter()
    candidates: dict[int, Side] = {}
    for psn, count in Counter(reply.psn for reply in side.replies).items():
        for other in {id(each): each for each in known.at(psn)}.values():
            if other.counterpart is None:
                fits[id(other)] += count
                candidates[id(other)] = other
    best = fits.most_common(2)
    tie = len(best) == 2 and best[0][1] == best[1][1]
    return candidates[best[0][0]] if best and not tie else None


def _ranges(side: Side) -> Iterator[tuple[int, int]]:
    """The stretches of PSNs that the requests take: where each begins, and how many they are.

    A side whose register is loaded anew has several, and what lies between is not its own.
    """
    origin = side.requests[0].psn
    taken = sorted((distance(sent.psn, origin), _longest(sent)) for sent in side.requests)
    low = high = taken[0][0]
    for first, count in taken:
        if first > high + _APART:
            yield origin + low, high - low
            low = first
        high = max(high, first + count)
    yield origin + low, high - low


def _longest(sent: Sent) -> int:
    """The PSNs that a request takes at most."""
    reads = sent.row.family is Family.READ and sent.reth is not None
    return max(1, -(-sent.reth.length // PATH_MTUS[0])) if reads and sent.reth else 1
