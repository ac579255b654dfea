# SPDX-License-Identifier: BSD-2-Clause
"""Classes of numbers, written as people do: `0`, `2..3`, `128..`."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from roceproof.common.errors import RoceproofError

_KNOWN = 4096


class RangeError(RoceproofError, ValueError):
    """Labels that are no ascending classes."""


class Ranges:
    """Finds the class of a number; one outside of all has the class ''."""

    def __init__(self, labels: Sequence[str]) -> None:
        bounds = [_bounds(label) for label in labels]
        if any(low > high for low, high in bounds) or any(
            before[1] >= behind[0] for before, behind in pairwise(bounds)
        ):
            raise RangeError(f"classes {list(labels)}: expected ascending ones, as in 0, 1..3, 4..")
        self.labels = tuple(labels)
        self._starts = [low for low, _ in bounds]
        self._ends = [high for _, high in bounds]
        self._known: dict[int, str] = {}

    @property
    def end(self) -> float:
        """The last number that has a class."""
        return self._ends[-1]

    def of(self, value: int) -> str:
        found = self._known.get(value)
        if found is None:
            found = self._find(value)
            if len(self._known) < _KNOWN:
                self._known[value] = found
        return found

    def _find(self, value: int) -> str:
        at = bisect_right(self._starts, value) - 1
        return self.labels[at] if at >= 0 and value <= self._ends[at] else ""


def _bounds(label: str) -> tuple[float, float]:
    first, dots, last = label.partition("..")
    try:
        low = int(first)
        return low, (int(last) if last else float("inf")) if dots else low
    except ValueError:
        raise RangeError(f"class {label!r}: expected a number, 2..3 or 4..") from None
