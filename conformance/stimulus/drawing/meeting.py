# SPDX-License-Identifier: BSD-2-Clause
"""What may happen to two queue pairs at once, while a stream is held back or all flow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from roceproof.conformance.stimulus.plan import Step

_PACKETS = 3
_TOO_LONG = (1 << 31) + 1
_HAPPENINGS, _ELSEWHERE = 60, 0.8
_TIMELY_NS, _FILLING_NS, _SPENT_NS = 4000, 250, 600
_IN_A_TRAIN = 12
_REPEATED, _REPEATED_NS = 16, 20_000
TRAIN = "a train of tiny messages"
HELD: Sequence[Mapping[str, int]] = ({}, {"tx_stall": 99}, {"cpl_stall": 99}, {"rx_gap": 90})
"""Which stream is held back, and how much."""


class One(NamedTuple):
    key: int
    spec: Mapping[str, Any]
    op: str

    def begins(self) -> Step:
        """It is configured, for the first time or anew."""
        return Step("connect", {"key": self.key, **self.spec})

    def posts(self, size: int = 5, **fields: Any) -> Step:
        return Step("post", {"key": self.key, "op": self.op, "size": size, **fields})

    def hears(self, **fields: Any) -> Step:
        return Step("answer", {"key": self.key, **fields})


class Event(NamedTuple):
    """What happens to a queue pair, and whether it has ended then."""

    step: Callable[[One], Step]
    is_end: bool = False


EVENTS: Mapping[str, Event] = {
    "all is acknowledged": Event(lambda one: one.hears()),
    "the oldest is acknowledged": Event(lambda one: one.hears(oldest=0)),
    "the second is refused": Event(lambda one: one.hears(oldest=1, syndrome=0x62), is_end=True),
    "the oldest is invalid": Event(lambda one: one.hears(oldest=0, syndrome=0x61), is_end=True),
    "a packet lacks": Event(lambda one: one.hears(oldest=0, syndrome=0x60), is_end=True),
    "no receive": Event(lambda one: one.hears(oldest=0, syndrome=0x21), is_end=True),
    "a wrong ICRC": Event(lambda one: one.hears(flaw="icrc", syndrome=0x63)),
    "more work": Event(lambda one: one.posts()),
    TRAIN: Event(lambda one: one.posts(1, count=_IN_A_TRAIN)),
    "work that is too long": Event(lambda one: one.posts(length=_TOO_LONG)),
    "it begins anew": Event(One.begins),
    "it is reset": Event(lambda one: Step("reset", {"key": one.key}), is_end=True),
}

_AT_A_TIMER = [*EVENTS, *[TRAIN] * len(EVENTS)]
"""Half of it lets the timer run."""


def meet(
    first: One, second: One, events: tuple[str, str], held: Mapping[str, int], apart_ns: int = 0
) -> Iterator[Step]:
    """Both have sent, and are sending when these happen to them, so far apart."""
    both = _each(first, second)
    yield from _sent(both)
    if held:
        yield Step("disturb", dict(held))
    for one in both:
        yield one.posts(_PACKETS * one.spec["path_mtu"])
    yield Step("wait", {"ns": _FILLING_NS})
    yield EVENTS[events[0]].step(first)
    if apart_ns:
        yield Step("wait", {"ns": apart_ns})
    yield EVENTS[events[1]].step(second)
    yield Step("wait", {"ns": _SPENT_NS})
    if held:
        yield Step("disturb", {})
        yield Step("wait", {"ns": _SPENT_NS})


def _each(first: One, second: One) -> Sequence[One]:
    return (first,) if first.key == second.key else (first, second)


def _sent(ones: Sequence[One]) -> Iterator[Step]:
    for one in ones:
        yield one.posts(count=2)
    yield Step("until", {"frames": 2 * len(ones), "within": _TIMELY_NS})


def meet_at_rest(first: One, second: One, events: tuple[str, str], apart_ns: int) -> Iterator[Step]:
    """Both have sent and wait, so that every stream takes at once what is offered on it."""
    yield from _sent(_each(first, second))
    yield EVENTS[events[0]].step(first)
    yield Step("wait", {"ns": apart_ns})
    yield EVENTS[events[1]].step(second)
    yield Step("wait", {"ns": _SPENT_NS})


def meet_copies(
    happen: Sequence[tuple[One, str]], held: Mapping[str, int], apart_ns: Sequence[int]
) -> Iterator[Step]:
    """Queue pairs repeat what they have sent while these happen to them, one by one."""
    for one, _ in happen:
        yield one.posts(_REPEATED * one.spec["path_mtu"])
        yield one.posts(count=2)
    frames = (_REPEATED + 2) * len(happen)
    yield Step("until", {"frames": frames, "within": _REPEATED_NS * len(happen)})
    if held:
        yield Step("disturb", dict(held))
    for one, _ in happen:
        yield one.hears(oldest=0, syndrome=0x60)
    for (one, event), ns in zip(happen, apart_ns, strict=True):
        yield Step("wait", {"ns": ns})
        yield EVENTS[event].step(one)
    yield Step("wait", {"ns": _REPEATED_NS})
    if held:
        yield Step("disturb", {})


def run_out(
    waiting: Sequence[One],
    others: Sequence[One],
    held: Mapping[str, int],
    random: Random,
    timeout_ns: int,
) -> Iterator[Step]:
    """Timers run out one by one, amid all that happens to others or just in time to their own."""
    for one in (*waiting, *others):
        yield one.begins()
    for one in (*others, *waiting):
        yield one.posts(count=2)
    frames = 2 * (len(waiting) + len(others))
    yield Step("until", {"frames": frames, "within": _TIMELY_NS})
    if held:
        yield Step("disturb", dict(held))
    yield Step("wait", {"ns": timeout_ns * 3 // 4})
    for _ in range(_HAPPENINGS):
        is_elsewhere = others and random.random() < _ELSEWHERE
        one = random.choice(others if is_elsewhere else waiting)
        yield EVENTS[random.choice([*EVENTS] if is_elsewhere else _AT_A_TIMER)].step(one)
        yield Step("wait", {"ns": random.randrange(1, 2 * timeout_ns // _HAPPENINGS)})
    if held:
        yield Step("disturb", {})
    yield Step("expire", {})
    yield Step("settle", {})
    for one in (*waiting, *others):
        yield one.begins()


def again(met: Iterable[tuple[One, str]]) -> Iterator[Step]:
    """Behind all these meetings: everything ends, and who has ended begins anew."""
    yield Step("settle", {})
    for one, name in met:
        if EVENTS[name].is_end:
            yield one.begins()
