# SPDX-License-Identifier: BSD-2-Clause
"""Answers congestion marks with CNPs, one per queue pair and interval."""

CNP_INTERVAL_NS = 50_000


class NotificationPoint:
    """The congestion marks that one queue pair has seen."""

    def __init__(self) -> None:
        self.is_due = False
        self._not_before = 0

    def marked(self, now_ns: int) -> None:
        """A packet with CE came."""
        if now_ns >= self._not_before:
            self.is_due = True
            self._not_before = now_ns + CNP_INTERVAL_NS

    def take(self) -> bool:
        """Whether a CNP leaves now."""
        due, self.is_due = self.is_due, False
        return due
