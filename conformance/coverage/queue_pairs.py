# SPDX-License-Identifier: BSD-2-Clause
"""What the streams show of a device's queue pairs: who is active, what is outstanding.

PSNs are counted from where a queue pair starts, without wrapping.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from roceproof.conformance.coverage.frame_peek import Glimpse
from roceproof.conformance.wire.psn import distance, packet_count
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import LOCAL_ERRORS, Op, Work

_ATOMICS = (Op.CMP_SWAP, Op.FETCH_ADD)


class Answer(NamedTuple):
    """What a response meant for its queue pair."""

    place: str  # in the window of unacknowledged packets
    completed: int  # messages
    departed: int | None  # when the packet that it names had left


@dataclass
class QueuePair:
    """One queue pair, from its activation to the next."""

    qpn: int
    spec: QpSpec
    is_active: bool = True
    is_failed: bool = False
    posted: int = 0  # the PSN behind all that was posted
    sent: int = 0  # behind the last packet sent
    acknowledged: int = 0
    outstanding: int = 0  # work without a completion
    wraps: int = 0
    _ends: deque[int] = field(default_factory=deque)
    _departures: dict[int, int] = field(default_factory=dict)
    service: str = field(init=False)
    """Its name."""

    def __post_init__(self) -> None:
        self.service = self.spec.service.name

    def post(self, work: Work) -> None:
        """Work has gone in; what is refused for its length has no PSNs."""
        self.outstanding += 1
        if work.size > LONGEST_MESSAGE or self.is_failed or not self.is_active:
            return
        span = 1 if work.op in _ATOMICS else packet_count(work.size, self.spec.path_mtu)
        self.posted += span
        self._ends.append(self.posted)

    def send(self, seen: Glimpse, time: int) -> bool:
        """A request has left; whether it is a new one that starts the PSNs over."""
        step = distance(seen.psn, self.spec.sq_psn + self.sent)
        if step < 0:
            return False
        psn = self.sent + step
        self.sent = psn + 1
        if self.spec.service is Service.RC:
            self._departures[psn] = time
        is_wrap = seen.psn == 0 and psn > 0
        self.wraps += is_wrap
        return is_wrap

    def complete(self, status: str) -> None:
        self.outstanding = max(0, self.outstanding - 1)
        self.is_failed |= status not in ("success", *LOCAL_ERRORS)

    def answer(self, seen: Glimpse) -> Answer:
        """A sound response has come."""
        step = distance(seen.psn, self.spec.sq_psn + self.acknowledged)
        psn = self.acknowledged + step
        departed = self._departures.get(psn)
        place = self._place(step, psn)
        completed = 0
        if seen.syndrome & 0x60 == 0 and self.acknowledged <= psn < self.sent:
            for done in range(self.acknowledged, psn + 1):
                self._departures.pop(done, None)
            self.acknowledged = psn + 1
            while self._ends and self._ends[0] <= self.acknowledged:
                self._ends.popleft()
                completed += 1
        return Answer(place, completed, departed)

    def _place(self, step: int, psn: int) -> str:
        if step < 0:
            return "behind"
        if self.acknowledged == self.sent:
            return "idle"
        if psn >= self.sent:
            return "next" if psn == self.sent else "ahead"
        if psn == self.sent - 1:
            return "newest"
        if psn + 1 in self._ends:
            return "end"
        return "oldest" if step == 0 else "middle"


class QueuePairs:
    def __init__(self, contexts: int) -> None:
        self.contexts = contexts
        self._known: dict[int, QueuePair] = {}
        self._by_remote: dict[int, QueuePair] = {}
        self._by_context: dict[int, QueuePair] = {}

    def configure(self, qpn: int, spec: QpSpec, *, command: str = "activate") -> bool:
        """Do what a command does to one; whether it had been active before and begins anew."""
        before = self._known.get(qpn)
        if before is not None and command in ("rtr", "rts", "error"):
            before.is_failed |= command == "error"
            before.spec = spec
            self._by_remote[spec.remote_qpn] = before
            return False
        if command in ("reset", "disconnect"):
            if before is not None:
                before.is_active = False
            return False
        fresh = QueuePair(qpn, spec)
        if before is not None and self._by_remote.get(before.spec.remote_qpn) is before:
            del self._by_remote[before.spec.remote_qpn]
        self._known[qpn] = self._by_context[qpn % self.contexts] = fresh
        self._by_remote[spec.remote_qpn] = fresh
        return before is not None

    def get(self, qpn: int) -> QueuePair | None:
        return self._known.get(qpn)

    def sender(self, dest_qpn: int) -> QueuePair | None:
        """The one that sends to that number."""
        return self._by_remote.get(dest_qpn)

    def local_of(self, dest_qpn: int) -> int | None:
        """The number of the one that sends to that number."""
        found = self._by_remote.get(dest_qpn)
        return None if found is None else found.qpn

    def relation(self, qpn: int) -> str:
        """Whether a number is one of them, shares the context of one, or neither."""
        if qpn in self._known:
            return "known"
        return "alias" if qpn % self.contexts in self._by_context else "unknown"

    def all(self) -> list[QueuePair]:
        return list(self._known.values())
