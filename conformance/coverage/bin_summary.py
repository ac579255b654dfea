# SPDX-License-Identifier: BSD-2-Clause
"""Many bins of a cross told as few boxes: `{SEND, WRITE}/*/1..3` instead of forty names."""

import re
from collections.abc import Iterable, Sequence
from itertools import permutations

_NUMBERED = re.compile(r"(.*?)(\d+)")
_Box = tuple[frozenset[str], ...]


def boxes(bins: Iterable[Sequence[str]], axes: Sequence[Sequence[str]]) -> list[str]:
    """Bins, each a value for each axis, as the fewest boxes that merging finds."""
    single = [tuple(frozenset({value}) for value in each) for each in bins]
    orders = permutations(range(len(axes)))
    merged = min((_merged(single, order) for order in orders), key=len)
    return [
        "/".join(_told(values, axis) for values, axis in zip(box, axes, strict=True))
        for box in merged
    ]


def _merged(found: Sequence[_Box], order: Iterable[int]) -> list[_Box]:
    for axis in order:
        joined: dict[_Box, frozenset[str]] = {}
        for box in found:
            others = (*box[:axis], *box[axis + 1 :])
            joined[others] = joined.get(others, frozenset()) | box[axis]
        found = [(*others[:axis], mine, *others[axis:]) for others, mine in joined.items()]
    return list(found)


def _told(values: frozenset[str], axis: Sequence[str]) -> str:
    if len(values) == len(axis) > 1:
        return "*"
    words = _runs([value for value in axis if value in values])
    return words[0] if len(words) == 1 else "{" + ", ".join(words) + "}"


def _runs(values: Sequence[str]) -> list[str]:
    """Three or more numbers in a row, perhaps behind the same word, are told as a span."""
    words: list[str] = []
    at = 0
    while at < len(values):
        end = at + 1
        while end < len(values) and _follows(values[end - 1], values[end]):
            end += 1
        if end - at >= 3:
            last = _NUMBERED.fullmatch(values[end - 1])
            words.append(f"{values[at]}..{last[2] if last else ''}")
        else:
            words += values[at:end]
        at = end
    return words


def _follows(one: str, other: str) -> bool:
    first, second = _NUMBERED.fullmatch(one), _NUMBERED.fullmatch(other)
    if not first or not second:
        return False
    return first[1] == second[1] and int(first[2]) + 1 == int(second[2])
