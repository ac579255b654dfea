# SPDX-License-Identifier: BSD-2-Clause
"""What the checks report, and in whose name."""

from enum import StrEnum
from ipaddress import ip_address
from typing import NamedTuple

from roceproof.conformance.rules.table import Rule, Severity


class Direction(StrEnum):
    """Which way a frame crossed the port of the device under test."""

    SENT = "sent by the DUT"
    RECEIVED = "sent by the peer"


class FlowKey(NamedTuple):
    """One direction of one queue pair, as a capture shows it."""

    interface: int
    src: bytes
    dst: bytes
    dest_qpn: int

    def __str__(self) -> str:
        return f"{ip_address(self.src)} > {ip_address(self.dst)} QPN {self.dest_qpn:#x}"


class Violation(NamedTuple):
    """One broken rule with what was expected and what was there, in one notation.

    A severity is given where the circumstances make it less than the rule's.
    """

    rule: str
    expected: str
    got: str
    severity: Severity | None = None


class Finding(NamedTuple):
    """A violation placed in its capture; `frame` counts from 1, as in Wireshark."""

    rule: Rule
    frame: int
    direction: Direction
    expected: str
    got: str
    severity: Severity
    flow: FlowKey | None = None

    @property
    def message(self) -> str:
        return (
            f"{self.rule.id} frame {self.frame} ({self.direction}): "
            f"expected {self.expected}, got {self.got}. {self.rule.sentence}"
        )
