# SPDX-License-Identifier: BSD-2-Clause
"""The PSN registers of a device: where they start, what moves them, what of them is sent.

A healthy device keeps one for the requests of each queue pair. A fault overrides
the one place where its hardware goes wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from roceproof.conformance.calibration.plan import PSNS, End, Pair

HALF = PSNS // 2


def ahead(psn: int, reference: int) -> int:
    """How far one PSN lies before another, on the circle."""
    return (psn - reference + HALF) % PSNS - HALF


class Part(NamedTuple):
    """One packet of a message: what a requester has to send at its turn."""

    opcode: int
    extension: bytes
    payload: bytes
    flags: int
    ask: bool
    at_ns: int
    span: int
    """PSNs that it takes: one, or those of a READ's responses."""
    message: int
    opens: bool
    closes: bool
    length: int
    """Bytes of the whole message."""
    address: int = 0
    """Where a READ reads."""


@dataclass(slots=True, eq=False)
class Sent:
    """A packet that waits for its acknowledgement; `word` is what its PSN field holds."""

    part: Part
    psn: int
    span: int
    word: int


class Counting:
    """The healthy registers of one device."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.bank: dict[object, int] = {}
        """Registers by whatever tells them apart."""

    def name(self, pair: Pair, end: End) -> object:
        """Which register counts the requests of a queue pair."""
        return end.queue

    def load(self, pair: Pair, end: End, other: End) -> None:
        """Set the register as the queue pair gets ready to send."""
        self.bank[self.name(pair, end)] = self.first(end, other)

    def first(self, end: End, other: End) -> int:
        return end.start

    def take(self, name: object, part: Part, now: int) -> int:
        """The register's value for a new packet; moves it on."""
        value = self.bank[name]
        self.bank[name] = self.moved(value, part, now)
        return value

    def moved(self, value: int, part: Part, now: int) -> int:
        """What a new packet makes of the register."""
        return (value + self.step(part)) % PSNS

    def step(self, part: Part) -> int:
        return part.span

    def word(self, value: int) -> int:
        """What goes out below AckReq: 24 bits of PSN, and whatever stands above them."""
        return value

    def answered(self, name: object) -> None:
        """An acknowledgement has come in."""

    def answering(self, name: object) -> None:
        """An acknowledgement goes out."""

    def executed(self, name: object, psn: int) -> None:
        """A request of the peer has been carried out."""

    def again(self, name: object, sent: Sent, now: int) -> None:
        """A packet is about to be sent again."""

    def restart(self, place: int) -> int:
        """From which waiting packet on all is repeated, where `place` is the right one."""
        return place

    def repeated(self, name: object, first: Sent, copies: int) -> None:
        """All waiting packets have been repeated."""

    def distance(self, psn: int, reference: int) -> int:
        return ahead(psn, reference)

    # the responder's register

    def expected(self, start: int) -> int:
        """What the peer's first PSN has to be."""
        return start

    def believes_damaged(self) -> bool:
        """Whether a packet with a wrong ICRC moves the expected PSN."""
        return False

    def expected_behind(self, psn: int, span: int) -> int:
        """What is expected behind a request."""
        return (psn + span) % PSNS
