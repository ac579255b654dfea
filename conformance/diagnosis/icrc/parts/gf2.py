# SPDX-License-Identifier: BSD-2-Clause
"""Linear equations over GF(2): which of some columns add up to a goal."""


class Equations:
    """Columns are integers whose bits are the equations; unknown i says whether column i counts."""

    def __init__(self, goal: int) -> None:
        self._goal = goal
        self._count = 0
        self.open = 0
        """How many of the columns depend on earlier ones, so that their unknowns are free."""
        self._pivots: dict[int, tuple[int, int]] = {}

    def add(self, column: int) -> None:
        members = 1 << self._count
        self._count += 1
        rest, members = self._reduce(column, members)
        if rest:
            self._pivots[rest.bit_length()] = rest, members
        else:
            self.open += 1

    def solve(self) -> list[int] | None:
        """The columns that add up to the goal, free ones left out; None if none do."""
        rest, members = self._reduce(self._goal, 0)
        if rest:
            return None
        return [place for place in range(self._count) if members >> place & 1]

    def _reduce(self, rest: int, members: int) -> tuple[int, int]:
        while rest and (pivot := self._pivots.get(rest.bit_length())):
            rest ^= pivot[0]
            members ^= pivot[1]
        return rest, members
