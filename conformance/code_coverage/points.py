# SPDX-License-Identifier: BSD-2-Clause
"""Verilator's coverage: one point for each line, branch and bit, with how often it was exercised.

Simulations of one build write the same points in the same order, so that sums need no names.
"""

import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from roceproof.common.errors import RoceproofError

KINDS = ("line", "branch", "toggle")
_COUNT = re.compile(rb"' (\d+)$", re.MULTILINE)
_LINE = re.compile(r"C '(.*)' (\d+)")
_BIT = re.compile(r"(.*?)\[(\d+)\]$")


class DataError(RoceproofError):
    """A file is not what the simulator of one build writes; the text names it."""


class Point(NamedTuple):
    """Something that can be exercised. A bit has a `name`; other points have a line only."""

    kind: str
    file: str
    line: int
    module: str
    instance: str
    name: str

    @property
    def signal(self) -> str:
        """The name of a bit without its index."""
        found = _BIT.match(self.name)
        return found[1] if found else self.name

    @property
    def bit(self) -> int:
        """The last index of a bit, 0 without."""
        found = _BIT.match(self.name)
        return int(found[2]) if found else 0


class Sum:
    """Adds files up; keeps the text of the first as what the numbers mean."""

    def __init__(self) -> None:
        self._counts: array[int] = array("Q")
        self._text = b""

    def add(self, path: Path) -> None:
        data = path.read_bytes()
        counts = array("Q", map(int, _COUNT.findall(data)))
        if not self._text:
            self._counts, self._text = counts, data
        elif len(counts) != len(self._counts):
            raise DataError(f"{path} has {len(counts)} points, others {len(self._counts)}")
        else:
            self._counts = array("Q", map(int.__add__, self._counts, counts))

    def write(self, path: Path) -> None:
        """The sum as such a file; nothing if there was none."""
        if self._text:
            counts = iter(self._counts)
            path.write_bytes(_COUNT.sub(lambda _: b"' %d" % next(counts), self._text))


def read_points(path: Path) -> Iterator[tuple[Point, int]]:
    for row in path.read_text(encoding="utf-8").splitlines()[1:]:
        found = _LINE.fullmatch(row)
        if found is None:
            raise DataError(f"{path}: no point of Verilator's coverage: {row[:60]!r}")
        words = found[1].split("\x01")[1:]
        values = dict(word.split("\x02", 1) for word in words)
        kind, _, module = values["page"].partition("/")
        yield (
            Point(
                kind.removeprefix("v_"),
                values["f"],
                int(values["l"]),
                module.partition("__")[0],
                values["h"],
                values["o"],
            ),
            int(found[2]),
        )
