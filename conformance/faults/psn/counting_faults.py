# SPDX-License-Identifier: BSD-2-Clause
"""PSN registers that are wired wrongly: one class for each way, named after what happens."""

from typing import Any

from roceproof.conformance.faults.psn.counting import Counting, End, Pair, Part
from roceproof.conformance.wire.psn import PSN_MODULUS


class OtherStart(Counting):
    """Loads the start of the other direction."""

    def first(self, end: End, other: End) -> int:
        return other.start


class IncrementedFirst(Counting):
    """Increments before the first packet."""

    def first(self, end: End, other: End) -> int:
        return (end.start + 1) % PSN_MODULUS


class DecrementedFirst(Counting):
    """Loads the start less one."""

    def first(self, end: End, other: End) -> int:
        return (end.start - 1) % PSN_MODULUS


class PerMessage(Counting):
    """Increments with the last packet of a message."""

    def step(self, part: Part) -> int:
        return int(part.closes)


class NarrowCounter(Counting):
    """The adder has 16 bits."""

    def moved(self, value: int, part: Part, now: int) -> int:
        return value & ~0xFFFF | value + part.span & 0xFFFF


class WideCounter(Counting):
    """The adder has 32 bits, all of which go out."""

    def moved(self, value: int, part: Part, now: int) -> int:
        return value + part.span & 0xFFFFFFFF


class WideStart(WideCounter):
    """The start register has 32 bits, of which software has written all."""

    upper = 0

    def first(self, end: End, other: End) -> int:
        return end.start | (self.upper or self.random.choice((0x01, 0x05, 0x7F))) << 24


class AckIn(Counting):
    """An acknowledgement that comes in moves the register, too."""

    def answered(self, name: object) -> None:
        self.bank[name] = (self.bank[name] + 1) % PSN_MODULUS


class AckOut(Counting):
    """An acknowledgement that goes out moves the register, too."""

    def answering(self, name: object) -> None:
        self.bank[name] = (self.bank[name] + 1) % PSN_MODULUS


class PerBeat(Counting):
    """Increments with every beat of payload."""

    width = 0

    def step(self, part: Part) -> int:
        self.width = self.width or self.random.choice((16, 32, 64))
        return max(part.span, -(-len(part.payload) // self.width))


class ReadsAsOne(Counting):
    """A READ moves the register by one."""

    def step(self, part: Part) -> int:
        return 1


class OneForAll(Counting):
    """There is one register, whatever the queue pair."""

    def name(self, pair: Pair, end: End) -> object:
        return "shared"


class NeverReloaded(Counting):
    """The register of a context keeps its value when the context is connected again."""

    def name(self, pair: Pair, end: End) -> object:
        return pair.slot

    def load(self, pair: Pair, end: End, other: End) -> None:
        """Set it, as the queue pair gets ready."""
        self.bank.setdefault(pair.slot, end.start)


class EmptyTwice(Counting):
    """An empty message is counted at its header and at its end."""

    def step(self, part: Part) -> int:
        return 2 if part.length == 0 else part.span


class AbortedCounts(Counting):
    """A work request that fails inside has taken a PSN; now and then one does."""

    def step(self, part: Part) -> int:
        failed = part.closes and self.now_and_then(0.15)
        return part.span + failed


class EmptyNever(Counting):
    """Only payload moves the register."""

    def step(self, part: Part) -> int:
        return 0 if part.length == 0 else part.span


class LateRegister(Counting):
    """A packet close behind another still sees the register as it was."""

    close_ns = 1_000

    def __init__(self, *args: Any, **design: Any) -> None:
        super().__init__(*args, **design)
        self._last: dict[object, tuple[int, int]] = {}

    def take(self, name: object, part: Part, now: int) -> int:
        value = super().take(name, part, now)
        before, at = self._last.get(name, (value, -1_000_000))
        self._last[name] = value, now
        return before if now - at < self.close_ns else value


class SwappedBytes(Counting):
    """The three bytes go out in the wrong order."""

    def word(self, value: int) -> int:
        return int.from_bytes(value.to_bytes(3, "big"), "little")

    def heard(self, psn: int) -> int:
        return self.word(psn)


class Stalled(Counting):
    """Back-pressure holds the increment for a second cycle; now and then."""

    def step(self, part: Part) -> int:
        return part.span + self.now_and_then(0.2)


class UnreliableRepeats(Counting):
    """A UC packet that meets a stall leaves the register as it was; now and then."""

    def step(self, part: Part) -> int:
        held = part.opcode >> 5 == 1 and self.now_and_then(0.15)
        return 0 if held else part.span


class UnreliableSkips(Counting):
    """A UC packet that is dropped inside and tried again takes two; now and then."""

    def step(self, part: Part) -> int:
        twice = part.opcode >> 5 == 1 and self.now_and_then(0.15)
        return part.span + twice


class PeerMoves(Counting):
    """What is executed for the peer loads the register of the own requests."""

    def executed(self, name: object, psn: int) -> None:
        """A request of the peer was carried out."""
        self.bank[name] = (psn + 1) % PSN_MODULUS
