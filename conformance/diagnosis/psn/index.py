# SPDX-License-Identifier: BSD-2-Clause
"""Finds by a PSN what covers it, and by a range of PSNs who came last: without asking everyone."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Generic, TypeVar

from roceproof.conformance.diagnosis.budget import Budget

_MODULUS = 1 << 24
_BLOCK = 1 << 12
_MOST_BLOCKS = 16

T = TypeVar("T")
_Entry = tuple[int, int, int, T]
"""Order of adding, first PSN, how many, and the thing."""


class PsnIndex(Generic[T]):
    """Things that cover ranges on the circle of PSNs; what covers a PSN comes in order of adding.

    Each thing looked at is two units of work.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._blocks: dict[int, list[_Entry[T]]] = {}
        self._wide: list[_Entry[T]] = []
        self._count = 0

    def add(self, first: int, count: int, thing: T) -> None:
        """Let a thing cover `count` PSNs from the first on."""
        first %= _MODULUS
        entry = (self._count, first, min(count, _MODULUS), thing)
        self._count += 1
        if count > _BLOCK * (_MOST_BLOCKS - 1):
            self._wide.append(entry)
            return
        for block in range(first // _BLOCK, (first + count - 1) // _BLOCK + 1):
            self._blocks.setdefault(block % (_MODULUS // _BLOCK), []).append(entry)

    def at(self, psn: int) -> Iterator[T]:
        """All things that cover a PSN."""
        near = self._blocks.get(psn // _BLOCK, [])
        for _, first, count, thing in merge(near, self._wide, key=_order) if self._wide else near:
            self._budget.spend(2)
            if (psn - first) % _MODULUS < count:
                yield thing


def _order(entry: _Entry[T]) -> int:
    return entry[0]


class Latest:
    """The highest number among those with PSNs in a range."""

    def __init__(self, rows: Iterable[tuple[int, int]]) -> None:
        """Take rows of PSN and number."""
        ordered = sorted(rows)
        self._psns = [psn for psn, _ in ordered]
        size = len(ordered)
        self._tree = [0] * size + [number for _, number in ordered]
        for place in range(size - 1, 0, -1):
            self._tree[place] = max(self._tree[2 * place], self._tree[2 * place + 1])

    def among(self, first: int, count: int) -> int:
        """The highest number in that many PSNs from the first on; 0 if there is none."""
        behind = first + count
        found = self._highest(first, min(behind, _MODULUS))
        return max(found, self._highest(0, behind - _MODULUS)) if behind > _MODULUS else found

    def _highest(self, low: int, high: int) -> int:
        size, found = len(self._psns), 0
        left, right = bisect_left(self._psns, low) + size, bisect_left(self._psns, high) + size
        while left < right:
            if left & 1:
                found = max(found, self._tree[left])
                left += 1
            if right & 1:
                right -= 1
                found = max(found, self._tree[right])
            left, right = left // 2, right // 2
        return found
