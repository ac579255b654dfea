# SPDX-License-Identifier: BSD-2-Clause
"""Requesters that get their PSNs wrong: one class for each way of doing so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from roceproof.conformance.faults.conversation.messages import Part
from roceproof.conformance.faults.conversation.psn_habits import SendHabits, Sent
from roceproof.conformance.wire.psn import PSN_MODULUS

_REGISTER_MODULUS = 1 << 32


class StartsAtOwnExpected(SendHabits):
    """P01: starts with the PSN that it should expect from the peer."""

    def first(self) -> int:
        return self.peer.start_psn


class StartsLate(SendHabits):
    """P02: the first PSN is one too high."""

    off: ClassVar[int] = 1

    def first(self) -> int:
        return (self.end.start_psn + self.off) % PSN_MODULUS


class StartsEarly(StartsLate):
    """P02: the first PSN is one too low."""

    off = -1


class CountsMessages(SendHabits):
    """P03: increments at the end of a message."""

    def span(self, part: Part) -> int:
        return 1 if part.closes else 0


class CountsSixteenBits(SendHabits):
    """P04: the upper byte is not part of the counter."""

    def take(self, part: Part, now: int) -> int:
        """Wrap inside the lower 16 bits."""
        psn = self.register
        self.register = psn & 0xFF0000 | (psn + part.span) & 0xFFFF
        return psn


class CarriesOver(SendHabits):
    """P05: a 32-bit adder, whose carry out of the PSN lands beside AckReq."""

    def take(self, part: Part, now: int) -> int:
        """Never cut the register to 24 bits."""
        psn = self.register
        self.register = (psn + part.span) % _REGISTER_MODULUS
        return psn


class StartsUnmasked(CarriesOver):
    """P24: the upper byte of a 32-bit start value goes out with the PSN."""

    upper: ClassVar[int] = 0x01

    def first(self) -> int:
        """The start value as it was configured."""
        return self.upper << 24 | self.end.start_psn


class StartsUnmaskedWithAckReq(StartsUnmasked):
    """P24 where only the bit of AckReq is set."""

    upper = 0x80


class StartsUnmaskedAllOnes(StartsUnmasked):
    """P24 where all bits above the PSN are set."""

    upper = 0xFF


class CountsAcksReceived(SendHabits):
    """P06: every response that arrives moves the register."""

    def acknowledged(self) -> None:
        self.register = (self.register + 1) % PSN_MODULUS


class CountsAcksSent(SendHabits):
    """P06: every ACK that it sends as a responder moves the register."""

    def acknowledging(self) -> None:
        self.register = (self.register + 1) % PSN_MODULUS


class CountsBeats(SendHabits):
    """P07: increments with every beat of payload, 64 bytes wide."""

    width: ClassVar[int] = 64

    def span(self, part: Part) -> int:
        return max(part.span, -(-len(part.payload) // self.width))


class CountsNarrowBeats(CountsBeats):
    """P07 with a data path of 32 bytes."""

    width = 32


class CountsReadsOnce(SendHabits):
    """P08: a READ moves the register by one, whatever it will bring."""

    def span(self, part: Part) -> int:
        return 1


class SharesRegister(SendHabits):
    """P09: all queue pairs of the port count in one register; the last one opened set it."""

    _NAME = "shared PSN"

    def first(self) -> int:
        self.device.registers[self._NAME] = self.end.start_psn
        return self.end.start_psn

    def take(self, part: Part, now: int) -> int:
        """Draw from the register of all."""
        psn = self.device.registers[self._NAME]
        self.device.registers[self._NAME] = (psn + part.span) % PSN_MODULUS
        return psn


class SurvivesReset(SendHabits):
    """P10: a new connection in the same context goes on where the old one stopped."""

    def take(self, part: Part, now: int) -> int:
        """Use the context's register if it was ever used."""
        name = f"context {self.connection.slot}"
        psn = self.device.registers.get(name, self.end.start_psn)
        self.device.registers[name] = (psn + part.span) % PSN_MODULUS
        return psn


class RenumbersCopies(SendHabits):
    """P11: a retransmission takes new PSNs."""

    def copy(self, entry: Sent) -> None:
        """Count the copy as a new packet."""
        entry.psn = self.take(entry.part, 0)


class EmptyTakesTwo(SendHabits):
    """P12: an empty message is counted twice."""

    def span(self, part: Part) -> int:
        """Two for a message of no bytes."""
        return 2 if part.message.length == 0 else part.span


class AbortedTakesOne(SendHabits):
    """P12: a work request that fails before it is sent takes a PSN along; here every fifth."""

    def span(self, part: Part) -> int:
        """One more at the end of every fifth message."""
        return part.span + (part.closes and part.number % 5 == 4)


class EmptyTakesNone(SendHabits):
    """P13: an empty message does not move the register."""

    def span(self, part: Part) -> int:
        """None for a message of no bytes."""
        return 0 if part.message.length == 0 else part.span


class LatchesEarly(SendHabits):
    """P14: a packet right behind another one of its queue pair carries that one's PSN."""

    _BURST_NS = 1_500
    _last: int | None = None
    _last_at = 0

    def take(self, part: Part, now: int) -> int:
        """The register as it was before the previous packet moved it."""
        right = super().take(part, now)
        late = right if self._last is None or now - self._last_at > self._BURST_NS else self._last
        self._last, self._last_at = right, now
        return late


class SwapsBytes(SendHabits):
    """P15: the PSN goes out, and is read, least significant byte first."""

    def on_the_wire(self, psn: int) -> int:
        return int.from_bytes(psn.to_bytes(3, "big"), "little")

    from_the_wire = on_the_wire


class CountsStalls(SendHabits):
    """P16: counts twice while back-pressure holds a packet; in a run with stalls, every fourth."""

    _taken = 0

    def span(self, part: Part) -> int:
        self._taken += 1
        return part.span + (self.device.stalls and self._taken % 4 == 0)


class RestartsBehind(SendHabits):
    """P17: goes on behind the packet that the NAK names."""

    def restart(self, nak: int, sent: list[Sent], retired: Sequence[Sent]) -> int:
        return min(super().restart(nak, sent, retired) + 1, len(sent) - 1)


class RestartsBefore(SendHabits):
    """P17: goes back to the packet in front of the one that the NAK names."""

    def restart(self, nak: int, sent: list[Sent], retired: Sequence[Sent]) -> int:
        right = super().restart(nak, sent, retired)
        return right - 1 if right or retired else right


class RestartsMessage(SendHabits):
    """P17: goes back to the first packet of the message that the NAK names."""

    def restart(self, nak: int, sent: list[Sent], retired: Sequence[Sent]) -> int:
        right = super().restart(nak, sent, retired)
        number = sent[right].part.number
        inside = sum(entry.part.number == number for entry in (*retired, *sent[:right]))
        return right - inside


class ResumesInsideReplay(SendHabits):
    """P18: behind a replay from n, new packets begin at n + 1."""

    def recovered(self, first: Sent, copies: int) -> None:
        """Set the register behind the first copy."""
        self.register = (first.psn + 1) % PSN_MODULUS


class SkipsReplay(SendHabits):
    """P18: behind a replay, new packets skip as many PSNs as were replayed."""

    def recovered(self, first: Sent, copies: int) -> None:
        self.register = (self.register + copies) % PSN_MODULUS


class ComparesUnsigned(SendHabits):
    """P19: compares PSNs as plain numbers, so nothing is acknowledged across 000000."""

    def distance(self, psn: int, reference: int) -> int:
        return psn - reference


class ComparesSigned(SendHabits):
    """P19: compares PSNs as signed numbers, so nothing is acknowledged across 800000."""

    def distance(self, psn: int, reference: int) -> int:
        """Between two numbers with bit 23 as their sign."""
        half = PSN_MODULUS // 2
        return (psn ^ half) - (reference ^ half)


class RepeatsOnStall(SendHabits):
    """P23: a UC packet that meets a stall leaves the register where it was; here every sixth."""

    _taken = 0

    def span(self, part: Part) -> int:
        self._taken += 1
        return 0 if self._taken % 6 == 0 else part.span


class SkipsOnDrop(SendHabits):
    """P23: a UC packet whose first attempt is dropped inside takes two PSNs; here every sixth."""

    _taken = 0

    def span(self, part: Part) -> int:
        self._taken += 1
        return 2 if self._taken % 6 == 0 else part.span


class FollowsThePeer(SendHabits):
    """P25: the peer's requests, once executed, move the register of the own ones."""

    def accepted(self, psn: int) -> None:
        self.register = (psn + 1) % PSN_MODULUS
