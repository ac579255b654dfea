# SPDX-License-Identifier: BSD-2-Clause
"""Which connection of one capture is which of another: by what was said, not by numbers.

Connections that carried the same messages belong together, in the order in which
they begin; then those that have most in common; and where nothing has anything in
common, those of the same service, in order.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import NamedTuple

from roceproof.conformance.review.conversation import Direction, Side

Ends = tuple[Direction, Direction | None]
Pair = tuple[Direction | None, Direction | None]
_CONTENT = 1000  # what a message in common weighs, against one that only has the same length
_MOST_COMPARED = 64  # connections of a side whose messages are compared one with another


def pair(a: Side, b: Side) -> list[Pair]:
    """Every direction of both sides, with its partner of the other side where there is one."""
    left, right = list(_connections(a)), list(_connections(b))
    found: dict[int, Ends] = {}
    taken: set[int] = set()
    exact: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for place in reversed(range(len(right))):
        for turn, ends in enumerate(_orientations(right[place])):
            exact[_signature(ends)].append((place, turn))
    for place, ends in enumerate(left):
        candidates = exact.get(_signature(ends), [])
        while candidates and candidates[-1][0] in taken:
            candidates.pop()
        if candidates:
            other, turn = candidates.pop()
            found[place] = _orientations(right[other])[turn]
            taken.add(other)
    exact.clear()
    _pair_alike(left, right, found, taken, least=_CONTENT)
    begun = _begins(left, found), _begins(right, taken)
    _pair_alike(left, right, found, taken, least=1, begun=begun)
    if not found:
        _pair_in_order(left, right, found, taken)
    pairs: list[Pair] = []
    for place, ends in enumerate(left):
        pairs += zip(ends, found.get(place, (None, None)), strict=True)
    for place, ends in enumerate(right):
        if place not in taken:
            pairs += [(None, each) for each in ends]
    return [each for each in pairs if each != (None, None)]


def _begins(connections: Sequence[Ends], chosen: Collection[int]) -> int:
    """When the first of them begins."""
    return min((connections[place][0].first_ns for place in chosen), default=0)


def _connections(side: Side) -> Iterator[Ends]:
    seen: set[int] = set()
    for direction in side.directions:
        if id(direction) in seen:
            continue
        other = direction.partner
        if other is direction or id(other) in seen:
            other = None
        seen |= {id(each) for each in (direction, other) if each is not None}
        yield direction, other


def _orientations(ends: Ends) -> list[Ends]:
    one, other = ends
    return [ends] if other is None else [ends, (other, one)]


def _signature(ends: Ends) -> int:
    """A hash of the services and of all that was said."""
    services = frozenset(each.service for each in ends if each is not None)
    contents = [tuple(m.content for m in each.messages) if each else () for each in ends]
    return hash((services, *contents))


class _Said(NamedTuple):
    """What was said in the directions of a connection, with how often."""

    services: list[int]
    contents: list[Counter[Hashable]]
    shapes: list[Counter[Hashable]]


def _said(ends: Ends) -> _Said:
    messages = [each.messages if each else [] for each in ends]
    return _Said(
        [each.service if each else -1 for each in ends],
        [Counter(message.content for message in each) for each in messages],
        [Counter(message.shape for message in each) for each in messages],
    )


def _likeness(one: _Said, other: _Said, turn: int) -> int:
    """How much two connections have in common; contents count much more than shapes."""
    score = 0
    for place in (0, 1):
        match = place ^ turn
        if one.services[place] == other.services[match]:
            score += _CONTENT * (one.contents[place] & other.contents[match]).total()
            score += (one.shapes[place] & other.shapes[match]).total()
    return score


def _pair_alike(
    left: Sequence[Ends],
    right: Sequence[Ends],
    found: dict[int, Ends],
    taken: set[int],
    *,
    least: int,
    begun: tuple[int, int] = (0, 0),
) -> None:
    """Those that have at least so much in common, and were not over when the others began."""
    ours = [n for n, ends in enumerate(left) if n not in found and _lasts(ends, begun[0])]
    theirs = [n for n, ends in enumerate(right) if n not in taken and _lasts(ends, begun[1])]
    said = [
        {n: _said(side[n]) for n in chosen[:_MOST_COMPARED]}
        for side, chosen in ((left, ours), (right, theirs))
    ]
    scores = [
        (-_likeness(mine, yours, turn), abs(place - other), place, other, turn)
        for place, mine in said[0].items()
        for other, yours in said[1].items()
        for turn in range(len(_orientations(right[other])))
    ]
    for score, _, place, other, turn in sorted(scores):
        if -score >= least and place not in found and other not in taken:
            found[place] = _orientations(right[other])[turn]
            taken.add(other)


def _lasts(ends: Ends, begun: int) -> bool:
    return any(each is not None and each.last_ns >= begun for each in ends)


def _pair_in_order(
    left: Sequence[Ends], right: Sequence[Ends], found: dict[int, Ends], taken: set[int]
) -> None:
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for other in reversed(range(len(right))):
        waiting[right[other][0].service].append(other)
    for place, ends in enumerate(left):
        if waiting[ends[0].service]:
            other = waiting[ends[0].service].pop()
            found[place] = right[other]
            taken.add(other)
