# SPDX-License-Identifier: BSD-2-Clause
"""The RC requester: what a response says, and what the data of READs and atomics do.

Sending is `RcSender`, what follows from a response is `RcRecovery`. A response for a PSN that
is not outstanding does nothing, be it from the past (ACK-10, RTX-10) or of a request that
was never sent (ACK-09, NAK-13).
"""

from roceproof.conformance.model.codes import AethType, NakCode
from roceproof.conformance.model.requester.policy import ResponseGap, Unexpected
from roceproof.conformance.model.requester.rc_recovery import RcRecovery
from roceproof.conformance.model.requester.read_answers import (
    READ_RESPONSES,
    place_original,
    place_response,
)
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.wire.headers import Aeth, AtomicAckEth
from roceproof.verbs.queue_pair import State
from roceproof.verbs.work import ATOMICS, Op

_ACKNOWLEDGE, _ATOMIC_ACK = 0x11, 0x12
_VALUE = 31
STATUS_OF_NAK = {
    NakCode.INVALID_REQUEST: "rem_inv_req_err",
    NakCode.REMOTE_ACCESS_ERROR: "rem_access_err",
    NakCode.REMOTE_OPERATIONAL_ERROR: "rem_op_err",
}
"""With which work fails that draws a fatal NAK."""


class RcRequester(RcRecovery):
    """The send side of a reliable connection."""

    def receive(self, segment: Segment, now_ns: int) -> None:
        """Sort responses by opcode; what is none is ignored."""
        if self.state is not State.RTS:
            return
        opcode, psn = segment.bth.opcode, segment.bth.psn
        aeth = segment.extension(Aeth)
        self.note_credits(psn, aeth)
        if not self.window.holds(psn):
            return
        if opcode in READ_RESPONSES:
            self.read_response(segment, now_ns)
        elif opcode == _ATOMIC_ACK:
            self.atomic_response(segment, now_ns)
        elif opcode == _ACKNOWLEDGE and aeth is not None:
            self.acknowledgement(psn, aeth.syndrome, now_ns)

    def note_credits(self, psn: int, aeth: Aeth | None) -> None:
        """Credits count in an ACK of what is outstanding or was acknowledged last (CRED-05).

        One of an earlier PSN says nothing new, and may be of a former life.
        """
        if aeth is None or not is_ack(aeth):
            return
        is_again = self.window.moved and ahead(psn, 1) == self.window.oldest
        if is_again or self.window.holds(psn):
            self.credits.update(aeth)

    def acknowledgement(self, psn: int, syndrome: int, now_ns: int) -> None:
        """Sort by syndrome; any credit code is an ACK (AETH-04)."""
        kind, value = syndrome >> 5, syndrome & _VALUE
        if kind == AethType.ACK:
            self.positive(psn, now_ns)
        elif kind == AethType.RNR_NAK:
            self.rnr_nak(psn, value, now_ns)
        elif kind == AethType.NAK and value == NakCode.PSN_SEQUENCE_ERROR:
            self.sequence_nak(psn, now_ns)
        elif kind == AethType.NAK and value in STATUS_OF_NAK:
            self.fatal_nak(psn, STATUS_OF_NAK[NakCode(value)], now_ns)
        else:
            self.unexpected()

    def positive(self, psn: int, now_ns: int) -> None:
        """An ACK; of a READ or an atomic it is no answer, since that brings data (FUZZ-11)."""
        message = self.window.message_at(psn)
        has_all = self.all_before(ahead(psn, 1), now_ns)
        if not has_all and message is next(iter(self.window.messages), None):
            self.unexpected()

    def read_response(self, segment: Segment, now_ns: int) -> None:
        """Data of a READ count in order only (RTX-19) and must fit their place (READ-07)."""
        message = self.window.message_at(segment.bth.psn)
        offset = message.offset(segment.bth.psn)
        if message.work.op is not Op.READ:
            self.unexpected()
        elif self.all_before(message.first_psn, now_ns):
            if segment.bth.psn != self.window.oldest:
                self.response_gap(now_ns)
            elif self.answers.is_right(message, offset, segment):
                self.placed(place_response(message, offset, segment), segment.bth.psn, now_ns)
            else:
                self.fail("bad_resp_err")

    def response_gap(self, now_ns: int) -> None:
        """A response is ahead of the next one: those between are lost."""
        if self.policy.response_gap is ResponseGap.RETRY:
            self.implied_nak(now_ns)

    def atomic_response(self, segment: Segment, now_ns: int) -> None:
        """What an atomic operation found."""
        message = self.window.message_at(segment.bth.psn)
        aeth, answer = segment.extension(Aeth), segment.extension(AtomicAckEth)
        is_answer = answer is not None and aeth is not None and is_ack(aeth)
        if message.work.op not in ATOMICS or answer is None or not is_answer:
            self.unexpected()
        elif self.all_before(segment.bth.psn, now_ns):
            self.placed(place_original(message, answer), segment.bth.psn, now_ns)

    def placed(self, is_permitted: bool, psn: int, now_ns: int) -> None:
        """Data that may be in memory answer their PSN; others end the queue pair."""
        if is_permitted:
            self.progress(ahead(psn, 1), now_ns)
        else:
            self.fail("loc_prot_err")

    def unexpected(self) -> None:
        """A response that makes no sense is never an acknowledgement (AETH-05, FUZZ-12)."""
        if self.policy.unexpected is Unexpected.BAD_RESPONSE:
            self.fail("bad_resp_err")


def is_ack(aeth: Aeth) -> bool:
    return aeth.syndrome >> 5 == AethType.ACK
