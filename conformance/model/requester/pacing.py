# SPDX-License-Identifier: BSD-2-Clause
"""When the next packet may leave: one per interval, a longer one after congestion notifications."""

from roceproof.conformance.model.requester.policy import RequesterPolicy

_NS_PER_BYTE = 0.8  # at 10 Gbit/s


class Pacer:
    """The send rate of one queue pair."""

    def __init__(self, policy: RequesterPolicy) -> None:
        self._policy = policy
        self._doublings = 0
        self._since = 0
        self.slot = 0
        """The earliest time for the next packet."""

    def sent(self, size: int, now_ns: int) -> None:
        """A packet of so many bytes leaves now; slowed, it takes twice its own time at least."""
        doublings = self._doublings_at(now_ns)
        own_ns = int(2 * size * _NS_PER_BYTE) if doublings else 0
        self.slot = now_ns + max(own_ns, self._policy.packet_interval_ns << doublings)

    def slow_down(self, now_ns: int) -> None:
        self._doublings = min(self._policy.max_slowdown, self._doublings_at(now_ns) + 1)
        self._since = now_ns

    def _doublings_at(self, now_ns: int) -> int:
        undone = (now_ns - self._since) // self._policy.congestion_recovery_ns
        return max(0, self._doublings - undone)
