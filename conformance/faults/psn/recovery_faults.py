# SPDX-License-Identifier: BSD-2-Clause
"""PSN registers that go wrong in recovery, and those of a responder."""

from roceproof.conformance.faults.psn.counting import HALF, Counting, Sent
from roceproof.conformance.wire.psn import PSN_MODULUS


class NewForCopies(Counting):
    """A copy draws a PSN as any packet does."""

    def again(self, name: object, sent: Sent, now: int) -> None:
        sent.word = self.take(name, sent.part, now)
        sent.psn = sent.word % PSN_MODULUS


class OneTooLate(Counting):
    """A repetition begins behind the packet that the NAK asks for."""

    def restart(self, place: int) -> int:
        return place + 1


class OneTooEarly(Counting):
    """A repetition begins with what came before the packet that the NAK asks for."""

    def restart(self, place: int) -> int:
        return place - 1


class WholeMessages(Counting):
    """A repetition begins with the first packet of the message that the NAK asks for."""

    restarts_messages = True


class ReturnsInside(Counting):
    """Behind a repetition, new packets begin behind its first one."""

    def repeated(self, name: object, first: Sent, copies: int) -> None:
        self.bank[name] = (first.psn + 1) % PSN_MODULUS


class CopiesCounted(Counting):
    """The copies move the register as new packets do."""

    def repeated(self, name: object, first: Sent, copies: int) -> None:
        self.bank[name] = (self.bank[name] + copies) % PSN_MODULUS


class PlainCompare(Counting):
    """PSNs are compared as unsigned numbers."""

    def distance(self, psn: int, reference: int) -> int:
        return psn % PSN_MODULUS - reference % PSN_MODULUS


class SignedCompare(Counting):
    """PSNs are compared as signed numbers."""

    def distance(self, psn: int, reference: int) -> int:
        return (psn % PSN_MODULUS ^ HALF) - (reference % PSN_MODULUS ^ HALF)


class ExpectsNext(Counting):
    """The responder's register is loaded one too high."""

    off = 1

    def expected(self, start: int) -> int:
        return (start + self.off) % PSN_MODULUS


class AcknowledgesNext(Counting):
    """The responder acknowledges with the PSN that it expects next."""

    off = 1

    def acknowledged(self, psn: int) -> int:
        return (psn + self.off) % PSN_MODULUS


class BelievesDamaged(Counting):
    """The responder moves on before the ICRC is checked."""

    def believes_damaged(self) -> bool:
        return True


class ShortReads(Counting):
    """The responder moves on by one behind a READ."""

    def expected_behind(self, psn: int, span: int) -> int:
        return (psn + 1) % PSN_MODULUS
