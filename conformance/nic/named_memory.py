# SPDX-License-Identifier: BSD-2-Clause
"""Which memory the requests of a capture name, laid out anew in one piece of the device's.

A key stands for a region: from the lowest address that is named by it, or the page of that, to
the highest. A key that names bytes of a region whose key is more common is wrong on purpose.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

_PAGE = 4096


class _Region(NamedTuple):
    first: int
    behind: int
    offset: int
    """Of its first byte in the piece, which lies in its page as the original does."""


@dataclass
class NamedMemory:
    """All that is named has to be told before the layout is asked for."""

    _ends: dict[int, tuple[int, int]] = field(default_factory=dict)
    _uses: Counter[int] = field(default_factory=Counter)
    _laid_out: dict[int, _Region] | None = None

    def name(self, address: int, length: int, key: int) -> None:
        """Take in what a request names; one of no bytes names nothing."""
        if not length:
            return
        first, behind = self._ends.get(key, (address, address))
        self._ends[key] = (min(first, address), max(behind, address + length))
        self._uses[key] += 1
        self._laid_out = None

    @property
    def size(self) -> int:
        """Of the piece that holds all regions; a byte where none is named."""
        ends = (each.offset + each.behind - each.first for each in self._regions().values())
        return max(ends, default=1)

    def place(self, address: int, length: int, key: int) -> tuple[int, bool]:
        """Where in the piece an address is, and whether the key is that of its region."""
        regions = self._regions()
        if not length:
            return 0, True
        region = (
            regions.get(key)
            or _owner(regions, address, address + length)
            or _owner(regions, *self._ends[key])  # by what else it names
        )
        assert region is not None, "it has been told"
        return address - region.first + region.offset, key in regions

    def _regions(self) -> dict[int, _Region]:
        if self._laid_out is None:
            self._laid_out = {}
            end = 0
            for key, _ in self._uses.most_common():
                first, behind = self._ends[key]
                if _owner(self._laid_out, first, behind) is None:
                    offset = end + first % _PAGE
                    self._laid_out[key] = _Region(first, behind, offset)
                    end = -(-(offset + behind - first) // _PAGE) * _PAGE
        return self._laid_out


def _owner(regions: dict[int, _Region], first: int, behind: int) -> _Region | None:
    """The region of which it names bytes."""
    found = (each for each in regions.values() if first < each.behind and each.first < behind)
    return next(found, None)
