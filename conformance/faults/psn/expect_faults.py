# SPDX-License-Identifier: BSD-2-Clause
"""Responders that get the expected PSN wrong: one class for each way of doing so."""

from __future__ import annotations

from typing import ClassVar

from roceproof.conformance.faults.conversation.psn_habits import ExpectHabits
from roceproof.conformance.wire.psn import PSN_MODULUS


class ExpectsLater(ExpectHabits):
    """P20: waits for the PSN behind the first."""

    off: ClassVar[int] = 1

    def first(self) -> int:
        return (self.peer.start_psn + self.off) % PSN_MODULUS


class ExpectsEarlier(ExpectsLater):
    """P20: waits for the PSN in front of the first."""

    off = -1


class AcknowledgesNext(ExpectHabits):
    """P20: acknowledges with the PSN that it expects next."""

    off: ClassVar[int] = 1

    def acknowledged(self, psn: int) -> int:
        return (psn + self.off) % PSN_MODULUS


class AcknowledgesPrevious(AcknowledgesNext):
    """P20: acknowledges with the PSN before the request's."""

    off = -1


class CountsBadPackets(ExpectHabits):
    """P21: advances before it knows that the ICRC is wrong."""

    def corrupted(self, psn: int) -> None:
        """Take the bad packet for received."""
        if psn == self.expected:
            self.advance(1)


class CountsReadsOnce(ExpectHabits):
    """P22: advances by one over a READ, whatever it brought."""

    def advance(self, span: int) -> None:
        super().advance(1)
