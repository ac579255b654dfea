# SPDX-License-Identifier: BSD-2-Clause
"""By how much a time that was measured on a busy host may be wrong."""

from __future__ import annotations

from roceproof.conformance.targets.interface import Target


class Delay:
    """How long device and bench had no processor, from where this is made.

    Make it just before what begins a time to be measured: what held them up earlier in the case
    has delayed nothing of it.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._before_ns = target.held_up_ns()

    def within_ns(self, measured_ns: int) -> int:
        """The delay, which is no longer than the time that was measured.

        Threads that wait side by side count each for itself.
        """
        return max(0, min(self._target.held_up_ns() - self._before_ns, measured_ns))
