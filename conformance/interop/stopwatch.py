# SPDX-License-Identifier: BSD-2-Clause
"""How long something takes, and for how much of that the host had no processor for it.

A busy host must not make a machine or a tool look as if it hung.
"""

import time
from collections.abc import Callable

from roceproof.common.cpu_wait import held_up_ns

LONGEST = 5
"""Times as long as it may take is too long on any host."""
_NS = 1e9


class Stopwatch:
    """Runs from when it is made. `guest_held_up_ns` is the machine's, beside our own."""

    def __init__(self, guest_held_up_ns: Callable[[], int]) -> None:
        self._held_up = (guest_held_up_ns, held_up_ns)
        self._start = time.monotonic()
        self._before = [ask() for ask in self._held_up]

    def held_up_seconds(self) -> float:
        """For how long machine or bench could have run and had no processor, whichever is more."""
        now = (ask() for ask in self._held_up)
        return max(after - before for after, before in zip(now, self._before, strict=True)) / _NS

    def is_over(self, seconds: float) -> bool:
        """Whether it takes longer than so many seconds, those aside."""
        late = time.monotonic() - self._start - seconds
        return late > 0 and late > min(self.held_up_seconds(), (LONGEST - 1) * seconds)
