# SPDX-License-Identifier: BSD-2-Clause
"""How many messages count at a PSN, for holding against the MSN."""

from bisect import bisect_right

from roceproof.conformance.observer.psn import PSN_MODULUS, distance

_KEPT_ENDS = 4096
_HALF_KEPT = _KEPT_ENDS // 2


class MsnCounter:
    """The messages of one flow from the packet with PSN `start` on, while none is in doubt.

    `base` is what the MSN was in front of them.
    """

    def __init__(self, start: int, base: int | None) -> None:
        self.base = base
        self.base_frame = 0
        """The response that told it."""
        self.from_start = base is not None
        self._start = start
        self._floor = (0, 0)
        self._ends: list[int] = []
        self._received: list[int] = []

    def add(self, psn: int, *, plain_write: bool) -> None:
        """A message counts from that PSN on; WRITEs without immediate are counted apart."""
        before = self._received[-1] if self._received else self._floor[1]
        self._ends.append((psn - self._start) % PSN_MODULUS)
        self._received.append(before + (not plain_write))
        if len(self._ends) > _KEPT_ENDS:
            self._forget()

    def _forget(self) -> None:
        shift = self._ends[_HALF_KEPT - 1]
        self._floor = (self._floor[0] + _HALF_KEPT, self._received[_HALF_KEPT - 1])
        self._start = (self._start + shift) % PSN_MODULUS
        self._ends = [end - shift for end in self._ends[_HALF_KEPT:]]
        del self._received[:_HALF_KEPT]

    def count(self, psn: int) -> int | None:
        """All messages up to that PSN; None if it lies before the first that is counted."""
        index = self._index(psn)
        return None if index is None else self._floor[0] + index

    def count_received(self, psn: int) -> int:
        """Those up to that PSN that are not WRITEs without immediate."""
        index = self._index(psn)
        return self._received[index - 1] if index else self._floor[1]

    @property
    def total(self) -> int:
        return self._floor[0] + len(self._ends)

    def _index(self, psn: int) -> int | None:
        at = distance(psn, self._start)
        if at < 0:
            return 0 if self.from_start and not self._floor[0] else None
        return bisect_right(self._ends, at)
