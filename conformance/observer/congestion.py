# SPDX-License-Identifier: BSD-2-Clause
"""CNP-02: congestion is notified only where marks have been seen."""

from collections.abc import Iterator

from roceproof.conformance.observer.observed import Observed
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.rules.table import Severity


class Congestion:
    """The address pairs between which RoCE frames were marked CE."""

    def __init__(self) -> None:
        self._marked: set[tuple[bytes, bytes]] = set()

    def note_mark(self, src: bytes, dst: bytes) -> None:
        """A RoCE frame carries the mark."""
        self._marked.add((src, dst))

    def take(self, packet: Observed) -> Iterator[Violation]:
        """Hold a CNP against the marks before it."""
        if (packet.dst, packet.src) in self._marked:
            return
        # Without any mark, the capture point may lie in front of the switch that marks.
        severity = Severity.MUST if self._marked else Severity.INFO
        yield Violation("CNP-02", "a frame marked CE before it", "none", severity)
