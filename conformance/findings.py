# SPDX-License-Identifier: BSD-2-Clause
"""What the checks report, and in whose name."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from roceproof.conformance.rules import Rule, Severity


class Direction(StrEnum):
    """Which way a frame crossed the port of the device under test."""

    SENT = "sent by the DUT"
    RECEIVED = "sent by the peer"


class Violation(NamedTuple):
    """One broken rule with what was expected and what was there, in one notation."""

    rule: str
    expected: str
    got: str


class Finding(NamedTuple):
    """A violation placed in its capture; `frame` counts from 0."""

    rule: Rule
    frame: int
    direction: Direction
    expected: str
    got: str

    @property
    def severity(self) -> Severity:
        """How much it weighs."""
        return self.rule.severity

    @property
    def message(self) -> str:
        """One line for people; frames count from 1 there, as in Wireshark."""
        return (
            f"{self.rule.id} frame {self.frame + 1} ({self.direction}): "
            f"expected {self.expected}, got {self.got}. {self.rule.sentence}"
        )
