# SPDX-License-Identifier: BSD-2-Clause
"""What a device tells of the connections that it makes itself, and whether that can be true.

Each is answered once, then perhaps established, then ended, and its facts stay what they were.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from roceproof.dpi.connection_records import ConnectionEvent, ConnectionStep

_BEFORE: dict[ConnectionStep, tuple[ConnectionStep | None, ...]] = {
    ConnectionStep.ANSWERED: (None, ConnectionStep.ENDED),
    ConnectionStep.ESTABLISHED: (ConnectionStep.ANSWERED,),
    ConnectionStep.ENDED: (ConnectionStep.ANSWERED, ConnectionStep.ESTABLISHED),
}


class ConnectionEvents:
    """The events of one device, judged as they come."""

    def __init__(self) -> None:
        self._last: dict[int, ConnectionEvent] = {}
        self.wrong: list[str] = []
        """What cannot be, in words."""

    def add(self, events: Iterable[ConnectionEvent]) -> None:
        """More, in the order in which they came."""
        for event in events:
            known = self._last.get(event.qpn)
            before = None if known is None else known.step
            if before not in _BEFORE[event.step]:
                was = "nothing" if before is None else before.name.lower()
                self.wrong.append(
                    f"cme_o says {event.step.name.lower()} of queue pair {event.qpn:#x} "
                    f"behind {was}; want {_allowed(event.step)} in front of it, and each step once"
                )
            elif not _is_same(known, event):
                self.wrong.append(
                    f"cme_o tells otherwise of queue pair {event.qpn:#x} when it is "
                    f"{event.step.name.lower()} than before"
                )
            self._last[event.qpn] = event

    def last_of(self, qpn: int) -> ConnectionEvent | None:
        """What was said last of a queue pair, None if nothing was."""
        return self._last.get(qpn)


def _is_same(known: ConnectionEvent | None, event: ConnectionEvent) -> bool:
    """Whether the facts are those of the step before, if that is of the same connection."""
    if known is None or known.step is ConnectionStep.ENDED:
        return True
    return replace(known, step=event.step) == event


def _allowed(step: ConnectionStep) -> str:
    return " or ".join("nothing" if e is None else e.name.lower() for e in _BEFORE[step])
