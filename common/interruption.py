# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-C, SIGTERM and a terminal that closes end a command alike: by one KeyboardInterrupt.

Signals that follow within seconds are the same wish, so that an impatient
second Ctrl-C does not cut the tidying up short.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SAME_WISH_SECONDS = 3.0
AGAIN_SECONDS = 0.01


class _Interruption:
    """The handler of all signals; knows when it last raised."""

    def __init__(self) -> None:
        self._raised_at = -SAME_WISH_SECONDS
        self._held = False
        self._missed = False

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        if self._held:
            self._missed = True
            return
        now = time.monotonic()
        if signum == signal.SIGALRM or now - self._raised_at >= SAME_WISH_SECONDS:
            self._raised_at = now
            raise KeyboardInterrupt

    def hold(self) -> None:
        """Keep what comes for later."""
        self._held = True

    def release(self) -> None:
        """Raise what came meanwhile, once."""
        self._held = False
        if self._missed:
            self._missed = False
            self._raised_at = time.monotonic()
            raise KeyboardInterrupt


@contextmanager
def interruptions_held() -> Iterator[None]:
    """Put an interruption off to the block's end, so that a child cannot start unnoticed."""
    handler = signal.getsignal(signal.SIGINT)
    if not isinstance(handler, _Interruption):
        yield
        return
    handler.hold()
    try:
        yield
    finally:
        handler.release()


def raise_interruptions() -> None:
    """Turn the signals into KeyboardInterrupt; one that is ignored so far (nohup) stays so."""
    handler = _Interruption()
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
    signal.signal(signal.SIGALRM, handler)
    sys.unraisablehook = _raise_again


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
