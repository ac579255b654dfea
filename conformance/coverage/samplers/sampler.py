# SPDX-License-Identifier: BSD-2-Clause
"""What every sampler has: the device's life so far, and a method for each thing that moves."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.coverage.frame_peek import Glimpse
from roceproof.conformance.coverage.queue_pairs import Answer, QueuePair, QueuePairs
from roceproof.conformance.coverage.table import Table
from roceproof.conformance.targets.bus_events import (
    Completed,
    Configured,
    Grant,
    Posted,
    Received,
    Sent,
)
from roceproof.dpi.session.options import Flow
from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op


@dataclass
class Life:
    """One device from its reset to its end."""

    counts: Counts
    table: Table
    host: Host
    width: str
    lanes: int  # bytes of a beat, 0 where nobody clocks the streams
    queue_pairs: QueuePairs
    flow: Flow
    executes: Mapping[Service, frozenset[Op]] | None = None  # as responder
    hits: dict[tuple[object, ...], int] = field(default_factory=lambda: defaultdict(int))

    def add(self, *hit: object) -> None:
        """Hit the bin of a point that these values name; it counts when the life is over."""
        self.hits[hit] += 1

    def count(self) -> None:
        """Give the counts what was hit: names are made here, once for each bin."""
        for (point, *values), times in self.hits.items():
            self.counts.add(str(point), "/".join(map(str, values)), times)
        self.hits.clear()


class Sampler:
    """Sees everything that moves; what it does not care for it leaves out.

    The queue pairs know a movement already, but for a response: `answer` says what it meant.
    """

    def __init__(self, life: Life) -> None:
        self.life = life
        self.add = life.add

    def configured(self, movement: Configured, *, is_restart: bool) -> None:
        """A queue pair was configured."""

    def granted(self, grant: Grant) -> None:
        """Memory or a receive is there."""

    def posted(self, movement: Posted, qp: QueuePair | None) -> None:
        """Work has gone in."""

    def received(
        self, movement: Received, seen: Glimpse | None, qp: QueuePair | None, answer: Answer | None
    ) -> None:
        """A frame has gone in."""

    def sent(
        self, movement: Sent, seen: Glimpse | None, qp: QueuePair | None, *, is_wrap: bool
    ) -> None:
        """A frame has come out."""

    def completed(self, movement: Completed, qp: QueuePair | None) -> None:
        """Work has ended."""

    def finish(self) -> None:
        """The device's life is over."""
