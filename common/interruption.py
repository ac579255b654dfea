# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-C, SIGTERM and a terminal that closes end a command alike: by one KeyboardInterrupt.

Signals that follow within seconds are the same wish, so that an impatient
second Ctrl-C does not cut the tidying up short. What must not be cut short at all
holds them.
"""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SAME_WISH_SECONDS = 3.0
AGAIN_SECONDS = 0.01


class _Interruption:
    """The handler of all signals; knows when it last raised."""

    def __init__(self) -> None:
        self._raised_at = -SAME_WISH_SECONDS
        self._holders = 0
        self.first: int = signal.SIGINT
        """The signal of the first wish."""
        self._has_come = False
        self._missed = False

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        if not self._has_come and signum != signal.SIGALRM:
            self._has_come, self.first = True, signum
        if self._holders:
            self._missed = True
            return
        now = time.monotonic()
        if signum == signal.SIGALRM or now - self._raised_at >= SAME_WISH_SECONDS:
            self._raised_at = now
            raise KeyboardInterrupt

    def hold(self) -> None:
        """Keep what comes for later."""
        self._holders += 1

    def release(self) -> None:
        """Unless someone else holds it, raise what came meanwhile, once."""
        self._holders -= 1
        self._raise_missed()

    def let_through(self) -> int:
        """Raise what came and what comes, whoever holds it; how many do."""
        holders, self._holders = self._holders, 0
        try:
            self._raise_missed()
        except KeyboardInterrupt:
            self._holders = holders
            raise
        return holders

    def hold_again(self, holders: int) -> None:
        """Undo `let_through`."""
        self._holders = holders

    def _raise_missed(self) -> None:
        if self._missed and not self._holders:
            self._missed = False
            self._raised_at = time.monotonic()
            raise KeyboardInterrupt


@contextmanager
def interruptions_held() -> Iterator[None]:
    """Put an interruption off to the block's end, so that nothing in it is left half done."""
    handler = signal.getsignal(signal.SIGALRM)
    if not isinstance(handler, _Interruption):
        yield
        return
    handler.hold()
    try:
        yield
    finally:
        handler.release()


@contextmanager
def interruptions_let_through() -> Iterator[None]:
    """Inside a block that holds them: a part that can be interrupted after all."""
    handler = signal.getsignal(signal.SIGALRM)
    if not isinstance(handler, _Interruption):
        yield
        return
    holders = handler.let_through()
    try:
        yield
    finally:
        handler.hold_again(holders)


def hold_interruptions() -> None:
    """Put them off for good, but for what lets them through."""
    handler = signal.getsignal(signal.SIGALRM)
    if isinstance(handler, _Interruption):
        handler.hold()


def raise_interruptions() -> None:
    """Turn the signals into KeyboardInterrupt; one that is ignored so far (nohup) stays so."""
    handler = _Interruption()
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
    signal.signal(signal.SIGALRM, handler)
    sys.unraisablehook = _raise_again


def signal_of_interruption() -> int:
    """The signal that came first; that of Ctrl-C where something else has interrupted."""
    handler = signal.getsignal(signal.SIGALRM)
    return handler.first if isinstance(handler, _Interruption) else signal.SIGINT


@contextmanager
def time_limit(minutes: float | None) -> Iterator[Callable[[], bool]]:
    """Interrupt the block, as Ctrl-C does, when its time is over, which what it is given tells."""
    deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
    if minutes is not None:
        signal.setitimer(signal.ITIMER_REAL, max(60 * minutes, AGAIN_SECONDS))
    try:
        yield lambda: time.monotonic() >= deadline
    finally:
        if minutes is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)


def ignore_interruptions() -> None:
    """For the very end, when there is nothing left to interrupt."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _raise_again(lost: sys.UnraisableHookArgs) -> None:
    # A callback of the garbage collector has swallowed it.
    if lost.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
    else:
        sys.__unraisablehook__(lost)
