# SPDX-License-Identifier: BSD-2-Clause
"""What `sampled` leaves in the quick set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from sampling import mark_slow


@dataclass
class Item:
    nodeid: str
    every: int | None = None
    is_whole: bool = False
    marks: list[str] = field(default_factory=list)

    def iter_markers(self) -> Iterator[pytest.Mark]:
        if self.is_whole:
            yield pytest.mark.whole.mark
        if self.every is not None:
            yield pytest.mark.sampled(every=self.every).mark

    def add_marker(self, marker: pytest.MarkDecorator) -> None:
        self.marks.append(marker.name)


def test_every_nth_item_of_a_sweep_stays_quick_and_other_tests_all_do() -> None:
    sweep = [Item(f"file.py::sweep[{number}]", every=3) for number in range(7)]
    other = [Item(f"file.py::other[{number}]", every=2) for number in range(3)]
    plain = [Item(f"file.py::plain[{number}]") for number in range(3)]
    mark_slow([*sweep[:2], *other, *plain, *sweep[2:]])  # type: ignore[list-item]
    assert [item.marks == [] for item in sweep] == [True, False, False, True, False, False, True]
    assert [item.marks == [] for item in other] == [True, False, True]
    assert all(item.marks == [] for item in plain)
    assert {mark for item in sweep + other for mark in item.marks} == {"slow"}


def test_a_whole_suite_is_slow() -> None:
    whole, other = Item("file.py::whole", is_whole=True), Item("file.py::other")
    mark_slow([whole, other])  # type: ignore[list-item]
    assert (whole.marks, other.marks) == (["slow"], [])
