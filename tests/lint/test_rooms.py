# SPDX-License-Identifier: BSD-2-Clause
"""The check of rooms refuses a folder that has grown flat, and rooms of C that go in a circle."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "ci"))

from lint_rooms import FLAT, MOST, circle, crowded


def files(folder: str, count: int) -> list[Path]:
    return [Path(folder) / f"part_{number}.c" for number in range(count)]


@pytest.mark.parametrize(
    ("folder", "count", "told"),
    [
        ("pcap", MOST + 1, ["pcap: 26 source files; give it rooms by job of at most 25 each"]),
        ("pcap", MOST, []),
        ("tests/pcap", MOST + 1, []),
        (next(iter(FLAT)), MOST + 1, []),
    ],
)
def test_a_folder_without_an_excuse_stays_small(folder: str, count: int, told: list[str]) -> None:
    assert [*crowded(files(folder, count))] == told


def test_an_excuse_that_is_not_needed_goes() -> None:
    (told,) = crowded(files("conformance/cases", MOST))
    assert told.endswith("still in FLAT of ci/lint_rooms.py; drop it")


def test_what_is_no_source_does_not_count() -> None:
    assert [*crowded([path.with_suffix(".bin") for path in files("pcap", MOST + 1)])] == []


def tree(root: Path, **includes: str) -> Path:
    """Rooms of one header each, named by their initials, and what that includes."""
    for room, included in includes.items():
        (root / room).mkdir()
        lines = [f'#include "{name}/{name}.h"\n' for name in included]
        (root / room / f"{room}.h").write_text("".join(lines))
    return root


def test_rooms_that_know_each_other_are_told_with_the_places(tmp_path: Path) -> None:
    told, *places = circle(tree(tmp_path, a="b", b="c", c="a", d="a"))
    assert "is a circle" in told
    assert {place.split()[-1] for place in places} == {"a/a.h", "b/b.h", "c/c.h"}


def test_rooms_one_above_the_other_are_fine(tmp_path: Path) -> None:
    assert [*circle(tree(tmp_path, a="abc", b="c", c=""))] == []
