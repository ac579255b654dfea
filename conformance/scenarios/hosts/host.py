# SPDX-License-Identifier: BSD-2-Clause
"""A host with verbs, in virtual time: threads that post and wait, completion queues, lines.

A thread is a generator. It yields the picoseconds that it computes, or the completion queue that
it waits for; of these it is given what has come. Nothing is measured on any machine: what a call
takes are the declared `Costs`.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Any

from roceproof.conformance.scenarios.network import SECOND

NS = 1000
Thread = Generator["int | CompletionQueue", list[Any], None]


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What a host declares, in picoseconds; all but `fetch` and `nic` is a processor's time."""

    post: int = 200 * NS
    """A call that hands over a list of work, with its doorbell."""
    work: int = 100 * NS
    """Each work request of a list."""
    completion: int = 100 * NS
    """To take one off its queue."""
    wake: int = 3000 * NS
    """From an event until the thread that sleeps for it runs again."""
    fetch: int = 400 * NS
    """To read a payload that is not inline."""
    nic: int = 500 * NS
    """Through a NIC, at either end of the line."""


class Clock:
    """What happens next, and when; at the same time in the order in which it was said."""

    def __init__(self) -> None:
        self.now = 0
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers = count()

    def after(self, delay: int, do: Callable[[], None]) -> None:
        heappush(self._due, (self.now + delay, next(self._numbers), do))

    def run(self) -> None:
        """Until nothing is left to happen."""
        while self._due:
            self.now, _, do = heappop(self._due)
            do()


class CompletionQueue:
    """What has completed, and the one thread that waits for it."""

    def __init__(self) -> None:
        self._ready: list[Any] = []
        self._wakes: Callable[[], None] | None = None
        self._sleeps = False

    def put(self, completion: Any, *, solicited: bool = True) -> None:
        """What is not solicited wakes nobody who sleeps."""
        self._ready.append(completion)
        if self._wakes is not None and (solicited or not self._sleeps):
            wakes, self._wakes = self._wakes, None
            wakes()

    def take(self) -> list[Any]:
        taken, self._ready = self._ready, []
        return taken

    def call(self, wakes: Callable[[], None], *, sleeps: bool) -> None:
        """At what comes next."""
        self._wakes, self._sleeps = wakes, sleeps


class Core:
    """A processor with one thread; one that does not sleep polls while it waits."""

    def __init__(self, clock: Clock, costs: Costs, *, sleeps: bool) -> None:
        self._clock, self._costs, self._sleeps = clock, costs, sleeps
        self.busy = 0
        self.wakes = 0
        self.ended = 0

    def start(self, thread: Thread) -> None:
        self._go_on(thread, None)

    def _go_on(self, thread: Thread, given: list[Any] | None) -> None:
        try:
            wanted = thread.send(given)  # type: ignore[arg-type]
        except StopIteration:
            self.ended = self._clock.now
            return
        if isinstance(wanted, int):
            self.busy += wanted
            self._clock.after(wanted, lambda: self._go_on(thread, None))
        elif taken := wanted.take():
            self._go_on(thread, taken)
        else:
            begun, queue = self._clock.now, wanted
            queue.call(lambda: self._come(thread, queue, begun), sleeps=self._sleeps)

    def _come(self, thread: Thread, queue: CompletionQueue, begun: int) -> None:
        if self._sleeps:
            self.wakes += 1
            self.busy += self._costs.wake
            self._clock.after(self._costs.wake, lambda: self._go_on(thread, queue.take()))
        else:
            self.busy += self._clock.now - begun
            self._go_on(thread, queue.take())


class Line:
    """One direction of a cable, with a NIC at either end."""

    def __init__(self, clock: Clock, costs: Costs, *, rate: int, delay: int) -> None:
        self._clock, self._costs, self._rate, self._delay = clock, costs, rate, delay
        self._free = 0

    def send(self, size: int, then: Callable[[], None], *, late: int = 0) -> None:
        """So many bytes leave behind those before, no sooner than `late` from now; then ..."""
        begin = max(self._clock.now + late + self._costs.nic, self._free)
        self._free = begin + size * 8 * SECOND // self._rate
        self._clock.after(self._free - self._clock.now + self._delay + self._costs.nic, then)
