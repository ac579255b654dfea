# SPDX-License-Identifier: BSD-2-Clause
"""Every decision about PSNs that a design can take wrongly, taken rightly.

`Sending` is what the send side of a queue pair does with its PSN register,
`Expecting` what the receive side does with the PSN it expects. A planted fault
is a subclass with one decision changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from roceproof.conformance.faults.conversation.messages import Part, distance
from roceproof.conformance.faults.conversation.plan import Connection, End
from roceproof.conformance.wire.psn import PSN_MODULUS


@dataclass(slots=True)
class Sent:
    """A request packet not acknowledged yet; `received` counts the responses to a READ."""

    psn: int
    part: Part
    asks: bool
    received: int = 0

    @property
    def last_psn(self) -> int:
        """The last PSN that it takes."""
        return (self.psn + self.part.span - 1) % PSN_MODULUS


@dataclass(slots=True)
class Device:
    """What the queue pairs of one station share, where a design shares something."""

    registers: dict[str, int] = field(default_factory=dict)
    stalls: bool = False  # whether this run meets back-pressure


class SendHabits:
    """The PSN register of a requester."""

    def __init__(self, connection: Connection, side: int, device: Device) -> None:
        self.connection = connection
        self.end: End = connection.ends[side]
        self.peer: End = connection.ends[1 - side]
        self.device = device
        self.register = self.first()

    def first(self) -> int:
        return self.end.start_psn

    def take(self, part: Part, now: int) -> int:
        """The PSN of a new packet; moves the register on."""
        psn = self.register
        self.register = (psn + self.span(part)) % PSN_MODULUS
        return psn

    def span(self, part: Part) -> int:
        """By how much a packet moves the register on."""
        return part.span

    def on_the_wire(self, psn: int) -> int:
        """The last BTH word without AckReq."""
        return psn

    def from_the_wire(self, psn: int) -> int:
        """The PSN of a response as it is understood."""
        return psn

    def distance(self, psn: int, reference: int) -> int:
        """How far a response's PSN is ahead of one that was sent."""
        return distance(psn, reference)

    def restart(self, nak: int, sent: list[Sent], retired: Sequence[Sent]) -> int:
        """Index into `sent` of the packet to start again with; -k is the k-th last retired one."""
        return next((i for i, entry in enumerate(sent) if distance(nak, entry.last_psn) <= 0), 0)

    def copy(self, entry: Sent) -> None:
        """A packet is about to be sent again."""

    def recovered(self, first: Sent, copies: int) -> None:
        """A recovery that began with `first` has sent its last copy."""

    def acknowledged(self) -> None:
        """A response has arrived."""

    def accepted(self, psn: int) -> None:
        """The receive side of the same queue pair has executed a request, the last PSN of it."""

    def acknowledging(self) -> None:
        """The receive side of the same queue pair is going to send an ACK."""


class ExpectHabits:
    """The expected PSN of a responder."""

    def __init__(self, connection: Connection, side: int, device: Device) -> None:
        self.connection = connection
        self.peer: End = connection.ends[1 - side]
        self.device = device
        self.expected = self.first()

    def first(self) -> int:
        """The expected PSN after connecting."""
        return self.peer.start_psn

    def advance(self, span: int) -> None:
        """A request that takes `span` PSNs was executed."""
        self.expected = (self.expected + span) % PSN_MODULUS

    def acknowledged(self, psn: int) -> int:
        """The PSN in the ACK of a request."""
        return psn

    def corrupted(self, psn: int) -> None:
        """A packet with a wrong ICRC was dropped."""
