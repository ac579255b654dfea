# SPDX-License-Identifier: BSD-2-Clause
"""The sending side of an RC responder: answers in request order, one packet at a time.

READ data is read, and its memory checked once more, when the packet leaves. A READ that
cannot go on ends with a NAK in the place of the response that fails.
"""

from collections import deque
from typing import Any

from roceproof.conformance.model.codes import NO_CREDITS, AethType, credit_code, syndrome
from roceproof.conformance.model.responder.connected import ACCESS, ConnectedResponder
from roceproof.conformance.model.responder.policy import (
    AskedAck,
    Credits,
    MidReadFault,
    PartialReread,
    RepeatedAck,
)
from roceproof.conformance.model.responder.rc_answers import (
    ACKNOWLEDGE,
    ATOMIC_ACK,
    READ_RESPONSE,
    Answer,
    Kept,
    held_span,
    response,
)
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.headers import Aeth, AtomicEth, Reth
from roceproof.conformance.wire.opcodes import Family, Position
from roceproof.conformance.wire.psn import distance

_MOST_PAST = 64
"""READs and atomics of which a responder may know after their resources are in use again."""


class RcResponses(ConnectedResponder):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.msn = self.spec.completed_messages
        self.kept: deque[Kept] = deque()
        self.past: deque[Kept] = deque(maxlen=_MOST_PAST)  # that held a place among these
        self.answers: deque[Segment | Answer] = deque()
        self.owed = 0
        """How many executed requests wait for an ACK; any response pays for all of them."""
        self._owed_psn = 0
        self._repeated: int | None = None
        """The latest duplicate that waits for an ACK, which pays for no executed request."""
        self._owed_since_ns = 0

    # acknowledgements

    def owe(self, psn: int) -> None:
        """An executed request is to be acknowledged, now or by a later response."""
        if self.policy.asked_ack is AskedAck.AT_ONCE:
            self.acknowledge(psn)
            return
        if not self.debts:
            self._owed_since_ns = self.now_ns
        self.owed += 1
        self._owed_psn = psn
        if self.owed >= self.policy.ack_interval:
            self.acknowledge(psn)

    def owe_also(self, psn: int) -> None:
        """An executed request asked for nothing; an ACK that is owed will stand for it, too."""
        if self.owed:
            self._owed_psn = psn

    def owe_repeated(self, psn: int) -> None:
        """A duplicate is to be acknowledged, now or by a later response."""
        if self.policy.repeated_ack is RepeatedAck.AT_ONCE:
            self.acknowledge(psn)
            return
        if not self.debts:
            self._owed_since_ns = self.now_ns
        if self._repeated is None or distance(psn, self._repeated) > 0:
            self._repeated = psn

    @property
    def debts(self) -> list[int]:
        """The PSNs of ACKs that are owed; the last one would pay for all."""
        repeated = [] if self._repeated is None else [self._repeated]
        return [*repeated, self._owed_psn] if self.owed else repeated

    def acknowledge(self, psn: int) -> None:
        self.answer(self.aeth_only(psn, self.ack_syndrome()))

    def nak(self, psn: int, code: int) -> None:
        self.answer(self.aeth_only(psn, code))

    def answer(self, response: Segment | Answer) -> None:
        """Queue a response, which stands for all requests before its PSN."""
        if self.owed and distance(response.psn, self._owed_psn) >= 0:
            self.owed = 0
        if self._repeated is not None and distance(response.psn, self._repeated) >= 0:
            self._repeated = None
        self.answers.append(response)

    def next_deadline(self) -> int | None:
        """When the ACK leaves that is owed."""
        return self._owed_since_ns + self.policy.ack_delay_ns if self.debts else None

    def aeth_only(self, psn: int, code: int) -> Segment:
        """An acknowledge packet of any kind."""
        return response(self.spec.remote_qpn, ACKNOWLEDGE, psn, Aeth(code, self.msn))

    def ack_syndrome(self) -> int:
        """ACK with as many credits as there are receives, if somebody counts them."""
        if self.receives.shared or self.policy.credits is Credits.INVALID:
            return syndrome(AethType.ACK, NO_CREDITS)
        return syndrome(AethType.ACK, credit_code(len(self.receives)))

    # what leaves

    def next_response(self) -> Segment | None:
        due_ns = self.next_deadline()
        if due_ns is not None and self.now_ns >= due_ns and not self.failed:
            self.acknowledge(self.debts[-1])
        if not self.answers:
            return None
        answer = self.answers[0]
        if isinstance(answer, Segment):
            self.answers.popleft()
            return answer
        if answer.kept.row.family is Family.READ:
            return self.next_read_response(answer)
        self.finish_answer(answer)
        return self.only_response(answer)

    def finish_answer(self, answer: Answer) -> None:
        """The last response leaves: the resource is free."""
        self.answers.popleft()
        answer.kept.answered = True

    def only_response(self, answer: Answer) -> Segment:
        """The original value for an atomic, an empty response for FLUSH and ATOMIC WRITE."""
        aeth = Aeth(self.ack_syndrome(), answer.msn)
        if answer.request.extension(AtomicEth) is None:
            opcode = READ_RESPONSE[Position.ONLY]
            return response(self.spec.remote_qpn, opcode, answer.psn, aeth)
        original = answer.kept.original
        return response(self.spec.remote_qpn, ATOMIC_ACK, answer.psn, aeth, original=original)

    def next_read_response(self, answer: Answer) -> Segment:
        """The next part of the data, or a NAK in its place."""
        reth = answer.request.extension(Reth)
        assert reth is not None
        at = answer.sent * self.spec.path_mtu
        size = min(self.spec.path_mtu, reth.length - at)
        if self.check_access(reth.rkey, reth.address + at, size, "remote_read") is not None:
            return self.break_off(answer)
        packet = response(
            self.spec.remote_qpn,
            READ_RESPONSE[self.read_position(answer)],
            answer.psn,
            Aeth(self.ack_syndrome(), answer.msn),
            data=self.read_memory(reth, at, size),
        )
        answer.sent += 1
        if answer.sent == held_span(answer.request, answer.kept.row, self.spec.path_mtu):
            self.finish_answer(answer)
        return packet

    def read_memory(self, reth: Reth, at: int, size: int) -> bytes:
        region = self.memory.region(reth.rkey)
        return b"" if region is None else region.read(reth.address + at - region.addr, size)

    def read_position(self, answer: Answer) -> Position:
        """FIRST, MIDDLE, LAST or ONLY among the responses to what was asked for."""
        place, request = answer.sent, answer.request
        if self.policy.partial_reread is PartialReread.CONTINUED:
            request = answer.kept.request
            place = distance(answer.psn, request.bth.psn)
        last = held_span(request, answer.kept.row, self.spec.path_mtu) - 1
        return Position((place == 0) * 1 | (place == last) * 2)

    def break_off(self, answer: Answer) -> Segment:
        """The READ cannot go on: this is the last thing the queue pair says."""
        at_request = self.policy.mid_read_fault is MidReadFault.REQUEST
        self.silence()
        self.fail()
        assert ACCESS.syndrome is not None
        return self.aeth_only(answer.request.bth.psn if at_request else answer.psn, ACCESS.syndrome)

    def silence(self) -> None:
        self.answers.clear()
        self.owed, self._repeated = 0, None
