# SPDX-License-Identifier: BSD-2-Clause
"""Finds every recipe of a given number of faults that predicts some packets exactly.

Because changes add up over GF(2), a combination of them is looked up as a sum
of columns, one per change, instead of being computed; only engines, coverages
and reorderings, which do not add up, are gone through one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import chain, combinations, product
from struct import pack
from typing import NamedTuple

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.effects import Effects
from roceproof.conformance.diagnosis.icrc.hypothesis import Recipe
from roceproof.conformance.diagnosis.icrc.parts.changes import CHANGES, Change
from roceproof.conformance.diagnosis.icrc.parts.coverage import OPTIONS, Coverage
from roceproof.conformance.diagnosis.icrc.parts.crc_input import MASKED, CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import (
    ENGINES,
    REORDERINGS,
    Engine,
    Reordering,
)

DEPTH = 3
"""The most faults that are looked for together, masks aside."""
_AS_IT_SHOULD = Reordering()
_BASE_UNITS = 500
_BYTES_PER_UNIT = 1000


class _Column(NamedTuple):
    """What a change adds to the ICRC of each packet, 32 bits per packet."""

    change: Change
    sum: int


class _Base:
    """An engine and a coverage, over the packets of one search."""

    def __init__(
        self,
        search: Search,
        number: int,
        engine: Engine,
        ids: tuple[str, ...],
        implied: Reordering,
        coverage: Coverage,
    ) -> None:
        self._search = search
        self._number = number
        self._engine = engine
        self._ids = ids
        self._implied = implied
        self._coverage = coverage
        self.size = len(ids) + len(coverage.options)

    def recipes(self, reordering: Reordering, count: int) -> Iterator[Recipe]:
        """Those with exactly `count` changes that predict all packets."""
        if count == 0 and not self._fits_first(reordering):
            return
        for changes in self._sums(self._target(reordering), count, frozenset(), len(CHANGES)):
            yield self._recipe(reordering, changes)

    def masks(self, reordering: Reordering) -> Iterator[Recipe]:
        """Those with any number of single masks missing that predict all packets."""
        target = self._target(reordering)
        for total, changes in self._mask_sums:
            if total == target:
                yield self._recipe(reordering, changes)

    def _recipe(self, reordering: Reordering, changes: tuple[Change, ...]) -> Recipe:
        return Recipe(self._engine, self._ids, self._coverage, reordering, self._implied, changes)

    def _target(self, reordering: Reordering) -> int:
        """Return what the changes have to add up to."""
        return _joined(self._values) ^ self._search.found(self._implied, reordering)

    def _fits_first(self, reordering: Reordering) -> bool:
        """Whether the first packet needs no change; of most bases it is the only one asked."""
        first = self._search.sample[0]
        return self._value(first) == self._implied.apply(reordering.apply(first.found))

    def _sums(
        self, target: int, count: int, taken: frozenset[str], limit: int
    ) -> Iterator[tuple[Change, ...]]:
        if count == 0:
            if target == 0:
                yield ()
            return
        if count == 1:
            for place in self._by_sum.get(target, ()):
                change = self._columns[place].change
                if place < limit and not change.touches & taken:
                    yield (change,)
            return
        for place in range(min(limit, len(self._columns)) - 1, 0, -1):
            column = self._columns[place]
            if not column.change.touches & taken:
                both = taken | column.change.touches
                for others in self._sums(target ^ column.sum, count - 1, both, place):
                    yield (*others, column.change)

    def _value(self, packet: CrcInput) -> int:
        blank = Recipe(self._engine, self._ids, self._coverage, _AS_IT_SHOULD, _AS_IT_SHOULD)
        return self._search.effects.value(self._number, blank, packet)

    @cached_property
    def _values(self) -> list[int]:
        return [self._value(packet) for packet in self._search.sample]

    @cached_property
    def _columns(self) -> list[_Column]:
        """One per change that shows here; of two that add the same, one id is listed once."""
        parts = frozenset[str]().union(*(option.parts for option in self._coverage.options))
        columns: dict[tuple[str, int], _Column] = {}
        added = [
            self._search.effects.added(self._engine, packet, self._coverage.feed(packet))
            for packet in self._search.sample
        ]
        for change, sums in zip(CHANGES, zip(*added, strict=True), strict=True):
            total = _joined(sums)
            if total and not change.touches & parts:
                columns.setdefault((change.id, total), _Column(change, total))
        return [*columns.values()]

    @cached_property
    def _by_sum(self) -> dict[int, list[int]]:
        places: dict[int, list[int]] = {}
        for place, column in enumerate(self._columns):
            places.setdefault(column.sum, []).append(place)
        return places

    @cached_property
    def _mask_sums(self) -> list[tuple[int, tuple[Change, ...]]]:
        choices: dict[str, list[_Column]] = {}
        for column in self._columns:
            if len(column.change.touches) == 1 and column.change.touches <= frozenset(MASKED):
                (field,) = column.change.touches
                choices.setdefault(field, []).append(column)
        rows = []
        for chosen in product(*([None, *columns] for columns in choices.values())):
            picked = [column for column in chosen if column is not None]
            if len(picked) > DEPTH:
                total = 0
                for column in picked:
                    total ^= column.sum
                rows.append((total, tuple(column.change for column in picked)))
        return rows


class Search:
    """All recipes over a few packets, right ones among them."""

    def __init__(
        self, sample: Sequence[CrcInput], budget: Budget, effects: Effects | None = None
    ) -> None:
        self.sample = sample
        self.effects = effects or Effects()
        self._budget = budget
        self._base_units = _BASE_UNITS + sum(packet.size for packet in sample) // _BYTES_PER_UNIT
        self._built: list[_Base] = []
        self._found: dict[tuple[Reordering, Reordering], int] = {}

    def found(self, implied: Reordering, reordering: Reordering) -> int:
        """What stands in the packets with the result's bits put back into order."""
        key = implied, reordering
        if key not in self._found:
            put_back = (implied.apply(reordering.apply(packet.found)) for packet in self.sample)
            self._found[key] = _joined(put_back)
        return self._found[key]

    def recipes(self, size: int) -> list[Recipe]:
        """Every recipe of exactly that many faults that predicts all packets."""
        return [
            recipe
            for base in self._bases(size)
            for reordering in REORDERINGS
            if (count := size - base.size - len(reordering.ids)) >= 0
            for recipe in base.recipes(reordering, count)
        ]

    def masks(self) -> list[Recipe]:
        """Every recipe of many missing masks, alone or with one other fault."""
        return [
            recipe
            for base in self._bases(1)
            for reordering in REORDERINGS
            if base.size + len(reordering.ids) <= 1
            for recipe in base.masks(reordering)
        ]

    def _bases(self, size: int) -> Iterator[_Base]:
        for number, plan in enumerate(chain(*_plans()[: size + 1])):
            self._budget.spend(self._base_units)
            if number == len(self._built):
                self._built.append(_Base(self, number, *plan))
            yield self._built[number]


class _Plan(NamedTuple):
    """What a base is made from."""

    engine: Engine
    ids: tuple[str, ...]
    implied: Reordering
    coverage: Coverage


@cache
def _plans() -> tuple[list[_Plan], ...]:
    """By how many faults they amount to."""
    groups: tuple[list[_Plan], ...] = ([], [], [])
    engines: list[tuple[Engine, tuple[str, ...], Reordering]]
    engines = [(Engine(), (), _AS_IT_SHOULD)]
    engines += [(engine, ids, Reordering((), steps)) for ids, engine, steps in ENGINES]
    for engine, ids, implied in engines:
        for coverage in _coverages(2 - len(ids)):
            groups[len(ids) + len(coverage.options)].append(_Plan(engine, ids, implied, coverage))
    return groups


def _coverages(most: int) -> list[Coverage]:
    """Return none, all of one option, and all combinations but those of unusual beats."""
    own = [option for option in OPTIONS if not option.note or "beat" not in option.parts]
    found = [Coverage()]
    if most > 0:
        found += [Coverage((option,)) for option in OPTIONS]
    for count in range(2, most + 1):
        found += [
            Coverage(chosen)
            for chosen in combinations(own, count)
            if sum(len(option.parts) for option in chosen)
            == len(frozenset[str]().union(*(option.parts for option in chosen)))
        ]
    return found


def _joined(values: Iterable[int]) -> int:
    words = [*values]
    return int.from_bytes(pack(f">{len(words)}I", *words), "big")
