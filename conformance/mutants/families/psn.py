# SPDX-License-Identifier: BSD-2-Clause
"""Requesters that count wrongly, by the signatures of their PSNs."""

from dataclasses import replace

from roceproof.conformance.model.components import REQUESTERS, Components
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.requester.uc import UcRequester
from roceproof.conformance.model.segmentation import ahead, refusal
from roceproof.conformance.mutants.frames import request_of, response_of, with_bth
from roceproof.conformance.mutants.renumbering import Flow, Renumbered, Sent
from roceproof.conformance.mutants.wire import WireFault, model_mutant, wire_mutant
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.psn import PSN_MODULUS, distance
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Work

_BEAT_BYTES = 8
_BURST_NS = 5_000
_IDLE_NS = 60_000
_SEQUENCE_NAK = 0x60


@model_mutant("psn-start-of-other-direction", expected=["PSN-01"], explained_as=["P01"])
def start_of_other_direction() -> Components:
    """The requester starts at the PSN that the responder is to expect."""

    class Rc(RcRequester):
        def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
            super().__init__(replace(spec, sq_psn=spec.rq_psn), policy)

    class Uc(UcRequester):
        def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
            super().__init__(replace(spec, sq_psn=spec.rq_psn), policy)

    return Components(requesters={**REQUESTERS, Service.RC: Rc, Service.UC: Uc})


@wire_mutant("psn-starts-one-late", expected=["PSN-01"], explained_as=["P02"])
class StartsOneLate(Renumbered):
    """The PSN is incremented before the first packet, too."""

    def first(self, packet: Packet, before: Sent | None) -> int:
        return packet.bth.psn + 1


@wire_mutant("psn-starts-one-early", expected=["PSN-01"], explained_as=["P02"])
class StartsOneEarly(Renumbered):
    """The register holds the PSN of the packet before, and the first is sent before it counts."""

    def first(self, packet: Packet, before: Sent | None) -> int:
        return packet.bth.psn - 1


@wire_mutant("psn-once-per-message", expected=["PSN-02"], explained_as=["P03"])
class PerMessage(Renumbered):
    """The PSN is incremented at the end of a message."""

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        return int(before.closes)


@wire_mutant("psn-wraps-at-16-bits", expected=["PSN-03"], explained_as=["P04"])
class SixteenBits(Renumbered):
    """The PSN counter has 16 bits; the upper byte is what was configured."""

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        low = before.psn & 0xFFFF
        return (low + due & 0xFFFF) - low


@wire_mutant("psn-carry-beside-ackreq", expected=["PSN-19", "PSN-03"], explained_as=["P05"])
class CarryBesideAckReq(WireFault):
    """The adder of the PSN has 32 bits, and the whole word goes into the header."""

    def __init__(self) -> None:
        self._carries: dict[int, int] = {}
        self._last: dict[int, int] = {}

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        if bth is None:
            return [frame]
        last = self._last.get(bth.dest_qpn, bth.psn)
        self._last[bth.dest_qpn] = bth.psn
        wraps = 0 < (bth.psn - last) % PSN_MODULUS < 1 << 16 and bth.psn < last
        self._carries[bth.dest_qpn] = self._carries.get(bth.dest_qpn, 0) + wraps
        return [with_bth(frame, reserved7=self._carries[bth.dest_qpn])]


@wire_mutant("psn-moved-by-acks", expected=["PSN-07"], explained_as=["P06"])
class CountsAcks(Renumbered):
    """An acknowledgement that comes increments the PSN, which is how a credit was to be counted."""

    _acks = 0

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        self._acks += response_of(frame) is not None
        return super().received(frame, time_ns)

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        acks, self._acks = self._acks, 0
        return due + acks


@wire_mutant("psn-per-beat", expected=["PSN-02"], explained_as=["P07"])
class CountsBeats(Renumbered):
    """The PSN is incremented with every beat of payload."""

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        return max(1, -(-len(before.packet.payload) // _BEAT_BYTES))


@wire_mutant("psn-read-takes-one", expected=["PSN-05", "READ-04"], explained_as=["P08"])
class ReadTakesOne(Renumbered):
    """A READ increments the PSN by one, as every request packet does."""

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        return 1 if before.is_read else due


@wire_mutant("psn-of-the-port", expected=["PSN-08"], explained_as=["P09"])
class OfThePort(Renumbered):
    """There is one PSN counter, loaded by the first connection."""

    _next: int | None = None

    def number(self, packet: Packet, time_ns: int) -> int:
        psn = packet.bth.psn if self._next is None else self._next
        self._next = (psn + 1) % PSN_MODULUS
        return psn


@wire_mutant("psn-survives-reset", expected=["PSN-09", "QPS-04"], explained_as=["P10"])
class SurvivesReset(Renumbered):
    """The PSN counter is loaded after power-up only; a new connection goes on counting."""

    def first(self, packet: Packet, before: Sent | None) -> int:
        return packet.bth.psn if before is None else before.psn + 1


@wire_mutant("psn-new-for-copies", expected=["PSN-06"], explained_as=["P11"])
class NewForCopies(Renumbered):
    """A packet that is sent again goes through the counter again."""

    def again(self, flow: Flow, packet: Packet, time_ns: int) -> int:
        psn = (flow.last.psn + 1) % PSN_MODULUS
        flow.last = Sent(flow.last.packet, time_ns, psn)
        return psn


@wire_mutant("psn-empty-takes-two", expected=["PSN-04"], explained_as=["P12"])
class EmptyTakesTwo(Renumbered):
    """A message without payload is counted as it begins and as it ends."""

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        return due + before.is_empty


@wire_mutant("psn-empty-takes-none", expected=["PSN-04"], explained_as=["P13"])
class EmptyTakesNone(Renumbered):
    """The PSN moves on with payload, of which an empty message has none."""

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        return 0 if before.is_empty else due


@wire_mutant("psn-of-packet-before", expected=["PSN-02"], explained_as=["P14"])
class LatchedEarly(Renumbered):
    """The header takes the PSN a stage too early: in a burst that is the packet before's."""

    def number(self, packet: Packet, time_ns: int) -> int:
        flow = self.flows.get(packet.udp_sport)
        is_burst = flow is not None and time_ns - flow.last.time_ns < _BURST_NS
        return (super().number(packet, time_ns) - is_burst) % PSN_MODULUS


@wire_mutant("psn-little-endian", expected=["BTH-14", "PSN-02"], explained_as=["P15"])
class LittleEndian(Renumbered):
    """The bytes of the PSN go out in the processor's order."""

    def number(self, packet: Packet, time_ns: int) -> int:
        return int.from_bytes(packet.bth.psn.to_bytes(3, "big"), "little")


@wire_mutant("psn-twice-when-stalled", expected=["PSN-02"], explained_as=["P16"])
class TwiceWhenStalled(Renumbered):
    """The counter's enable looks at valid but not at ready: a stalled beat counts twice."""

    _STALLS_EVERY = 4

    _packets = 0

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        self._packets += 1
        return due + (self._packets % self._STALLS_EVERY == 0)


@wire_mutant("psn-restart-behind-nak", expected=["PSN-06", "NAK-06"], explained_as=["P17"])
class RestartBehindNak(WireFault):
    """The resend begins behind the PSN that the NAK names, as if it were an ACK."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = response_of(frame)
        if bth is None or frame[54] != _SEQUENCE_NAK:
            return [frame]
        return [with_bth(frame, psn=(bth.psn + 1) % PSN_MODULUS)]


@wire_mutant("psn-replay-counted", expected=["PSN-06"], explained_as=["P18"])
class ReplayCounted(Renumbered):
    """The replayed packets move the counter, too: what follows them leaves out as many PSNs."""

    _replayed = 0

    def again(self, flow: Flow, packet: Packet, time_ns: int) -> int:
        self._replayed += 1
        return super().again(flow, packet, time_ns)

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        replayed, self._replayed = self._replayed, 0
        return due + replayed


class PlainCompare(WireFault):
    """Takes responses for old whose PSN is less than the first that was sent."""

    _first: int | None = None

    def order(self, psn: int) -> int:
        return psn

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        if bth is not None and self._first is None:
            self._first = self.order(bth.psn)
        return [frame]

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = response_of(frame)
        if bth is None or self._first is None:
            return [frame]
        return [] if self.order(bth.psn) < self._first else [frame]


@wire_mutant("psn-plain-compare", expected=["PSN-16"], explained_as=["P19"])
class UnsignedCompare(PlainCompare):
    """An acknowledgement is taken for old if its PSN is a smaller number."""


@wire_mutant("psn-signed-compare", expected=["PSN-16"], explained_as=["P19"])
class SignedCompare(PlainCompare):
    """PSNs are compared as signed numbers of 24 bits."""

    def order(self, psn: int) -> int:
        return psn - PSN_MODULUS if psn >> 23 else psn


@wire_mutant("psn-repeated-on-uc", expected=["PSN-18"], explained_as=["P23"])
class RepeatedOnUc(Renumbered):
    """A stalled UC packet is taken back, but its PSN is given to the packet behind it."""

    _STALLS_EVERY = 9

    _packets = 0

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        self._packets += 1
        is_uc = after.bth.opcode >> 5 == Service.UC
        return due - (is_uc and self._packets % self._STALLS_EVERY == 0)


@wire_mutant("psn-position-restarts-at-wrap", expected=["UC-14", "OPC-01"])
class PositionRestartsAtWrap(WireFault):
    """The counter of packets in a message is part of the PSN's, and starts anew with it.

    The packet at PSN 0 is a FIRST if it is a MIDDLE.
    """

    _MIDDLE, _FIRST = (0x01, 0x07), -1

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        if bth is None or bth.psn or bth.opcode & 0x1F not in self._MIDDLE:
            return [frame]
        return [with_bth(frame, opcode=bth.opcode + self._FIRST)]


@wire_mutant("psn-falls-back-when-idle", expected=["PSN-10"])
class ReloadedWhenIdle(Renumbered):
    """The context of an idle queue pair is fetched from where its first PSN still stands."""

    _start = 0

    def first(self, packet: Packet, before: Sent | None) -> int:
        self._start = packet.bth.psn
        return self._start

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        is_idle = time_ns - before.time_ns > _IDLE_NS
        return distance(self._start, before.psn) if is_idle else due


@model_mutant("psn-window-of-all", expected=["PSN-11"])
def window_of_all() -> Components:
    """The window is compared in 25 bits, which is never full."""
    return Components(requester_policy=RequesterPolicy(max_outstanding=PSN_MODULUS - 1))


@model_mutant("psn-for-refused-work", expected=["PSN-21"], explained_as=["P12"])
def psn_for_refused_work() -> Components:
    """A work request takes its PSNs before its length is looked at."""

    class Rc(RcRequester):
        def post(self, work: Work) -> None:
            if refusal(self.spec, work) is not None and not self.window.outstanding:
                window = self.window
                window.oldest = window.next = window.fresh = ahead(window.fresh, 1)
            super().post(work)

    class Uc(UcRequester):
        def post(self, work: Work) -> None:
            if refusal(self.spec, work) is not None:
                self._psn = ahead(self._psn, 1)
            super().post(work)

    return Components(requesters={**REQUESTERS, Service.RC: Rc, Service.UC: Uc})


@wire_mutant("psn-upper-byte-of-register", expected=["PSN-19"], explained_as=["P24"])
class UpperByteOfRegister(WireFault):
    """The upper byte of the 32-bit configuration register is not cut off."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [frame if request_of(frame) is None else with_bth(frame, reserved7=0x7F)]


@wire_mutant("psn-shared-with-responder", expected=["PSN-22"], explained_as=["P25"])
class SharedWithResponder(Renumbered):
    """Requester and responder have one PSN register."""

    _requests = 0

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        self._requests += request_of(frame) is not None
        return super().received(frame, time_ns)

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        requests, self._requests = self._requests, 0
        return due + requests
