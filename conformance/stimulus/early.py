# SPDX-License-Identifier: BSD-2-Clause
"""Judges a device whose completions may be seen before the frame that they follow.

Only behind the DUT contract is the order of both known; elsewhere a completion waits here until
what explains it has come.
"""

from __future__ import annotations

from roceproof.conformance.stimulus.track import Track
from roceproof.verbs.work import Outcome


class EarlyTrack(Track):
    """A track with completions that are not explained yet."""

    _early: list[Outcome] | None = None

    def completes(self, outcome: Outcome, time_ns: int) -> bool:
        """Sooner or later it must fit."""
        waiting = self._early or []
        if waiting or not super().completes(outcome, time_ns):
            self._early = [*waiting, outcome]
        return True

    def takes(self, frame: bytes, time_ns: int, *, begun_ns: int) -> int | None:
        """A frame, and what had waited for it."""
        life = super().takes(frame, time_ns, begun_ns=begun_ns)
        while life is not None and self._early:
            if not super().completes(self._early[0], time_ns):
                break
            del self._early[0]
        return life

    def owed(self) -> list[str]:
        """Completions that nothing has explained count as well."""
        unexplained = [f"work {o.wr_id:#x} completed with {o.status}" for o in self._early or ()]
        return super().owed() or unexplained
