# SPDX-License-Identifier: BSD-2-Clause
"""The PSN registers of a device: where they start, what moves them, what of them is sent.

A healthy device keeps one for the requests of each queue pair. A fault overrides
the one place where its hardware goes wrong. What its design leaves open is drawn,
unless it is given.
"""

from random import Random
from typing import Any, Protocol

from roceproof.conformance.wire.psn import PSN_MODULUS

HALF = PSN_MODULUS // 2


def ahead(psn: int, reference: int) -> int:
    """How far one PSN lies before another, on the circle."""
    return (psn - reference + HALF) % PSN_MODULUS - HALF


class End(Protocol):
    """One end of a queue pair: its number and the PSN that it is to start with."""

    @property
    def queue(self) -> int: ...
    @property
    def start(self) -> int: ...


class Pair(Protocol):
    """A queue pair; `slot` is its context in the device."""

    @property
    def slot(self) -> int: ...


class Part(Protocol):
    """A request packet; `span` is how many PSNs it takes, `length` is that of its message."""

    @property
    def opcode(self) -> int: ...
    @property
    def payload(self) -> bytes: ...
    @property
    def span(self) -> int: ...
    @property
    def closes(self) -> bool: ...
    @property
    def length(self) -> int: ...


class Sent(Protocol):
    """A packet that waits for its acknowledgement; `word` is what its PSN field holds."""

    psn: int
    word: int

    @property
    def part(self) -> Part: ...


class Counting:
    """The healthy registers of one device, or of one queue pair where the bank is shared."""

    every = 0
    """What happens now and then happens each time after so many; 0: by chance."""
    restarts_messages = False
    """Whether a repetition begins with the message of the packet that is asked for."""

    def __init__(
        self, random: Random, bank: dict[object, int] | None = None, **design: Any
    ) -> None:
        self.random = random
        self.bank = {} if bank is None else bank
        """Registers by whatever tells them apart."""
        self._times = 0
        for name, value in design.items():
            setattr(self, name, value)

    def now_and_then(self, share: float) -> bool:
        """Whether it happens this time."""
        self._times += 1
        return self._times % self.every == 0 if self.every else self.random.random() < share

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
        return (value + self.step(part)) % PSN_MODULUS

    def step(self, part: Part) -> int:
        return part.span

    def word(self, value: int) -> int:
        """What goes out below AckReq: 24 bits of PSN, and whatever stands above them."""
        return value

    def heard(self, psn: int) -> int:
        """A response's PSN as it is understood."""
        return psn

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

    def acknowledged(self, psn: int) -> int:
        """The PSN in the ACK of a request."""
        return psn

    def believes_damaged(self) -> bool:
        """Whether a packet with a wrong ICRC moves the expected PSN."""
        return False

    def expected_behind(self, psn: int, span: int) -> int:
        """What is expected behind a request."""
        return (psn + span) % PSN_MODULUS
