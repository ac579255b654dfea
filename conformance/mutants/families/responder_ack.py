# SPDX-License-Identifier: BSD-2-Clause
"""Responders with faults in what they acknowledge and refuse, and in what their AETHs say."""

from dataclasses import replace
from typing import Any

from roceproof.conformance.model.codes import NO_CREDITS
from roceproof.conformance.model.components import RESPONDERS, Components
from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.receive_queue import Receive
from roceproof.conformance.model.responder.rc import RcResponder, Region
from roceproof.conformance.model.responder.rc_answers import HOLDERS, Answer
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import faulty_rc_responder
from roceproof.conformance.mutants.wire import model_mutant
from roceproof.conformance.wire.headers import Aeth, ImmDt
from roceproof.conformance.wire.opcodes import Family, Opcode, Position
from roceproof.conformance.wire.psn import PSN_MODULUS
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


@faulty_rc_responder("rc-every-other-ack", expected=["ACK-01"])
class EveryOtherAck(RcResponder):
    """An ACK is sent for every second request that asks for one; nothing flushes the last."""

    _asked = 0

    def acknowledge(self, psn: int) -> None:
        self._asked += 1
        if self._asked % 2 == 0:
            super().acknowledge(psn)


@faulty_rc_responder("rc-unasked-requests-discarded", expected=["ACK-04"])
class UnaskedRequestsDiscarded(RcResponder):
    """A SEND or WRITE without AckReq is thrown away."""

    def execute(self, request: Segment, row: Opcode) -> None:
        before = self.expected_psn
        super().execute(request, row)
        is_unasked = not request.bth.ack_req and row.family not in HOLDERS
        if is_unasked and row.position is Position.ONLY:
            self.expected_psn = before


@faulty_rc_responder("rc-gaps-acknowledged", expected=["ACK-06"])
class GapsAcknowledged(RcResponder):
    """A request ahead is executed, and its ACK stands for those that are missing, too."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        if self.region_of(request.bth.psn) is Region.AHEAD:
            self.expected_psn = request.bth.psn
        super().accept(request, network_header)


@faulty_rc_responder("rc-acks-the-next-psn", expected=["ACK-06", "PSN-12"], explained_as=["P20"])
class AcksTheNextPsn(RcResponder):
    """An ACK names the PSN that is expected next."""

    def acknowledge(self, psn: int) -> None:
        super().acknowledge(ahead(psn, 1))


@faulty_rc_responder("rc-acks-to-own-qpn", expected=["ACK-07"])
class AcksToOwnQpn(RcResponder):
    """The ACK goes to the QPN of the request's header, which is the responder's own."""

    def aeth_only(self, psn: int, code: int) -> Segment:
        packet = super().aeth_only(psn, code)
        return replace(packet, bth=replace(packet.bth, dest_qpn=self.spec.local_qpn))


@faulty_rc_responder("rc-acks-overtake-reads", expected=["ACK-12"])
class AcksOvertakeReads(RcResponder):
    """ACKs need no DMA and overtake the data of a READ."""

    def next_response(self) -> Segment | None:
        for waiting in self.answers:
            if isinstance(waiting, Segment):
                self.answers.remove(waiting)
                return waiting
        return super().next_response()


# AETH


@faulty_rc_responder("rc-aeth-on-read-middle", expected=["AETH-01"])
class AethOnReadMiddle(RcResponder):
    """Every READ response has an AETH, the middle ones, too."""

    def next_read_response(self, answer: Answer) -> Segment:
        packet = super().next_read_response(answer)
        if packet.bth.opcode != _READ_MIDDLE:
            return packet
        aeth = Aeth(NO_CREDITS, answer.msn).pack()
        return replace(packet, payload=aeth + packet.payload)


@faulty_rc_responder("rc-syndrome-one-bit-up", expected=["AETH-02"])
class SyndromeOneBitUp(RcResponder):
    """The type of a syndrome is written into bits 7 and 6."""

    def aeth_only(self, psn: int, code: int) -> Segment:
        return super().aeth_only(psn, (code & 0xE0) << 1 | code & 0x1F)


@faulty_rc_responder("rc-nak-code-on-read-data", expected=["AETH-03"])
class NakCodeOnReadData(RcResponder):
    """A READ response carries the syndrome of the last NAK."""

    def next_read_response(self, answer: Answer) -> Segment:
        return with_aeth(super().next_read_response(answer), 0x60, answer.msn)


@faulty_rc_responder("rc-msn-little-endian", expected=["AETH-06"])
class MsnLittleEndian(RcResponder):
    """The bytes of the MSN go out in the processor's order."""

    def aeth_only(self, psn: int, code: int) -> Segment:
        swapped = int.from_bytes(self.msn.to_bytes(3, "big"), "little")
        return with_aeth(super().aeth_only(psn, code), code, swapped)


# MSN and credits


@faulty_rc_responder("rc-msn-starts-at-psn", expected=["MSN-01"])
class MsnStartsAtPsn(RcResponder):
    """The MSN is loaded with the expected PSN."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.msn = self.spec.rq_psn


@faulty_rc_responder("rc-msn-per-packet", expected=["MSN-02"])
class MsnPerPacket(RcResponder):
    """The MSN counts packets."""

    def execute(self, request: Segment, row: Opcode) -> None:
        super().execute(request, row)
        if not row.position & Position.LAST:
            self.count_message()


@faulty_rc_responder("rc-msn-counts-duplicates", expected=["MSN-03"])
class MsnCountsDuplicates(RcResponder):
    """Duplicates count."""

    def duplicate(self, request: Segment) -> None:
        self.count_message()
        super().duplicate(request)


@faulty_rc_responder("rc-msn-of-receives", expected=["MSN-04"])
class MsnOfReceives(RcResponder):
    """The MSN counts the messages that take a receive."""

    def execute(self, request: Segment, row: Opcode) -> None:
        before = self.msn
        super().execute(request, row)
        if row.family is Family.WRITE and ImmDt not in row.headers:
            self.msn = before


@faulty_rc_responder("rc-msn-counts-what-is-refused", expected=["MSN-05"])
class MsnCountsWhatIsRefused(RcResponder):
    """A NAK counts the message that it refuses."""

    def nak(self, psn: int, code: int) -> None:
        self.answers.append(with_aeth(self.aeth_only(psn, code), code, ahead(self.msn, 1)))


@faulty_rc_responder("rc-msn-saturates", expected=["MSN-06"])
class MsnSaturates(RcResponder):
    """The MSN stays at its maximum."""

    def count_message(self) -> None:
        self.msn = min(self.msn + 1, PSN_MODULUS - 1)


class CountingMemory(Memory):
    """Memory with a register beside it that all queue pairs share."""

    msn = 0


@model_mutant("rc-msn-of-the-port", expected=["MSN-07"])
def msn_of_the_port() -> Components:
    """One counter of messages serves all queue pairs, and no reset clears it."""

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


@faulty_rc_responder("rc-msn-of-read-not-refreshed", expected=["MSN-09"])
class MsnOfReadNotRefreshed(RcResponder):
    """The last response to a READ has the MSN that the queue pair was set up with."""

    def next_read_response(self, answer: Answer) -> Segment:
        is_later = answer.sent > 0
        packet = super().next_read_response(answer)
        return with_aeth(packet, self.ack_syndrome(), 0) if is_later else packet


@faulty_rc_responder("rc-credits-not-encoded", expected=["CRED-01"])
class CreditsNotEncoded(RcResponder):
    """The number of receives is sent as it is."""

    def ack_syndrome(self) -> int:
        return len(self.receives) & 0x1F


@faulty_rc_responder("rc-shared-queue-without-credits", expected=["CRED-02"])
class SharedQueueWithoutCredits(RcResponder):
    """A queue pair without receives of its own offers no credit, instead of none being needed."""

    def ack_syndrome(self) -> int:
        return 0 if self.receives.shared else super().ack_syndrome()


# NAK


@faulty_rc_responder("rc-nak-names-the-last-psn", expected=["NAK-01"])
class NakNamesTheLastPsn(RcResponder):
    """A sequence NAK names the last PSN that came, not the one that is missing."""

    def nak(self, psn: int, code: int) -> None:
        super().nak(ahead(psn, -1) if code == 0x60 else psn, code)


@faulty_rc_responder("rc-nak-storm", expected=["NAK-02"])
class NakStorm(RcResponder):
    """Every request behind a gap draws a NAK."""

    def nak_is_pending(self) -> bool:
        return False


@faulty_rc_responder("rc-one-nak-ever", expected=["NAK-03"])
class OneNakEver(RcResponder):
    """The flag of the NAK that is out is never cleared."""

    def in_order(self, request: Segment) -> None:
        pending = self.pending_nak
        super().in_order(request)
        self.pending_nak = self.pending_nak or pending


@faulty_rc_responder("rc-gap-gives-up", expected=["NAK-04"])
class GapGivesUp(RcResponder):
    """Whoever sends on behind a NAK is not listened to any more."""

    _PATIENCE = 4

    _ahead = 0

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        self._ahead += self.region_of(request.bth.psn) is Region.AHEAD
        if self._ahead <= self._PATIENCE:
            super().accept(request, network_header)


@faulty_rc_responder("rc-deaf-behind-nak", expected=["NAK-05"])
class DeafBehindNak(RcResponder):
    """While a NAK is out everything but the missing request is dropped, duplicates too."""

    def duplicate(self, request: Segment) -> None:
        if not self.nak_is_pending():
            super().duplicate(request)


@faulty_rc_responder("rc-fatal-nak-names-the-next", expected=["NAK-07"])
class FatalNakNamesTheNext(RcResponder):
    """A fatal NAK names the PSN behind the request that failed."""

    def nak(self, psn: int, code: int) -> None:
        super().nak(ahead(psn, 1) if code in _FATAL else psn, code)


@faulty_rc_responder("rc-lives-on-behind-fatal-nak", expected=["NAK-08"])
class LivesOnBehindFatalNak(RcResponder):
    """The responder goes on behind a fatal NAK."""

    def fail(self, status: str = "wr_flush_err", used: Receive | None = None) -> None:
        self.abandon()


@faulty_rc_responder("rc-stale-ack-behind-nak", expected=["NAK-12"])
class StaleAckBehindNak(RcResponder):
    """The coalescer's timer is not stopped by a NAK: the last ACK leaves once more behind it."""

    _last: int | None = None

    def acknowledge(self, psn: int) -> None:
        self._last = psn
        super().acknowledge(psn)

    def nak(self, psn: int, code: int) -> None:
        super().nak(psn, code)
        if self._last is not None:
            super().acknowledge(self._last)


@faulty_rc_responder("rc-key-before-psn", expected=["NAK-14"])
class KeyBeforePsn(RcResponder):
    """The key of a WRITE is looked up while its PSN is still being compared."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        row = request.row
        is_write = row is not None and row.family is Family.WRITE
        if row and is_write and row.position & Position.FIRST and not self.failed:
            refusal = self.check_memory(request, row)
            if refusal is not None:
                self.refuse(request, refusal)
                return
        super().accept(request, network_header)
