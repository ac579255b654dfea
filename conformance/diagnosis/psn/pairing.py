# SPDX-License-Identifier: BSD-2-Clause
"""Which direction answers which, where neither configuration nor CM tells.

Replies name PSNs of requests. Where those of several QPs lie alike, those that are no READs and
would be answered like one tell, then the count of messages in the replies, and that each comes soon
behind its request.
"""

from collections import Counter
from collections.abc import Iterator

from roceproof.conformance.diagnosis.budget import Budget, OutOfBudget
from roceproof.conformance.diagnosis.psn.index import PsnIndex
from roceproof.conformance.diagnosis.psn.timeline import PATH_MTUS, Sent, Side, behind
from roceproof.conformance.wire.opcodes import Family, Position
from roceproof.conformance.wire.psn import distance

_SOON = 4
_GUESSED = 16
_LEAST_REPLIES = 3
_READ_BEGINS = frozenset({0x0D, 0x10})
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
    for side in sorted(sides, key=lambda each: -len(each.replies)):  # those with most to tell first
        if side.counterpart is not None or not side.replies or id(side) in taken:
            continue
        known = opposite.get((side.key.interface, side.key.source, side.key.destination))
        try:
            chosen = _best(side, known, budget) if known else None
        except OutOfBudget:
            budget.leave_out("who answers whom", str(side.station))
            return
        if chosen is not None:
            side.counterpart, chosen.counterpart = chosen, side
            taken |= {id(side), id(chosen)}
    _guess_unreliable(sides)


def _guess_unreliable(sides: list[Side]) -> None:
    """On UC nobody replies: any in the other direction may be the counterpart."""
    unpaired = [side for side in sides if side.requests and not (side.counterpart or side.reliable)]
    by_ends: dict[tuple[int, bytes, bytes], list[Side]] = {}
    for side in unpaired:
        key = side.key
        by_ends.setdefault((key.interface, key.source, key.destination), []).append(side)
    for side in unpaired:
        key = side.key
        others = by_ends.get((key.interface, key.destination, key.source), [])
        side.may_be_counterpart = others[:_GUESSED]


def _best(side: Side, known: PsnIndex[Side], budget: Budget) -> Side | None:
    """The one among whose requests' PSNs, or two off, the most replies lie; None if it is open."""
    fits: Counter[int] = Counter()
    candidates: dict[int, Side] = {}
    for psn, count in Counter(reply.psn for reply in side.replies).items():
        for other in {id(each): each for each in known.at(psn)}.values():
            if other.counterpart is None and other.reliable:
                fits[id(other)] += count
                candidates[id(other)] = other
    most = max(fits.values(), default=0)
    alike = [key for key, count in fits.items() if count == most]
    if len(alike) < 2:
        return candidates[alike[0]] if alike else None
    budget.spend(sum(len(candidates[key].requests) + len(side.replies) for key in alike))
    told = {key: _told(side, candidates[key]) for key in alike}
    first, second, *_ = sorted(told, key=lambda key: told[key], reverse=True)
    clear = told[first] > told[second] and len(side.replies) >= _LEAST_REPLIES
    return candidates[first] if clear else None


def _told(side: Side, other: Side) -> tuple[int, int]:
    """How many replies bring what was not asked for, as a negative number, so that less is better.

    And how many count messages as the requests of the other side do, and come soon.
    """
    ended: dict[int, int] = {}
    last: dict[int, int] = {}
    places = {sent.number: place for place, sent in enumerate(other.requests)}
    count = 0
    for sent in other.requests:
        count += sent.psn not in ended and bool(sent.row.position & Position.LAST)
        ended.setdefault(sent.psn, count)
        last.setdefault(sent.psn, sent.number)
    offsets: Counter[int] = Counter()
    reads = {sent.psn: sent.row.family is Family.READ for sent in other.requests}
    soon = 0
    strange = 0
    for reply in side.replies:
        strange += reply.opcode in _READ_BEGINS and not reads.get(reply.psn, True)
        if reply.psn in ended and last[reply.psn] < reply.number:
            if reply.msn is not None:
                offsets[reply.msn - ended[reply.psn]] += 1
            newest = behind(other.requests, reply.number)
            soon += newest - places[last[reply.psn]] <= _SOON
    return -strange, max(offsets.values(), default=0) + offsets[0] + soon


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
