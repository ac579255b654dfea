# SPDX-License-Identifier: BSD-2-Clause
"""What a case may take of a simulated device, so that none goes on for ever.

A right device is never near it: frames and completions are counted against what the case has sent
and asked for, time against the patience that the manifest claims. Processor seconds are a guard
for what nobody has thought of.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from roceproof.common.cpu_wait import ran_ns
from roceproof.conformance.targets.interface import NoEnd

PROCESSOR_SECONDS = 600
_FRAMES, _FRAMES_FOR_EACH = 20_000, 64
_ASIDES, _ASIDES_FOR_EACH = 2_000, 8
_COMPLETIONS, _COMPLETIONS_FOR_EACH = 4_000, 8
_SHORTER = 16
_UNTAKEN = 1 << 16
_ANSWERS, _LEAST_ANSWER_CYCLES = 2_000, 100_000
_HUNG, _LONGER = 6, 4
_SLICES, _SLICE_SECONDS = 5, 20.0
_MEASURED = 64
_TIMES_AS_SLOW = 1000, 200, 20, 5
"""As the slowest slice so far: of the first few, which may be short; behind them; when one has
stood or enough cases have hung; and when both are so: then a case that stands is not reached, and
accuses nobody of more."""
_LEAST_SLICE_SECONDS = 2.0, 2.0, 0.25, 0.02


class Pace:
    """What the cases of a process have seen of one device: how long it takes, how often it hung.

    A device that has hung in some cases is not waited for as long as its manifest claims in the
    next, but some times longer than it ever took.
    """

    def __init__(self) -> None:
        self.longest = 0
        """Cycles that anything has taken that came."""
        self.longest_taken = 0
        """Cycles in which anything was taken that stands on offer to the device."""
        self.hung = 0
        """Cases that have failed because something never came."""
        self.has_stood = False
        """Whether a slice of time took more than it may."""
        self.slices = 0
        self.slowest = 0.0
        """Processor seconds of the slowest slice of time among those that are measured."""

    @property
    def is_short(self) -> bool:
        """Whether enough cases have hung."""
        return self.hung >= _HUNG

    def answer_cycles(self, claimed: int, quiet: int) -> int:
        """How long it is waited for."""
        return self._as_known(self.longest, claimed, quiet)

    def taken_cycles(self, answer_cycles: int, quiet: int) -> int:
        """How long the device is waited for to take something."""
        return self._as_known(self.longest_taken, answer_cycles, quiet)

    def _as_known(self, longest: int, claimed: int, quiet: int) -> int:
        return min(claimed, _LONGER * max(longest, quiet)) if self.is_short else claimed

    @property
    def slice_seconds(self) -> float:
        """How long a slice of time may take."""
        if not self.slices and not self.has_stood:
            return _SLICE_SECONDS
        known = 1 + self.has_stood + self.is_short if self.slices >= _SLICES else 0
        slow, least = _TIMES_AS_SLOW[known], _LEAST_SLICE_SECONDS[known]
        return min(_SLICE_SECONDS, max(least, slow * self.slowest))

    @contextmanager
    def slice_of(self, pid: int) -> Iterator[None]:
        """One, of the simulation with this number; to measure each would cost as much as some."""
        is_measured = self.slices % _MEASURED == 0 or self.slices < _MEASURED
        before = ran_ns(pid) if is_measured else 0
        yield
        self.slices += 1
        if is_measured:
            self.slowest = max(self.slowest, (ran_ns(pid) - before) / 1e9)


@dataclass
class Allowance:
    """What one case has asked of its device, and what has come; `NoEnd` if that is too much."""

    answer_cycles: int
    is_short: bool = False
    asked: int = 0
    sent: int = 0
    taken: int = 0
    frames: int = 0
    asides: int = 0
    completions: int = 0

    @property
    def _shorter(self) -> int:
        return _SHORTER if self.is_short else 1

    def ask(self, count: int) -> None:
        """The case has posted work of so many packets."""
        self.asked += count

    def send(self, *, is_answer: bool) -> None:
        """The bench has sent a frame; an answer asks for nothing."""
        self.sent += 1
        self.asked += not is_answer
        waiting = self.sent - self.taken
        if waiting > _UNTAKEN // self._shorter:
            raise NoEnd(f"{waiting:,} frames wait for the device: rx_tready_o is low")

    def come(self, cycle: int) -> None:
        """So much has come until this cycle."""
        most = max(self.answer_cycles, _LEAST_ANSWER_CYCLES) * _ANSWERS
        if cycle > most:
            raise NoEnd(f"cycle {cycle:,} and no end; a case lasts {most:,} cycles at most")
        for count, least, each, what in (
            (self.frames, _FRAMES, _FRAMES_FOR_EACH, "frames"),
            (self.asides, _ASIDES, _ASIDES_FOR_EACH, "ARP, ICMP and pause frames"),
            (self.completions, _COMPLETIONS, _COMPLETIONS_FOR_EACH, "completions"),
        ):
            if count > least // self._shorter + each * self.asked:
                raise NoEnd(
                    f"{count:,} {what} came of the device in {cycle:,} cycles, and the case has "
                    f"sent and asked for {self.asked:,} packets"
                )


@contextmanager
def within_processor_seconds(seconds: float = PROCESSOR_SECONDS) -> Iterator[None]:
    """End what is done here when it has taken so many of this process."""

    def late(number: int, frame: FrameType | None) -> None:
        raise NoEnd(f"{seconds:g} processor seconds and no end", is_late=True)

    before = signal.signal(signal.SIGVTALRM, late)
    left, _ = signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, left)
        signal.signal(signal.SIGVTALRM, before)
