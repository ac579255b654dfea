# SPDX-License-Identifier: BSD-2-Clause
"""Numbers as hardware gets them wrong: corners, long tails, and values that come again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from roceproof.conformance.stimulus.drawing.weights import Weights

T = TypeVar("T")
_PSN_BITS = 24
_RECENT = 6


class Draw:
    """A source of values, from one seed; the same seed gives the same plan."""

    def __init__(self, seed: int, weights: Weights) -> None:
        self.random = Random(f"plan {seed}")
        self.aside = Random(f"aside {seed}")
        """For what a plan says besides: more of it leaves all else as it was."""
        self.weights = weights
        self._recent: dict[int, list[int]] = {}

    def one_of(self, what: str) -> str:
        """A name from a table of weights."""
        table = self.weights.of(what)
        return self.random.choices(list(table), list(table.values()))[0]

    def pick(self, table: Mapping[T, float]) -> T:
        """A value by weights given here."""
        return self.random.choices(list(table), list(table.values()))[0]

    def among(self, values: Sequence[T]) -> T:
        return values[self.random.randrange(len(values))]

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def between(self, low: int, high: int) -> int:
        """Any number from `low` to `high`."""
        return self.random.randint(low, high)

    def tail(self, low: int, high: int) -> int:
        """Mostly near `low`: each power of two up to `high` as likely as the next."""
        top = self.random.randint(0, max(0, high - low).bit_length())
        return min(high, low + self.random.randrange(1 << top))

    def bits(self, count: int) -> int:
        """A number of so many bits, often one with few ones or few zeros, or one seen lately."""
        full, draw = (1 << count) - 1, self.random
        recent = self._recent.setdefault(count, [])
        match self.one_of("bits"):
            case "any":
                value = draw.getrandbits(count)
            case "again" if recent:
                value = self.among(recent)
            case "neighbour" if recent:
                value = self.among(recent) ^ 1 << draw.randrange(count)
            case "zeros":
                value = 0
            case "ones":
                value = full
            case "one":
                value = 1 << draw.randrange(count)
            case "hole":
                value = full ^ 1 << draw.randrange(count)
            case "low":
                value = (1 << draw.randrange(count)) - 1
            case "high":
                value = full ^ ((1 << draw.randrange(count)) - 1)
            case "small":
                value = draw.randrange(min(full, 16))
            case _:
                value = draw.getrandbits(count)
        self._recent[count] = [*recent[-_RECENT:], value]
        return value

    def psn(self) -> int:
        """A start PSN, often a little in front of where a counter turns over."""
        match self.one_of("psn"):
            case "wrap":
                return (-self.tail(0, 80)) % (1 << _PSN_BITS)
            case "half":
                return (1 << 23) - self.tail(0, 80)
            case "carry":
                return ((1 << self.between(4, 22)) - self.tail(1, 12)) % (1 << _PSN_BITS)
            case _:
                return self.bits(_PSN_BITS)
