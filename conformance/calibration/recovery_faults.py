# SPDX-License-Identifier: BSD-2-Clause
"""PSN registers that go wrong in recovery, and those of a responder."""

from __future__ import annotations

from roceproof.conformance.calibration.counting import Counting, Sent
from roceproof.conformance.calibration.plan import PSNS


class NewForCopies(Counting):
    """A copy draws a PSN as any packet does."""

    def again(self, name: object, sent: Sent, now: int) -> None:
        sent.word = self.take(name, sent.part, now)
        sent.psn = sent.word % PSNS


class OneTooLate(Counting):
    """A repetition begins behind the packet that the NAK asks for."""

    def restart(self, place: int) -> int:
        return place + 1


class OneTooEarly(Counting):
    """A repetition begins with what came before the packet that the NAK asks for."""

    def restart(self, place: int) -> int:
        return place - 1


class ReturnsInside(Counting):
    """Behind a repetition, new packets begin behind its first one."""

    def repeated(self, name: object, first: Sent, copies: int) -> None:
        self.bank[name] = (first.psn + 1) % PSNS


class CopiesCounted(Counting):
    """The copies move the register as new packets do."""

    def repeated(self, name: object, first: Sent, copies: int) -> None:
        self.bank[name] = (self.bank[name] + copies) % PSNS


class PlainCompare(Counting):
    """PSNs are compared as unsigned numbers."""

    def distance(self, psn: int, reference: int) -> int:
        return psn % PSNS - reference % PSNS


class ExpectsNext(Counting):
    """The responder's register is loaded one too high."""

    def expected(self, start: int) -> int:
        return (start + 1) % PSNS


class BelievesDamaged(Counting):
    """The responder moves on before the ICRC is checked."""

    def believes_damaged(self) -> bool:
        return True


class ShortReads(Counting):
    """The responder moves on by one behind a READ."""

    def expected_behind(self, psn: int, span: int) -> int:
        return (psn + 1) % PSNS
