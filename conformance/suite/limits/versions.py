# SPDX-License-Identifier: BSD-2-Clause
"""Ranges of versions: "6.1" is 6.1.x, "6.1-6.12" both and all between, "6.12-" and all later."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_RANGE = re.compile(rf"({_NUMBERS.pattern})(-({_NUMBERS.pattern})?)?")

Version = tuple[int, ...]


def version_of(text: str) -> Version:
    """The numbers with dots that a version begins with; none if it begins with something else."""
    match = _NUMBERS.match(text)
    return tuple(map(int, match[0].split("."))) if match else ()


@dataclass(frozen=True)
class Versions:
    """From the first to the last, with all that is numbered below the last; None has no end."""

    first: Version
    last: Version | None

    @classmethod
    def read(cls, text: str) -> Versions | None:
        """The range that a text means, None if it means none."""
        match = _RANGE.fullmatch(text)
        if match is None:
            return None
        first = version_of(match[1])
        last = version_of(match[3]) if match[3] else None
        made = cls(first, last if match[2] else first)
        return made if made.last is None or first <= made.last else None

    def __contains__(self, version: str) -> bool:
        numbers = version_of(version)
        if not numbers or numbers < self.first:
            return False
        return self.last is None or numbers[: len(self.last)] <= self.last
