# SPDX-License-Identifier: BSD-2-Clause
"""How much a diagnosis may search, counted in work and not in time, so that it never varies.

What is not tried any more for want of it is kept, to be said beside the result.
"""

from __future__ import annotations

from collections.abc import Sequence

_LEAST = 2_000_000
_MOST = 6_000_000
_FOR_WORDS = 8
_PER_BYTE = 2
_SHOWN = 3


class OutOfBudget(Exception):
    """There is no work left to spend; whoever catches it says what is left out."""


class Budget:
    """Units of work; one is about a microsecond of a quiet machine of 2024."""

    def __init__(self, units: int = _MOST) -> None:
        self._units = self._left = units
        self._for_words = units // _FOR_WORDS
        self._undone: dict[str, dict[str, None]] = {}

    @classmethod
    def for_bytes(cls, count: int) -> Budget:
        """What suits a capture of that many bytes of frames: small ones are due in seconds."""
        return cls(min(_MOST, _LEAST + _PER_BYTE * max(0, count - 1_000_000)))

    def spend(self, units: int) -> None:
        """Take units; OutOfBudget once there are none left."""
        self._left -= units
        if self._left < 0:
            raise OutOfBudget

    def spend_on_words(self, units: int) -> None:
        """The same for what is said where nothing fits; a part is kept for it."""
        self._for_words -= units
        if self._for_words < 0:
            raise OutOfBudget

    def leave_out(self, what: str, where: str) -> None:
        """Note what was not tried, or not to its end, and of which device."""
        self._undone.setdefault(what, {})[where] = None

    @property
    def exhausted(self) -> bool:
        """Whether anything that costs something is in vain."""
        return self._left <= 0

    @property
    def notes(self) -> list[str]:
        """One sentence, if anything was left out."""
        if not self._undone:
            return []
        alike: dict[tuple[str, ...], list[str]] = {}
        for what, places in self._undone.items():
            alike.setdefault(tuple(places), []).append(what)
        parts = [f"{', '.join(whats)} ({_some(places)})" for places, whats in alike.items()]
        return [
            f"stopped searching after {self._units} units of work;"
            f" not tried, or not to the end: {'; '.join(parts)}"
        ]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
