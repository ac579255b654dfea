# SPDX-License-Identifier: BSD-2-Clause
"""Responders with faults in what they say while no receive is posted, and in what they keep."""

from roceproof.conformance.model.codes import AethType, syndrome
from roceproof.conformance.model.responder.connected import LOCAL, Refusal
from roceproof.conformance.model.responder.rc import PendingNak, RcResponder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.mutants.faulty import faulty_rc_responder
from roceproof.conformance.wire.opcodes import Family, Opcode, Position


@faulty_rc_responder("rc-no-receive-is-an-error", expected=["RNR-01"])
class NoReceiveIsAnError(RcResponder):
    """A SEND without a receive draws the NAK for an operational error."""

    def check_resources(self, request: Segment, row: Opcode) -> Refusal | None:
        refusal = super().check_resources(request, row)
        return Refusal(LOCAL.syndrome, "") if refusal == self.rnr() else refusal


@faulty_rc_responder("rc-rnr-timer-inverted", expected=["RNR-02"])
class RnrTimerInverted(RcResponder):
    """The RNR timer code is counted from the other end."""

    def rnr(self) -> Refusal:
        return Refusal(syndrome(AethType.RNR_NAK, 31 - self.spec.min_rnr_timer), "")


@faulty_rc_responder("rc-rnr-for-each", expected=["RNR-06"])
class RnrForEach(RcResponder):
    """While no receive is posted, every request draws an RNR NAK of its own."""

    def out_of_sequence(self) -> None:
        if self.pending_nak is PendingNak.RNR:
            self.nak(self.expected_psn, syndrome(AethType.RNR_NAK, self.spec.min_rnr_timer))
        else:
            super().out_of_sequence()


@faulty_rc_responder("rc-address-advances-at-rnr", expected=["RNR-07"])
class AddressAdvancesAtRnr(RcResponder):
    """A WRITE packet that draws an RNR NAK moves the address all the same."""

    def refuse(self, request: Segment, refusal: Refusal) -> None:
        if refusal == self.rnr() and self.message is not None:
            self.message.done += len(request.payload)
        super().refuse(request, refusal)


@faulty_rc_responder("rc-write-needs-receive", expected=["RNR-08"])
class WriteNeedsReceive(RcResponder):
    """A plain WRITE needs a receive, too."""

    def check_resources(self, request: Segment, row: Opcode) -> Refusal | None:
        ends = row.family is Family.WRITE and bool(row.position & Position.LAST)
        if ends and request.payload and not len(self.receives):
            return self.rnr()
        return super().check_resources(request, row)


@faulty_rc_responder("rc-rnr-counts", expected=["RNR-09"])
class RnrCounts(RcResponder):
    """A message that draws an RNR NAK is counted already."""

    def refuse(self, request: Segment, refusal: Refusal) -> None:
        super().refuse(request, refusal)
        if self.pending_nak is PendingNak.RNR:
            self.count_message()
