# SPDX-License-Identifier: BSD-2-Clause
"""Faults in the life of queue pairs, on unreliable connections, and around notifications."""

from roceproof.conformance.model.components import REQUESTERS, Components
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.requester.uc import UcRequester
from roceproof.conformance.mutants.families.messages import RequestPacket, position_of
from roceproof.conformance.mutants.faulty import faulty_rc_requester, faulty_uc_requester
from roceproof.conformance.mutants.frames import bth_of, edited, removed, response_of, with_bth
from roceproof.conformance.mutants.wire import WireFault, model_mutant, wire_mutant
from roceproof.conformance.suite.pattern import NO_CREDITS
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.frame_edits import reseal, resize, set_udp
from roceproof.conformance.wire.headers import Aeth, CnpReserved
from roceproof.conformance.wire.opcodes import Position
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Work

_CNP, _ACKNOWLEDGE = 0x81, 0x11
_BEHIND_BTH = 20  # from the UDP header
_NEW_CONNECTION = 1 << 16
_ANOTHER_QPN = 0x11


def is_cnp(frame: bytes) -> bool:
    """Whether a frame is a congestion notification."""
    bth = bth_of(frame)
    return bth is not None and bth.opcode == _CNP


class KnowsNewest(RequestPacket):
    """Remembers the PSN that was sent last."""

    newest = 0

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        self.newest = packet.bth.psn
        return [frame]


@model_mutant("qps-sends-before-rts", expected=["QPS-02"])
def sends_before_rts() -> Components:
    """The requester is let loose on the way to RTR."""

    class Rc(RcRequester):
        def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
            super().__init__(spec, policy)
            self.state = State.RTS

    class Uc(UcRequester):
        def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
            super().__init__(spec, policy)
            self.state = State.RTS

    return Components(requesters={**REQUESTERS, Service.RC: Rc, Service.UC: Uc})


@faulty_rc_requester("qps-sends-in-error", expected=["QPS-03"])
class SendsInError(RcRequester):
    """A queue pair that failed flushes what it has, and takes more."""

    def flush(self) -> None:
        super().flush()
        self.state = State.RTS


@wire_mutant("qps-open-message-survives", expected=["QPS-04"])
class OpenMessageSurvives(RequestPacket):
    """A new connection goes on with the message that the old one was in."""

    def __init__(self) -> None:
        self._last: dict[int, Packet] = {}

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        before = self._last.get(packet.udp_sport)
        self._last[packet.udp_sport] = packet
        if before is None or Position.LAST in position_of(before):
            return [frame]
        is_new = abs(distance(packet.bth.psn, before.bth.psn)) > _NEW_CONNECTION
        is_first = position_of(packet) is Position.FIRST
        return [with_bth(frame, opcode=packet.bth.opcode + 1) if is_new and is_first else frame]


@wire_mutant("qps-late-ack-counts", expected=["QPS-04"])
class LateAckCounts(KnowsNewest):
    """ACKs are matched by the order in which they come, so one of the connection before counts."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [frame if response_of(frame) is None else with_bth(frame, psn=self.newest)]


@wire_mutant("qps-opening-disturbs", expected=["QPS-06"])
class OpeningDisturbs(RequestPacket):
    """Writing the context of a new queue pair collides with the one that is sending.

    When a queue pair first sends, the next packet of another is lost.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._newest: int | None = None

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        qpn = packet.bth.dest_qpn
        if qpn not in self._known:
            self._newest = qpn if self._known else None
            self._known.add(qpn)
        elif self._newest not in (None, qpn):
            self._newest = None
            return []
        return [frame]


@wire_mutant("qps-own-number-of-16-bits", expected=["QPS-07"])
class OwnNumberOf16Bits(WireFault):
    """Responses to queue pairs whose number has more than 16 bits find none."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        return [] if bth is not None and bth.dest_qpn >> 16 else [frame]


@wire_mutant("live-dead-after-bad-packet", expected=["LIVE-01"])
class DeadAfterBadPacket(WireFault):
    """The receiver waits for ever for the end of a packet whose ICRC was wrong."""

    _is_dead = False

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        self._is_dead |= icrc.check(frame).judgement is not icrc.Judgement.OK
        return [] if self._is_dead else [frame]

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [] if self._is_dead else [frame]


@wire_mutant("live-queue-wraps-wrongly", expected=["PSN-02"])
class QueueWrapsWrongly(RequestPacket):
    """A queue of 64 packets forgets one when its pointer wraps."""

    _PLACES = 64

    _packets = 0

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        self._packets += 1
        return [] if self._packets % self._PLACES == 0 else [frame]


@wire_mutant("live-deaf-after-jumbo", expected=["LIVE-03"])
class DeafAfterJumbo(WireFault):
    """Behind a jumbo frame the parser looks for headers in the middle of frames."""

    _JUMBO, _FRAMES = 4500, 4

    _deaf_for = 0

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        if len(frame) > self._JUMBO:
            self._deaf_for = self._FRAMES
        elif self._deaf_for:
            self._deaf_for -= 1
            return []
        return [frame]


@faulty_uc_requester("uc-completed-by-acks", expected=["UC-01"])
class CompletedByAcks(UcRequester):
    """UC work waits for an acknowledgement, as RC work does."""

    def complete(self, work: Work, status: str) -> None:
        if status != "success":
            super().complete(work, status)


@wire_mutant("uc-asks-for-acks", expected=["UC-02"])
class AsksForAcks(RequestPacket):
    """AckReq is set on the last packet, whatever the service."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        return [with_bth(frame, ack_req=Position.LAST in position_of(packet))]


@wire_mutant("cnp-taken-for-ack", expected=["CNP-06"])
class CnpTakenForAck(KnowsNewest):
    """Everything that is no request is taken for an acknowledgement of all that was sent."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        if not is_cnp(frame):
            return [frame]
        aeth = Aeth(NO_CREDITS, 1).pack()
        body = resize(Aeth.SIZE - CnpReserved.SIZE)
        ack = edited(frame, body, set_udp(_BEHIND_BTH, aeth))
        return [with_bth(ack, opcode=_ACKNOWLEDGE, psn=self.newest)]


@wire_mutant("cnp-taken-for-middle", expected=["CNP-06"])
class CnpTakenForMiddle(RequestPacket):
    """A notification is decoded from five bits of its opcode: it is a packet that takes a PSN."""

    _notified = 0

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        return [with_bth(frame, psn=(packet.bth.psn + self._notified) % (1 << 24))]

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        self._notified += is_cnp(frame)
        return [frame]


@model_mutant("cnp-not-heard", expected=["CNP-07"])
def cnp_not_heard() -> Components:
    """Notifications are dropped."""
    return Components(requester_policy=RequesterPolicy(max_slowdown=0))


@wire_mutant("cnp-before-icrc", expected=["CNP-08"])
class CnpBeforeIcrc(WireFault):
    """Notifications are acted on in front of the ICRC check."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        if not is_cnp(frame):
            return [frame]
        repaired = bytearray(frame)
        reseal(repaired)
        return [bytes(repaired)]


@wire_mutant("cnp-to-any-queue-pair", expected=["CNP-08"])
class CnpToAnyQueuePair(WireFault):
    """A notification slows down whatever queue pair has its place in the table."""

    _latest = 0  # queue pair that was written to

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        if is_cnp(frame):
            return [with_bth(frame, dest_qpn=self._latest)]
        bth = bth_of(frame)
        self._latest = self._latest if bth is None else bth.dest_qpn
        return [frame]


@wire_mutant("cnp-without-reserved-bytes", expected=["CNP-01"])
class CnpWithoutReservedBytes(WireFault):
    """The 16 bytes behind the BTH of a notification are left out."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [edited(frame, removed(_BEHIND_BTH, CnpReserved.SIZE)) if is_cnp(frame) else frame]


@wire_mutant("cnp-to-own-number", expected=["CNP-01"])
class CnpToOwnNumber(WireFault):
    """A notification goes to the number of the queue pair that sends it."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [with_bth(frame, dest_qpn=_ANOTHER_QPN) if is_cnp(frame) else frame]
