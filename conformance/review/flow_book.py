# SPDX-License-Identifier: BSD-2-Clause
"""Where every packet stands in its flow: PSNs that do not wrap, repetitions, messages.

A flow or a packet costs some hundred bytes here, and a million of either is
bearable: a capture may hold as many flows as packets.
"""

from array import array
from bisect import bisect_right
from typing import NamedTuple

PSN_MODULUS = 1 << 24
_HALF = PSN_MODULUS // 2
_RESTART = 1 << 16  # a message that begins farther off belongs to a QP set up anew
_PSN_BITS = 48
_MIDDLE = 1 << (_PSN_BITS - 1)  # relative PSNs may be negative
_NONE = -1


class Place(NamedTuple):
    """A request's life (of all flows), the life's ordinal in its flow, relative PSN, and copy."""

    life: int
    ordinal: int
    psn: int
    copy: int


class FlowBook:
    """Flows by any hashable name, each with the lives of its QP: from one set-up to the next."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._current = array("q")  # by flow: its latest life
        self._first = array("I")  # by life: the PSN it began with, ..
        self._newest = array("q")  # .. its newest relative PSN, ..
        self._ordinal = array("I")  # .. and how many its flow had before
        self._seen: dict[int, int] = {}
        self._starts: list[int] = []
        self._before: array[int] | None = None

    def flow(self, name: bytes) -> int:
        """The number of a flow, counted from 0 in the order of asking."""
        number = self._numbers.setdefault(name, len(self._numbers))
        if number == len(self._current):
            self._current.append(_NONE)
        return number

    def number_of(self, name: bytes) -> int | None:
        return self._numbers.get(name)

    @property
    def names(self) -> list[bytes]:
        return list(self._numbers)

    def request(self, flow: int, psn: int, *, opens: bool) -> Place:
        """Enter a request; `opens` tells that a message begins with it."""
        life = self._current[flow]
        relative = self._unwrapped(life, psn) if life != _NONE else 0
        if life == _NONE or (opens and abs(relative - self._newest[life]) > _RESTART):
            life, relative = self._begin(flow, psn), 0
        key = life << _PSN_BITS | relative + _MIDDLE
        copy = self._seen.get(key, 0)
        self._seen[key] = copy + 1
        if relative > self._newest[life]:
            self._newest[life] = relative
        if opens and not copy:
            self._starts.append(key)
        return Place(life, self._ordinal[life], relative, copy)

    def response(self, flow: int, psn: int) -> tuple[int, int] | None:
        """The life's ordinal and relative PSN of a response to that flow's requests, if any."""
        life = self._current[flow]
        return None if life == _NONE else (self._ordinal[life], self._unwrapped(life, psn))

    def close(self) -> None:
        """All requests are entered; from here on messages have numbers."""
        self._seen.clear()
        self._starts.sort()
        self._before = array("I")
        for place, key in enumerate(self._starts):
            while len(self._before) <= key >> _PSN_BITS:
                self._before.append(place)
        while len(self._before) < len(self._first):
            self._before.append(len(self._starts))

    def message(self, life: int, psn: int) -> tuple[int, int]:
        """The message of a request, counted from 1 by PSN (0: before all), and its first PSN."""
        assert self._before is not None, "the book is open"
        place = bisect_right(self._starts, life << _PSN_BITS | psn + _MIDDLE)
        number = place - self._before[life]
        if number == 0:
            return 0, 0
        return number, (self._starts[place - 1] & (1 << _PSN_BITS) - 1) - _MIDDLE

    def _begin(self, flow: int, psn: int) -> int:
        before, life = self._current[flow], len(self._first)
        self._ordinal.append(0 if before == _NONE else self._ordinal[before] + 1)
        self._current[flow] = life
        self._first.append(psn)
        self._newest.append(0)
        return life

    def _unwrapped(self, life: int, psn: int) -> int:
        """The PSN relative to the first, in the lap that is nearest to the newest."""
        newest = self._newest[life]
        return newest + (psn - self._first[life] - newest + _HALF) % PSN_MODULUS - _HALF
