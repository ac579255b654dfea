# SPDX-License-Identifier: BSD-2-Clause
"""What a device tells of the connections that it makes itself, and whether that can be true.

Each is answered once, then perhaps established, then ended, and its facts stay what they were. One
that the device was told to ask for is established once, or ended, which it may also be at once.
"""

from collections.abc import Iterable
from dataclasses import replace

from roceproof.dpi.contract.connection_records import ConnectionEvent, ConnectionStep

_BEFORE: dict[ConnectionStep, tuple[ConnectionStep | None, ...]] = {
    ConnectionStep.ANSWERED: (None, ConnectionStep.ENDED, ConnectionStep.ANSWERED),
    ConnectionStep.ESTABLISHED: (ConnectionStep.ANSWERED,),
    ConnectionStep.ENDED: (ConnectionStep.ANSWERED, ConnectionStep.ESTABLISHED),
}
_CALLED: dict[ConnectionStep, tuple[ConnectionStep | None, ...]] = {
    ConnectionStep.ANSWERED: (),
    ConnectionStep.ESTABLISHED: (None, ConnectionStep.ENDED),
    ConnectionStep.ENDED: (None, ConnectionStep.ENDED, ConnectionStep.ESTABLISHED),
}


class ConnectionEvents:
    """The events of one device, judged as they come."""

    def __init__(self) -> None:
        self._last: dict[int, ConnectionEvent] = {}
        self._called: set[int] = set()
        self.wrong: list[str] = []
        """What cannot be, in words."""

    def power_on(self) -> None:
        """There are none any more."""
        self._last.clear()
        self._called.clear()

    def called(self, qpn: int) -> None:
        """The device was told to ask for a connection of this queue pair."""
        self._called.add(qpn)

    def add(self, events: Iterable[ConnectionEvent]) -> None:
        """More, in the order in which they came."""
        for event in events:
            known = self._last.get(event.qpn)
            before = None if known is None else known.step
            allowed = (_CALLED if event.qpn in self._called else _BEFORE)[event.step]
            if before not in allowed:
                was = "nothing" if before is None else before.name.lower()
                self.wrong.append(
                    f"cme_o says {event.step.name.lower()} of queue pair {event.qpn:#x} "
                    f"behind {was}; want {_shown(allowed)} in front of it, and each step once"
                )
            elif not _is_same(known, event):
                self.wrong.append(
                    f"cme_o tells otherwise of queue pair {event.qpn:#x} when it is "
                    f"{event.step.name.lower()} than before"
                )
            self._last[event.qpn] = event
            if event.step is ConnectionStep.ENDED:
                self._called.discard(event.qpn)

    def last_of(self, qpn: int) -> ConnectionEvent | None:
        """What was said last of a queue pair, None if nothing was."""
        return self._last.get(qpn)


def _is_same(known: ConnectionEvent | None, event: ConnectionEvent) -> bool:
    """Whether the facts are those of the step before, if that is of the same connection."""
    if known is None or known.step is ConnectionStep.ENDED:
        return True
    return replace(known, step=event.step) == event


def _shown(steps: Iterable[ConnectionStep | None]) -> str:
    return " or ".join("nothing" if e is None else e.name.lower() for e in steps) or "no call"
