# SPDX-License-Identifier: BSD-2-Clause
"""Messages that are cut, ordered or padded wrongly."""

from dataclasses import replace

from roceproof.conformance.model.components import REQUESTERS, Components
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.mutants.faulty import faulty_rc_requester, faulty_uc_requester
from roceproof.conformance.mutants.frames import edited, request_of, with_bth, with_stale_pad
from roceproof.conformance.mutants.wire import WireFault, model_mutant, wire_mutant
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.frame_edits import resize, set_udp
from roceproof.conformance.wire.headers import Reth
from roceproof.conformance.wire.opcodes import OPCODES, Family, Position
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Work

_RETH_AT = 20  # from the UDP header
_LENGTH_AT = _RETH_AT + 12
_SMALLEST_MTU = 256
_BURST_BYTES = 128


def position_of(packet: Packet) -> Position:
    """Where in its message a request stands."""
    return OPCODES[packet.bth.opcode].position


def family_of(packet: Packet) -> Family:
    """What kind of message a packet belongs to."""
    return OPCODES[packet.bth.opcode].family


class RequestPacket(WireFault):
    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        """What leaves instead of a request."""
        raise NotImplementedError

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame) if request_of(frame) is not None else None
        return [frame] if packet is None else self.changed(frame, packet)


def with_length(frame: bytes, length: int) -> bytes:
    """The frame with another length in its RETH."""
    return edited(frame, set_udp(_LENGTH_AT, length.to_bytes(4, "big")))


@wire_mutant("opc-send-only-as-last", expected=["OPC-01"])
class OnlyAsLast(RequestPacket):
    """The flag that a message begins is late: a SEND of one packet goes out as LAST."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        service, kind = packet.bth.opcode & 0xE0, packet.bth.opcode & 0x1F
        return [with_bth(frame, opcode=service | 0x02) if kind == 0x04 else frame]


@wire_mutant("opc-immediate-always-only", expected=["OPC-02"])
class ImmediateAlwaysOnly(RequestPacket):
    """The opcode with immediate data is that of ONLY, whatever was before."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        service, kind = packet.bth.opcode & 0xE0, packet.bth.opcode & 0x1F
        return [with_bth(frame, opcode=service | 0x05) if kind == 0x03 else frame]


@wire_mutant("opc-last-stays-middle", expected=["OPC-03"])
class LastStaysMiddle(RequestPacket):
    """A message whose last packet is full has no LAST."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        is_full = len(packet.payload) >= _SMALLEST_MTU
        kind = packet.bth.opcode & 0x1F
        return [
            with_bth(frame, opcode=packet.bth.opcode - 1)
            if is_full and kind in (0x02, 0x08)
            else frame
        ]


@wire_mutant("opc-read-in-between", expected=["OPC-03"])
class ReadInBetween(RequestPacket):
    """The arbiter lets a READ request go in front of the rest of a message.

    Holds back each LAST until something else has left, where READs are about.
    """

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._has_reads = False

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        self._has_reads |= family_of(packet) is Family.READ
        held, self._held = self._held, []
        if self._has_reads and position_of(packet) is Position.LAST:
            self._held = [frame]
            return held
        return [frame, *held]


@wire_mutant("opc-one-message-flag", expected=["OPC-04"])
class OneMessageFlag(RequestPacket):
    """The flag that a message is under way is that of the port."""

    _open_on: int | None = None

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        position, qpn = position_of(packet), packet.bth.dest_qpn
        others = self._open_on not in (None, qpn)
        if position is Position.FIRST:
            self._open_on = qpn
        elif Position.LAST in position:
            self._open_on = None
        if others and position is Position.FIRST:
            return [with_bth(frame, opcode=packet.bth.opcode + 1)]
        return [frame]


@wire_mutant("opc-type-of-other-message", expected=["OPC-05"])
class TypeOfOtherMessage(RequestPacket):
    """The message type is looked up late: behind the FIRST of a WRITE come packets of a SEND."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        kind = packet.bth.opcode & 0x1F
        return [with_bth(frame, opcode=packet.bth.opcode - 6) if kind in (0x07, 0x08) else frame]


@faulty_uc_requester("opc-reads-on-uc", expected=["OPC-11"])
class ReadsOnUc(RcRequester):
    """Work for READs and atomics is taken on UC and goes out with the service's bits."""

    def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
        super().__init__(replace(spec, service=Service.RC), policy)

    def next_request(self, now_ns: int) -> Segment | None:
        segment = super().next_request(now_ns)
        if segment is None:
            return None
        opcode = segment.bth.opcode | Service.UC << 5
        return replace(segment, bth=replace(segment.bth, opcode=opcode, ack_req=False))


class Cut(RequestPacket):
    """Cuts bytes off the payload of packets in one position."""

    position: Position
    cut: int

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        """Lengths and ICRC are those of what is left."""
        is_hit = position_of(packet) is self.position and len(packet.payload) >= self.cut
        return [edited(frame, resize(-self.cut)) if is_hit else frame]


@wire_mutant("mtu-reth-counts-as-payload", expected=["MTU-01"])
class RethCountsAsPayload(Cut):
    """A FIRST is so much shorter as its RETH is long."""

    position, cut = Position.FIRST, Reth.SIZE


@wire_mutant("mtu-middle-loses-a-word", expected=["MTU-02"])
class MiddleLosesWord(Cut):
    """The last word of a MIDDLE is lost."""

    position, cut = Position.MIDDLE, 4


@wire_mutant("mtu-empty-last", expected=["MTU-03"])
class EmptyLast(RequestPacket):
    """A message of whole packets gets one more, without payload, to close it."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        kind, size = packet.bth.opcode & 0x1F, len(packet.payload)
        if kind not in (0x02, 0x08) or size < _SMALLEST_MTU:
            return [frame]
        middle = with_bth(frame, opcode=packet.bth.opcode - 1, ack_req=False)
        last = with_bth(edited(frame, resize(-size)), psn=packet.bth.psn + 1)
        return [middle, last]


@wire_mutant("mtu-empty-swallowed", expected=["MTU-04"])
class EmptySwallowed(RequestPacket):
    """An empty message sends nothing."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        carries = family_of(packet) in (Family.SEND, Family.WRITE)
        is_empty = carries and position_of(packet) is Position.ONLY and not packet.payload
        return [] if is_empty else [frame]


@model_mutant("mtu-of-last-configured", expected=["MTU-05"])
def mtu_of_last_configured() -> Components:
    """The path MTU is a register of the port, which each configuration of a QP writes."""
    register = [_SMALLEST_MTU]

    class Rc(RcRequester):
        def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
            super().__init__(spec, policy)
            register[0] = spec.path_mtu

        def begin(self, work: Work) -> None:
            self.spec = replace(self.spec, path_mtu=register[0])
            super().begin(work)

    return Components(requesters={**REQUESTERS, Service.RC: Rc})


@wire_mutant("mtu-length-less-one", expected=["MTU-07"])
class LengthLessOne(RequestPacket):
    """The length in the RETH is the index of the last byte."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        if packet.reth is None or not packet.payload:
            return [frame]
        return [with_length(frame, packet.reth.length - 1)]


@faulty_rc_requester("mtu-any-length-taken", expected=["MTU-08"])
class AnyLengthTaken(RcRequester):
    """Lengths beyond 2^31 are not refused."""

    def post(self, work: Work) -> None:
        self.enqueue(work)


@faulty_rc_requester("mtu-longest-refused", expected=["MTU-08"])
class LongestRefused(RcRequester):
    """The longest message is refused: less or equal was meant."""

    def post(self, work: Work) -> None:
        if work.size == 1 << 31:
            self.complete(work, "loc_len_err")
        else:
            super().post(work)


@wire_mutant("mtu-burst-not-cut", expected=["MTU-09"])
class BurstNotCut(RequestPacket):
    """The last burst of a full packet is not cut where the packet ends."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        is_full = len(packet.payload) >= _SMALLEST_MTU
        return [edited(frame, resize(_BURST_BYTES)) if is_full else frame]


@wire_mutant("pad-count-is-remainder", expected=["PAD-01"])
class PadCountIsRemainder(RequestPacket):
    """The pad count is the number of bytes in the last word."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        return [with_bth(frame, pad_count=len(packet.payload) % 4)]


@wire_mutant("pad-of-stale-bytes", expected=["PAD-02"])
class PadOfStaleBytes(RequestPacket):
    """The pad is whatever the last bus word held before."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        return [with_stale_pad(frame, packet.bth.pad_count)]


@wire_mutant("pad-in-length", expected=["PAD-03", "MTU-07"])
class PadInLength(RequestPacket):
    """The length in the RETH is rounded up to whole words."""

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        reth = packet.reth
        return [frame if reth is None else with_length(frame, reth.length + 3 & ~3)]


@wire_mutant("pad-on-every-packet", expected=["PAD-04"])
class PadOnEveryPacket(RequestPacket):
    """The pad count of a message is in each of its packets."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        if packet.reth is not None:
            self._counts[packet.bth.dest_qpn] = -packet.reth.length % 4
        if Position.LAST in position_of(packet):
            return [frame]
        return [with_bth(frame, pad_count=self._counts.get(packet.bth.dest_qpn, 0))]


@wire_mutant("pad-count-left-over", expected=["PAD-05"])
class PadCountLeftOver(RequestPacket):
    """A request without payload has the pad count of the one before it."""

    _count = 0

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        if family_of(packet) in (Family.READ, Family.ATOMIC):
            return [with_bth(frame, pad_count=self._count)]
        self._count = packet.bth.pad_count
        return [frame]
