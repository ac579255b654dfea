# SPDX-License-Identifier: BSD-2-Clause
"""Which message of one direction is which of another, where some were lost or are not the same.

Equal beginnings and ends are taken as they are. Between them messages that occur
once on both sides hold, and what lies between two of those is taken in order, by
shape where the numbers differ.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from roceproof.conformance.review.conversation import Message

Aligned = tuple[Message | None, Message | None]
_MOST_COMPARISONS = 1_000_000


def align(a: Sequence[Message], b: Sequence[Message]) -> list[Aligned]:
    """Every message once, in the order of both sides."""
    begin = 0
    while begin < min(len(a), len(b)) and a[begin].content == b[begin].content:
        begin += 1
    end = 0
    while end < min(len(a), len(b)) - begin and a[-1 - end].content == b[-1 - end].content:
        end += 1
    middle_a, middle_b = a[begin : len(a) - end], b[begin : len(b) - end]
    tail = zip(a[len(a) - end :], b[len(b) - end :], strict=True)
    return [*zip(a[:begin], b[:begin], strict=True), *_between(middle_a, middle_b), *tail]


def _between(a: Sequence[Message], b: Sequence[Message]) -> Iterator[Aligned]:
    at_a = at_b = 0
    for place_a, place_b in _anchors(a, b):
        yield from _in_order(a[at_a:place_a], b[at_b:place_b])
        yield a[place_a], b[place_b]
        at_a, at_b = place_a + 1, place_b + 1
    yield from _in_order(a[at_a:], b[at_b:])


def _anchors(a: Sequence[Message], b: Sequence[Message]) -> list[tuple[int, int]]:
    """Contents that occur once on each side, as many of them as stand in the same order."""
    counts_a, counts_b = Counter(m.content for m in a), Counter(m.content for m in b)
    places = {m.content: place for place, m in enumerate(b) if counts_b[m.content] == 1}
    pairs = [
        (place, places[m.content])
        for place, m in enumerate(a)
        if counts_a[m.content] == 1 and m.content in places
    ]
    return _longest_rise(pairs)


def _longest_rise(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    ends: list[int] = []  # the least last place of a rise of each length
    last: list[int] = []  # which pair that is
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
        before.append(last[length - 1] if length else -1)
    found = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _in_order(a: Sequence[Message], b: Sequence[Message]) -> Iterator[Aligned]:
    if len(a) == len(b) or not a or not b or len(a) * len(b) > _MOST_COMPARISONS:
        yield from zip_longest(a, b)
        return
    shapes_a: list[Hashable] = [message.shape for message in a]
    shapes_b: list[Hashable] = [message.shape for message in b]
    for kind, i, i_end, j, j_end in SequenceMatcher(
        None, shapes_a, shapes_b, autojunk=False
    ).get_opcodes():
        if kind == "equal" or i_end - i == j_end - j:
            yield from zip(a[i:i_end], b[j:j_end], strict=True)
        else:
            yield from ((message, None) for message in a[i:i_end])
            yield from ((None, message) for message in b[j:j_end])
