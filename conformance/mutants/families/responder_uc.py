# SPDX-License-Identifier: BSD-2-Clause
"""UC and UD responders with faults: what they take for whole, and what stops them."""

from roceproof.conformance.model.ingress import GSI_QPN, Ingress, QueuePairView
from roceproof.conformance.model.responder.connected import OpenMessage, Refusal
from roceproof.conformance.model.responder.rc_answers import ACKNOWLEDGE, response
from roceproof.conformance.model.responder.uc import UcResponder
from roceproof.conformance.model.responder.ud import UdResponder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import (
    faulty_ingress,
    faulty_uc_responder,
    faulty_ud_responder,
)
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.headers import Aeth, Reth
from roceproof.conformance.wire.opcodes import Family, Opcode, Position


def starts(request: Segment) -> bool:
    """Whether a packet begins a message."""
    return request.row is not None and bool(request.row.position & Position.FIRST)


@faulty_uc_responder("uc-every-second-dropped", expected=["UC-03"])
class EverySecondDropped(UcResponder):
    """The expected PSN is set when a packet is dropped and not when it is taken."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        if request.bth.psn == self.expected_psn:
            super().accept(request, network_header)
            self.expected_psn = request.bth.psn
        else:
            self.expected_psn = ahead(request.bth.psn, 1)


@faulty_uc_responder("uc-holes-do-not-matter", expected=["UC-04"])
class HolesDoNotMatter(UcResponder):
    """Nobody compares PSNs inside a message."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        if not starts(request):
            self.expected_psn = request.bth.psn
        super().accept(request, network_header)


@faulty_uc_responder("uc-waits-for-its-psn", expected=["UC-05"])
class WaitsForItsPsn(UcResponder):
    """Behind a gap the exact PSN is awaited that was lost."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        if request.bth.psn == self.expected_psn:
            super().accept(request, network_header)


class _Stale(UcResponder):
    """Keeps the place of the last message."""

    _last: OpenMessage | None = None

    def note_start(self, request: Segment) -> None:
        reth = request.extension(Reth)
        if reth is not None:
            left = 2 * self.spec.path_mtu
            self._last = OpenMessage(Family.WRITE, left, address=reth.address, rkey=reth.rkey)

    def resume(self, request: Segment) -> None:
        """Let a WRITE packet of no message go to where the last one went."""
        row = request.row
        is_lost = row is not None and row.family is Family.WRITE and self.message is None
        if is_lost and not starts(request) and self._last is not None:
            self._last.left = len(request.payload)
            self.message = self._last


@faulty_uc_responder("uc-old-reth-in-order", expected=["UC-08"])
class OldRethInOrder(_Stale):
    """A WRITE packet in order that belongs to no message goes where the last one went."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        if request.bth.psn == self.expected_psn:
            self.resume(request)
        super().accept(request, network_header)
        self.note_start(request)


@faulty_uc_responder("uc-first-lost-unnoticed", expected=["UC-06"])
class FirstLostUnnoticed(UcResponder):
    """What is left of a WRITE whose FIRST was lost goes where its receive buffer begins."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        row, receive = request.row, self.receives.head
        is_lost = row is not None and self.message is None and not starts(request)
        if is_lost and receive is not None and request.bth.psn != self.expected_psn:
            receive.write(0, request.payload)
            self.complete(self.receives.take(), "success", byte_len=len(request.payload))
        super().accept(request, network_header)


@faulty_uc_responder("uc-start-in-message-lost", expected=["UC-07"])
class StartInMessageLost(UcResponder):
    """A message that begins while another is open is dropped with it."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        if starts(request) and self.message is not None:
            self.expected_psn = ahead(request.bth.psn, 1)
            self.abandon()
        else:
            super().accept(request, network_header)


@faulty_uc_responder("uc-fault-is-fatal", expected=["UC-09"])
class FaultIsFatal(UcResponder):
    """A WRITE that may not be executed ends the queue pair."""

    def check_memory(self, request: Segment, row: Opcode) -> Refusal | None:
        refusal = super().check_memory(request, row)
        if refusal is not None:
            self.fail()
        return refusal


@faulty_uc_responder("uc-stuck-without-receive", expected=["UC-10"])
class StuckWithoutReceive(UcResponder):
    """A message without a receive is never given up."""

    def check_receive(self, request: Segment, row: Opcode) -> Refusal | None:
        refusal = super().check_receive(request, row)
        self.failed = refusal is not None
        return refusal


@faulty_uc_responder("uc-filters-duplicates", expected=["UC-11"])
class FiltersDuplicates(UcResponder):
    """A message at the last PSN is a duplicate."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        if ahead(request.bth.psn, 1) != self.expected_psn:
            super().accept(request, network_header)


@faulty_uc_responder("uc-torn-send-takes-its-receive", expected=["UC-12"])
class TornSendTakesItsReceive(UcResponder):
    """The receive of a torn SEND is lost."""

    def abandon(self) -> None:
        self.message = None


@faulty_ingress("rx-qkey-not-compared", expected=["UD-02"])
class QkeyNotCompared(Ingress):
    """The Q_Key is not compared."""

    def is_qkey_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        return True


@faulty_ingress("rx-qkey-of-management-not-compared", expected=["CM-01", "UD-02"])
class QkeyOfManagementNotCompared(Ingress):
    """The Q_Key is compared behind the place at which datagrams to QP1 leave the path."""

    def is_qkey_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        return packet.bth.dest_qpn == GSI_QPN or super().is_qkey_right(queue_pair, packet)


@faulty_ud_responder("ud-short-receive-overrun", expected=["UD-05"])
class ShortReceiveOverrun(UdResponder):
    """A datagram is written as it is, however short its receive."""

    def fits(self, request: Segment, size: int) -> bool:
        return super().fits(request, 0)


@faulty_ud_responder("ud-acknowledges", expected=["UD-07"])
class UdAcknowledges(UdResponder):
    """AckReq is heeded on UD, too."""

    _owed: Segment | None = None

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        super().accept(request, network_header)
        if request.bth.ack_req:
            peer, psn = self.spec.remote_qpn, request.bth.psn
            self._owed = response(peer, ACKNOWLEDGE, psn, Aeth(0x1F, 0))

    def next_response(self) -> Segment | None:
        owed, self._owed = self._owed, None
        return owed
