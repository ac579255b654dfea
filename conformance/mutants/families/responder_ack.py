# SPDX-License-Identifier: BSD-2-Clause
"""Responders with faults in what they acknowledge and refuse, and in what their AETHs say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from roceproof.conformance.model.codes import NO_CREDITS
from roceproof.conformance.model.components import RESPONDERS, Components
from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.receive_queue import Receive
from roceproof.conformance.model.responder.rc import RcResponder, Region
from roceproof.conformance.model.responder.rc_answers import HOLDERS, Answer
from roceproof.conformance.model.segment import PSN_MODULUS, Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import faulty_rc_responder
from roceproof.conformance.mutants.wire import model_mutant
from roceproof.conformance.wire.headers import Aeth, ImmDt
from roceproof.conformance.wire.opcodes import Family, Opcode, Position
from roceproof.verbs.service import Service

_READ_MIDDLE = 0x0E
_FATAL = range(0x61, 0x64)


def with_aeth(packet: Segment, syndrome: int, msn: int) -> Segment:
    """The response with another AETH, if it has one."""
    extensions = tuple(
        Aeth(syndrome, msn) if isinstance(header, Aeth) else header for header in packet.extensions
    )
    return replace(packet, extensions=extensions)


# which are acknowledged, and when


@faulty_rc_responder(
    "rc-every-other-ack",
    "An ACK is sent for every second request that asks for one; nothing flushes the last.",
    expected=["ACK-01"],
)
class EveryOtherAck(RcResponder):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._asked = 0

    def acknowledge(self, psn: int) -> None:
        self._asked += 1
        if self._asked % 2 == 0:
            super().acknowledge(psn)


@faulty_rc_responder(
    "rc-unasked-requests-discarded",
    "A SEND or WRITE without AckReq is thrown away.",
    expected=["ACK-04"],
)
class UnaskedRequestsDiscarded(RcResponder):
    def execute(self, request: Segment, row: Opcode) -> None:
        before = self.expected_psn
        super().execute(request, row)
        is_unasked = not request.bth.ack_req and row.family not in HOLDERS
        if is_unasked and row.position is Position.ONLY:
            self.expected_psn = before


@faulty_rc_responder(
    "rc-gaps-acknowledged",
    "A request ahead is executed, and its ACK stands for those that are missing, too.",
    expected=["ACK-06"],
)
class GapsAcknowledged(RcResponder):
    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        if self.region_of(request.bth.psn) is Region.AHEAD:
            self.expected_psn = request.bth.psn
        super().accept(request, network_header)


@faulty_rc_responder(
    "rc-acks-the-next-psn",
    "An ACK names the PSN that is expected next.",
    expected=["ACK-06", "PSN-12"],
    explained_as=["P20"],
)
class AcksTheNextPsn(RcResponder):
    def acknowledge(self, psn: int) -> None:
        super().acknowledge(ahead(psn, 1))


@faulty_rc_responder(
    "rc-acks-to-own-qpn",
    "The ACK goes to the QPN of the request's header, which is the responder's own.",
    expected=["ACK-07"],
)
class AcksToOwnQpn(RcResponder):
    def aeth_only(self, psn: int, code: int) -> Segment:
        packet = super().aeth_only(psn, code)
        return replace(packet, bth=replace(packet.bth, dest_qpn=self.spec.local_qpn))


@faulty_rc_responder(
    "rc-acks-overtake-reads",
    "ACKs need no DMA and overtake the data of a READ.",
    expected=["ACK-12"],
)
class AcksOvertakeReads(RcResponder):
    def next_response(self) -> Segment | None:
        for waiting in self.answers:
            if isinstance(waiting, Segment):
                self.answers.remove(waiting)
                return waiting
        return super().next_response()


# AETH


@faulty_rc_responder(
    "rc-aeth-on-read-middle",
    "Every READ response has an AETH, the middle ones, too.",
    expected=["AETH-01"],
)
class AethOnReadMiddle(RcResponder):
    def next_read_response(self, answer: Answer) -> Segment:
        packet = super().next_read_response(answer)
        if packet.bth.opcode != _READ_MIDDLE:
            return packet
        aeth = Aeth(NO_CREDITS, answer.msn).pack()
        return replace(packet, payload=aeth + packet.payload)


@faulty_rc_responder(
    "rc-syndrome-one-bit-up",
    "The type of a syndrome is written into bits 7 and 6.",
    expected=["AETH-02"],
)
class SyndromeOneBitUp(RcResponder):
    def aeth_only(self, psn: int, code: int) -> Segment:
        return super().aeth_only(psn, (code & 0xE0) << 1 | code & 0x1F)


@faulty_rc_responder(
    "rc-nak-code-on-read-data",
    "A READ response carries the syndrome of the last NAK.",
    expected=["AETH-03"],
)
class NakCodeOnReadData(RcResponder):
    def next_read_response(self, answer: Answer) -> Segment:
        return with_aeth(super().next_read_response(answer), 0x60, answer.msn)


@faulty_rc_responder(
    "rc-msn-little-endian",
    "The bytes of the MSN go out in the processor's order.",
    expected=["AETH-06"],
)
class MsnLittleEndian(RcResponder):
    def aeth_only(self, psn: int, code: int) -> Segment:
        swapped = int.from_bytes(self.msn.to_bytes(3, "big"), "little")
        return with_aeth(super().aeth_only(psn, code), code, swapped)


# MSN and credits


@faulty_rc_responder(
    "rc-msn-starts-at-psn", "The MSN is loaded with the expected PSN.", expected=["MSN-01"]
)
class MsnStartsAtPsn(RcResponder):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.msn = self.spec.rq_psn


@faulty_rc_responder("rc-msn-per-packet", "The MSN counts packets.", expected=["MSN-02"])
class MsnPerPacket(RcResponder):
    def execute(self, request: Segment, row: Opcode) -> None:
        super().execute(request, row)
        if not row.position & Position.LAST:
            self.count_message()


@faulty_rc_responder("rc-msn-counts-duplicates", "Duplicates count.", expected=["MSN-03"])
class MsnCountsDuplicates(RcResponder):
    def duplicate(self, request: Segment) -> None:
        self.count_message()
        super().duplicate(request)


@faulty_rc_responder(
    "rc-msn-of-receives",
    "The MSN counts the messages that take a receive.",
    expected=["MSN-04"],
)
class MsnOfReceives(RcResponder):
    def execute(self, request: Segment, row: Opcode) -> None:
        before = self.msn
        super().execute(request, row)
        if row.family is Family.WRITE and ImmDt not in row.headers:
            self.msn = before


@faulty_rc_responder(
    "rc-msn-counts-what-is-refused",
    "A NAK counts the message that it refuses.",
    expected=["MSN-05"],
)
class MsnCountsWhatIsRefused(RcResponder):
    def nak(self, psn: int, code: int) -> None:
        self.answers.append(with_aeth(self.aeth_only(psn, code), code, ahead(self.msn, 1)))


@faulty_rc_responder("rc-msn-saturates", "The MSN stays at its maximum.", expected=["MSN-06"])
class MsnSaturates(RcResponder):
    def count_message(self) -> None:
        self.msn = min(self.msn + 1, PSN_MODULUS - 1)


class CountingMemory(Memory):
    """Memory with a register beside it that all queue pairs share."""

    msn = 0


@model_mutant(
    "rc-msn-of-the-port",
    "One counter of messages serves all queue pairs, and no reset clears it.",
    expected=["MSN-07"],
)
def msn_of_the_port() -> Components:
    class Shared(RcResponder):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            assert isinstance(self.memory, CountingMemory)
            self.counter = self.memory
            self.msn = self.counter.msn

        def count_message(self) -> None:
            self.counter.msn += 1
            self.msn = self.counter.msn

    return Components(responders={**RESPONDERS, Service.RC: Shared}, memory=CountingMemory)


@faulty_rc_responder(
    "rc-msn-of-read-not-refreshed",
    "The last response to a READ has the MSN that the queue pair was set up with.",
    expected=["MSN-09"],
)
class MsnOfReadNotRefreshed(RcResponder):
    def next_read_response(self, answer: Answer) -> Segment:
        is_later = answer.sent > 0
        packet = super().next_read_response(answer)
        return with_aeth(packet, self.ack_syndrome(), 0) if is_later else packet


@faulty_rc_responder(
    "rc-credits-not-encoded",
    "The number of receives is sent as it is.",
    expected=["CRED-01"],
)
class CreditsNotEncoded(RcResponder):
    def ack_syndrome(self) -> int:
        return len(self.receives) & 0x1F


@faulty_rc_responder(
    "rc-shared-queue-without-credits",
    "A queue pair without receives of its own offers no credit, instead of none being needed.",
    expected=["CRED-02"],
)
class SharedQueueWithoutCredits(RcResponder):
    def ack_syndrome(self) -> int:
        return 0 if self.receives.shared else super().ack_syndrome()


# NAK


@faulty_rc_responder(
    "rc-nak-names-the-last-psn",
    "A sequence NAK names the last PSN that came, not the one that is missing.",
    expected=["NAK-01"],
)
class NakNamesTheLastPsn(RcResponder):
    def nak(self, psn: int, code: int) -> None:
        super().nak(ahead(psn, -1) if code == 0x60 else psn, code)


@faulty_rc_responder("rc-nak-storm", "Every request behind a gap draws a NAK.", expected=["NAK-02"])
class NakStorm(RcResponder):
    def nak_is_pending(self) -> bool:
        return False


@faulty_rc_responder(
    "rc-one-nak-ever",
    "The flag of the NAK that is out is never cleared.",
    expected=["NAK-03"],
)
class OneNakEver(RcResponder):
    def in_order(self, request: Segment) -> None:
        pending = self.pending_nak
        super().in_order(request)
        self.pending_nak = self.pending_nak or pending


@faulty_rc_responder(
    "rc-gap-gives-up",
    "Whoever sends on behind a NAK is not listened to any more.",
    expected=["NAK-04"],
)
class GapGivesUp(RcResponder):
    _PATIENCE = 4

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ahead = 0

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        self._ahead += self.region_of(request.bth.psn) is Region.AHEAD
        if self._ahead <= self._PATIENCE:
            super().accept(request, network_header)


@faulty_rc_responder(
    "rc-deaf-behind-nak",
    "While a NAK is out everything but the missing request is dropped, duplicates too.",
    expected=["NAK-05"],
)
class DeafBehindNak(RcResponder):
    def duplicate(self, request: Segment) -> None:
        if not self.nak_is_pending():
            super().duplicate(request)


@faulty_rc_responder(
    "rc-fatal-nak-names-the-next",
    "A fatal NAK names the PSN behind the request that failed.",
    expected=["NAK-07"],
)
class FatalNakNamesTheNext(RcResponder):
    def nak(self, psn: int, code: int) -> None:
        super().nak(ahead(psn, 1) if code in _FATAL else psn, code)


@faulty_rc_responder(
    "rc-lives-on-behind-fatal-nak",
    "The responder goes on behind a fatal NAK.",
    expected=["NAK-08"],
)
class LivesOnBehindFatalNak(RcResponder):
    def fail(self, status: str = "wr_flush_err", used: Receive | None = None) -> None:
        self.abandon()


@faulty_rc_responder(
    "rc-stale-ack-behind-nak",
    "The coalescer's timer is not stopped by a NAK: the last ACK leaves once more behind it.",
    expected=["NAK-12"],
)
class StaleAckBehindNak(RcResponder):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._last: int | None = None

    def acknowledge(self, psn: int) -> None:
        self._last = psn
        super().acknowledge(psn)

    def nak(self, psn: int, code: int) -> None:
        super().nak(psn, code)
        if self._last is not None:
            super().acknowledge(self._last)


@faulty_rc_responder(
    "rc-key-before-psn",
    "The key of a WRITE is looked up while its PSN is still being compared.",
    expected=["NAK-14"],
)
class KeyBeforePsn(RcResponder):
    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        row = request.row
        is_write = row is not None and row.family is Family.WRITE
        if row and is_write and row.position & Position.FIRST and not self.failed:
            refusal = self.check_memory(request, row)
            if refusal is not None:
                self.refuse(request, refusal)
                return
        super().accept(request, network_header)
