# SPDX-License-Identifier: BSD-2-Clause
"""PSN registers that are wired wrongly: one class for each way, named after what happens."""

from __future__ import annotations

from roceproof.conformance.calibration.counting import Counting, Part
from roceproof.conformance.calibration.plan import PSNS, End, Needs, Pair
from roceproof.conformance.calibration.recovery_faults import (
    BelievesDamaged,
    CopiesCounted,
    ExpectsNext,
    NewForCopies,
    OneTooEarly,
    OneTooLate,
    PlainCompare,
    ReturnsInside,
    ShortReads,
)


class OtherStart(Counting):
    """Loads the start of the other direction."""

    def first(self, end: End, other: End) -> int:
        return other.start


class IncrementedFirst(Counting):
    """Increments before the first packet."""

    def first(self, end: End, other: End) -> int:
        return (end.start + 1) % PSNS


class DecrementedFirst(Counting):
    """Loads the start less one."""

    def first(self, end: End, other: End) -> int:
        return (end.start - 1) % PSNS


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

    def first(self, end: End, other: End) -> int:
        return end.start | self.random.choice((0x01, 0x05, 0x7F)) << 24


class AckIn(Counting):
    """An acknowledgement that comes in moves the register, too."""

    def answered(self, name: object) -> None:
        self.bank[name] = (self.bank[name] + 1) % PSNS


class AckOut(Counting):
    """An acknowledgement that goes out moves the register, too."""

    def answering(self, name: object) -> None:
        self.bank[name] = (self.bank[name] + 1) % PSNS


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
        failed = part.closes and self.random.random() < 0.15
        return part.span + failed


class EmptyNever(Counting):
    """Only payload moves the register."""

    def step(self, part: Part) -> int:
        return 0 if part.length == 0 else part.span


class LateRegister(Counting):
    """A packet close behind another still sees the register as it was."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._last: dict[object, tuple[int, int]] = {}

    def take(self, name: object, part: Part, now: int) -> int:
        value = super().take(name, part, now)
        before, at = self._last.get(name, (value, -1_000_000))
        self._last[name] = value, now
        return before if now - at < 1_000 else value


class SwappedBytes(Counting):
    """The three bytes go out in the wrong order."""

    def word(self, value: int) -> int:
        return int.from_bytes(value.to_bytes(3, "big"), "little")


class Stalled(Counting):
    """Back-pressure holds the increment for a second cycle; now and then."""

    def step(self, part: Part) -> int:
        return part.span + (self.random.random() < 0.2)


class UnreliableRepeats(Counting):
    """A UC packet that meets a stall leaves the register as it was; now and then."""

    def step(self, part: Part) -> int:
        held = part.opcode >> 5 == 1 and self.random.random() < 0.15
        return 0 if held else part.span


class UnreliableSkips(Counting):
    """A UC packet that is dropped inside and tried again takes two; now and then."""

    def step(self, part: Part) -> int:
        twice = part.opcode >> 5 == 1 and self.random.random() < 0.15
        return part.span + twice


class PeerMoves(Counting):
    """What is executed for the peer loads the register of the own requests."""

    def executed(self, name: object, psn: int) -> None:
        """A request of the peer was carried out."""
        self.bank[name] = (psn + 1) % PSNS


COUNTING_FAULTS: dict[str, tuple[tuple[type[Counting], ...], Needs]] = {
    "P01": ((OtherStart,), Needs(facts=True)),
    "P02": ((IncrementedFirst, DecrementedFirst), Needs(facts=True)),
    "P03": ((PerMessage,), Needs(long=True)),
    "P04": ((NarrowCounter,), Needs(wraps=1 << 16)),
    "P05": ((WideCounter,), Needs(wraps=PSNS)),
    "P06": ((AckIn, AckOut), Needs(acks=True, both_ways=True, reliable=True)),
    "P07": ((PerBeat,), Needs()),
    "P08": ((ReadsAsOne,), Needs(reads=True, long=True)),
    "P09": ((OneForAll,), Needs(several=True)),
    "P10": ((NeverReloaded,), Needs(facts=True, reconnect=True)),
    "P11": ((NewForCopies,), Needs(losses=True, long=True)),
    "P12": ((EmptyTwice, AbortedCounts), Needs(empty=True)),
    "P13": ((EmptyNever,), Needs(empty=True)),
    "P14": ((LateRegister,), Needs(bursts=True)),
    "P15": ((SwappedBytes,), Needs()),
    "P16": ((Stalled,), Needs(long=True)),
    "P17": ((OneTooLate, OneTooEarly), Needs(losses=True, long=True)),
    "P18": ((ReturnsInside, CopiesCounted), Needs(losses=True, long=True)),
    "P19": (
        (PlainCompare,),
        Needs(rare_acks=True, wraps=PSNS, acks=True, reliable=True, healthy_peer=True),
    ),
    "P20": ((ExpectsNext,), Needs(facts=True, both_ways=True, reliable=True, healthy_peer=True)),
    "P21": (
        (BelievesDamaged,),
        Needs(flips=True, both_ways=True, reliable=True, healthy_peer=True),
    ),
    "P22": ((ShortReads,), Needs(both_ways=True, reliable=True, reads=True, healthy_peer=True)),
    "P23": ((UnreliableRepeats, UnreliableSkips), Needs(unreliable=True)),
    "P24": ((WideStart,), Needs()),
    "P25": ((PeerMoves,), Needs(both_ways=True, acks=True, reliable=True)),
}
"""By the signature that they deserve: the ways of going wrong, and what it takes to show."""
