# SPDX-License-Identifier: BSD-2-Clause
"""Two devices on one wire, each with a clock of its own, that go on side by side.

The near one's time is simulated. A far one that is live has the wall's, and is given some of it
whenever the near one has gone on a little: its answers seem fast, and what comes is the same.

What the wire carries is kept as the near device's port sees it: what the wire has lost is in it,
with the reason as its comment.
"""

from collections.abc import Callable
from pathlib import Path

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.targets.interface import Target

Loss = Callable[[bytes], str]
"""Why a frame to the far device gets lost; nothing if it does not."""

_GLANCE_NS = 500
"""How far the near device may be ahead."""
_LIVE_NS = 5_000_000
"""How long one listens to a live device in each such time."""


def carries_all(_frame: bytes) -> str:
    """The wire that loses nothing."""
    return ""


class Pair:
    """The wire between two devices."""

    def __init__(
        self, near: Target, far: Target, *, loses: Loss = carries_all, is_live: bool = False
    ) -> None:
        self.records: list[Record] = []
        self.dropped = 0
        self._is_live = is_live
        self._near, self._far, self._loses = near, far, loses
        self._begun = near.now_ns, far.now_ns
        near.plays(far.host)
        far.plays(near.host)

    def run(self, *, until: Callable[[], bool], most_ns: int) -> bool:
        """Let both go on until something holds; False if it did not in that time."""
        end = self._near.now_ns + most_ns
        while not until():
            if self._near.now_ns >= end:
                return False
            self._step()
        return True

    @property
    def elapsed_ns(self) -> int:
        """Since both have met."""
        return self._near.now_ns - self._begun[0]

    def advance(self, time_ns: int) -> None:
        """Let both go on for so long."""
        end = self._near.now_ns + time_ns
        while (left := end - self._near.now_ns) > 0:
            self._step(min(left, _GLANCE_NS))

    def _step(self, glance_ns: int = _GLANCE_NS) -> None:
        arrival = self._near.receive(glance_ns)
        if arrival is not None:
            reason = self._loses(arrival.frame)
            self._keep(arrival.time_ns, Flow.OUTBOUND, arrival.frame, reason)
            if reason:
                self.dropped += 1
            else:
                self._far.send(arrival.frame)
        while (lag := self._lag_ns()) > 0 and (reply := self._far.receive(lag)) is not None:
            self._keep(self._near.now_ns, Flow.INBOUND, reply.frame)
            self._near.send(reply.frame)

    def _lag_ns(self) -> int:
        if self._is_live:
            return _LIVE_NS
        near, far = self._begun
        return (self._near.now_ns - near) - (self._far.now_ns - far)

    def _keep(self, time_ns: int, flow: Flow, frame: bytes, comment: str = "") -> None:
        number = len(self.records) + 1
        self.records.append(Record("near", time_ns, flow, frame, comment, number=number))

    def write(self, path: Path) -> None:
        """Leave what was carried as a capture."""
        write_pcapng(path, self.records)
