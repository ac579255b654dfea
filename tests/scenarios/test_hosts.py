# SPDX-License-Identifier: BSD-2-Clause
"""The declared host: who sleeps is woken by what is solicited, and lines send in order."""

from __future__ import annotations

from typing import Any

from roceproof.conformance.scenarios.hosts.host import (
    Clock,
    CompletionQueue,
    Core,
    Costs,
    Line,
    Thread,
)

COSTS = Costs(wake=50, nic=10)


def listen(*, sleeps: bool) -> tuple[list[tuple[int, list[Any]]], Core]:
    """When a thread has heard what, of an unsolicited completion at 100 and a solicited at 200."""
    clock, queue = Clock(), CompletionQueue()
    core = Core(clock, COSTS, sleeps=sleeps)
    heard = []

    def thread() -> Thread:
        while sum(len(each) for _, each in heard) < 2:
            told = yield queue
            heard.append((clock.now, told))
            yield 5

    core.start(thread())
    clock.after(100, lambda: queue.put("one", solicited=False))
    clock.after(200, lambda: queue.put("two"))
    clock.run()
    return heard, core


def test_who_sleeps_hears_of_both_when_the_solicited_one_has_woken_it() -> None:
    heard, core = listen(sleeps=True)
    assert heard == [(250, ["one", "two"])]
    assert (core.wakes, core.busy, core.ended) == (1, 50 + 5, 255)


def test_who_polls_hears_of_each_at_once_and_computes_all_the_time() -> None:
    heard, core = listen(sleeps=False)
    assert heard == [(100, ["one"]), (200, ["two"])]
    assert (core.wakes, core.busy, core.ended) == (0, 205, 205)


def test_a_line_sends_in_order_at_its_rate() -> None:
    clock = Clock()
    line = Line(clock, COSTS, rate=8 * 10**12, delay=1000)  # a byte a picosecond
    came: list[tuple[str, int]] = []
    line.send(100, lambda: came.append(("first", clock.now)), late=30)
    line.send(7, lambda: came.append(("second", clock.now)))
    clock.run()
    assert came == [("first", 10 + 30 + 100 + 1000 + 10), ("second", 10 + 30 + 107 + 1000 + 10)]
