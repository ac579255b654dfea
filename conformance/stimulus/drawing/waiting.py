# SPDX-License-Identifier: BSD-2-Clause
"""What happens to queue pairs side by side while their ACK timers run, begin anew and stop.

A history is a queue pair's own: one word for each tick, of which a timeout has two. Whatever has
not ended at the end of a history waits for its timeout, which must come in its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from random import Random
from typing import Any

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.stimulus.plan import Step
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims

TICKS = 2
PUT_OFF = 60
"""Ticks behind which a timer that something has begun anew in each is late, if a tick is long."""
HISTORIES: Mapping[str, str] = {
    "nothing comes": "p",
    "a part of it comes": "P a a",
    "all but its last packet": "P l",
    "the first of two": "pp a",
    "the first of three, then the second": "ppp a a",
    "always one behind the other": "pp ap ap ap ap ap",
    "always the newest": "p np np np np np",
    "one is lost among many": "pp ap n p",
    "more leaves behind it": "p p p p p p",
    "only what is old comes": "p n p l l l l",
    "nothing to wait for": "p n - - - - - p",
    "it begins anew": "p rp",
    "it fails and begins anew": "p xrp",
    "it begins anew with more time": "p Lp",
    "it begins anew with less time": "p Sp",
    "another takes its place": "p cp",
}
PUTTING_OFF: Mapping[str, str] = {
    "only what is old comes": "p n p" + " l" * PUT_OFF,
    "only what was never sent comes": "p" + " g" * PUT_OFF,
}
"""For long ticks: answers to nothing that is outstanding, which must not begin the timer anew."""
_LETTERS = {"p": 8, "P": 2, "a": 5, "l": 2, "g": 1, "n": 3, "-": 4}
_LETTERS |= {"r": 1, "x": 1, "L": 1, "S": 1, "c": 1}
_IDLE = "lg"
"""What answers nothing that is outstanding."""
_AMID = "rLSc"
"""What is configured amid a queue pair's life."""
_LONGEST, _ENDLESS = 7, 0.2
_BEHIND = 1000  # the key of whoever takes a queue pair's place
_PACKETS = 4
_TICK_PARTS = 8
_HALF = 1 << 23
_REFUSED = 0x62


class Side:
    """One queue pair in the course of its history."""

    def __init__(self, key: int, spec: Mapping[str, Any], *, op: str, places: int) -> None:
        self._key = key
        self._spec = dict(spec)
        self._op = op
        self._next_number = places if self._spec["local_qpn"] < _HALF else -places

    def begins(self) -> Step:
        return Step("connect", {"key": self._key, **self._spec})

    def does(self, letter: str) -> Iterator[Step]:
        """What a letter of a history stands for."""
        acts: Mapping[str, Callable[[], Iterator[Step]]] = {
            "p": lambda: self._posts(5),
            "P": lambda: self._posts(_PACKETS * self._spec["path_mtu"]),
            "M": lambda: self._posts(self._spec["path_mtu"]),
            "a": lambda: self._is_answered(oldest=0),
            "l": lambda: self._is_answered(back=1),
            "g": lambda: self._is_answered(ahead=1),
            "n": self._is_answered,
            "x": lambda: self._is_answered(oldest=0, syndrome=_REFUSED),
            "r": lambda: iter((self.begins(),)),
            "L": lambda: self._begins_with(1),
            "S": lambda: self._begins_with(-1),
            "c": self._makes_room,
            "-": lambda: iter(()),
        }
        return acts[letter]()

    def _posts(self, size: int) -> Iterator[Step]:
        yield Step("post", {"key": self._key, "op": self._op, "size": size})

    def _is_answered(self, **place: int) -> Iterator[Step]:
        yield Step("answer", {"key": self._key, **place})

    def _begins_with(self, more: int) -> Iterator[Step]:
        self._spec["ack_timeout"] = max(1, self._spec["ack_timeout"] + more)
        yield self.begins()

    def _makes_room(self) -> Iterator[Step]:
        yield Step("reset", {"key": self._key})
        self._key += _BEHIND
        self._spec["local_qpn"] += self._next_number
        self._spec.pop("remote_qpn", None)
        yield self.begins()


def tick_ns(code: int) -> int:
    """How long a tick of a history lasts for that code of an ACK timeout."""
    return (ack_timeout_ns(code) or 0) // TICKS


def histories_of(claims: Claims) -> list[str]:
    """Those that the device can live through."""
    is_any = Capability.RESTART in claims.capabilities
    return [each for each in HISTORIES.values() if is_any or set(_AMID).isdisjoint(each)]


def drawn(random: Random, claims: Claims) -> str:
    """One that nobody has thought of."""
    is_any = Capability.RESTART in claims.capabilities
    known = {each: n for each, n in _LETTERS.items() if is_any or each not in _AMID}
    letters, weights = list(known), list(known.values())
    counts = [random.choice((1, 1, 1, 2, 3)) for _ in range(random.randrange(_LONGEST))]
    words = ["p", *("".join(random.choices(letters, weights, k=k)) for k in counts)]
    if random.random() < _ENDLESS:
        words += ["p", *random.choices(_IDLE, k=PUT_OFF)]
    return " ".join(words)


def steps_of(sides: Sequence[Side], histories: Sequence[str], tick_ns: int) -> Iterator[Step]:
    """All of them side by side, and then nothing but timeouts."""
    for side in sides:
        yield side.begins()
    ticks = [history.split() for history in histories]
    for words in zip_longest(*ticks, fillvalue="-"):
        for side, word in zip(sides, words, strict=True):
            for letter in word:
                yield from side.does(letter)
        yield Step("wait", {"ns": tick_ns})
    yield Step("expire", {})


def held_up(
    side: Side, front: Side, held: Mapping[str, int], tick_ns: int, *, second: str = "p"
) -> Iterator[Step]:
    """The first of two is answered while the second has not left, for longer than a timeout."""
    yield from side.does("p")
    yield Step("until", {})
    yield Step("disturb", dict(held))
    yield from front.does("M")
    yield from side.does(second)
    yield Step("wait", {"ns": tick_ns // _TICK_PARTS})
    yield from side.does("n")
    yield Step("wait", {"ns": 2 * TICKS * tick_ns})
    yield from _flows_again(side)


def copy_held_up(side: Side, front: Side, held: Mapping[str, int], tick_ns: int) -> Iterator[Step]:
    """A timer runs out, and what it asks for cannot leave for longer than all its tries take."""
    yield from side.does("p")
    yield Step("until", {})
    yield Step("disturb", dict(held))
    yield from front.does("M")
    yield Step("wait", {"ns": 4 * TICKS * tick_ns})
    yield from _flows_again(side)


def _flows_again(side: Side) -> Iterator[Step]:
    """What was held up leaves, and is answered."""
    yield Step("disturb", {})
    yield Step("until", {"frames": 2})
    yield from side.does("n")
    yield Step("settle", {})
