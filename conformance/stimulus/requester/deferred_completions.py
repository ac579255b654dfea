# SPDX-License-Identifier: BSD-2-Clause
"""Judges a device whose completions may be seen before the frame that they follow.

Only behind the DUT contract is the order of both known; elsewhere a completion waits here until
what explains it has come.
"""

from __future__ import annotations

from roceproof.conformance.stimulus.requester.requester_checker import Track
from roceproof.verbs.work import Outcome


class EarlyTrack(Track):
    """A track with completions that are not explained yet."""

    _early: list[Outcome] | None = None

    def completes(self, outcome: Outcome, time_ns: int) -> bool:
        """Sooner or later it must fit; of refused work, which may be told at once, also later."""
        waiting = self._early or []
        is_in_turn = all(map(self._is_refusal, waiting))
        if is_in_turn and super().completes(outcome, time_ns):
            self._explain(time_ns)
        else:
            self._early = [*waiting, outcome]
        return True

    def takes(self, frame: bytes, time_ns: int, *, begun_ns: int) -> int | None:
        """A frame, and what had waited for it."""
        life = super().takes(frame, time_ns, begun_ns=begun_ns)
        if life is not None:
            self._explain(time_ns)
        return life

    def owed(self) -> list[str]:
        """Completions that nothing has explained count as well."""
        unexplained = [f"work {o.wr_id:#x} completed with {o.status}" for o in self._early or ()]
        return super().owed() or unexplained

    def _explain(self, time_ns: int) -> None:
        while self._early and super().completes(self._early[0], time_ns):
            del self._early[0]

    def _is_refusal(self, outcome: Outcome) -> bool:
        return any(
            work.wr_id == outcome.wr_id and outcome.status in life.refusals(work)
            for work in self.works
            for life in self.lives
        )
