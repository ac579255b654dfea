# SPDX-License-Identifier: BSD-2-Clause
"""Responders with faults that only a search finds: a bit, a length, a region, an order."""

from roceproof.conformance.model.responder.connected import Refusal
from roceproof.conformance.model.responder.rc import RcResponder, Region
from roceproof.conformance.model.responder.rc_answers import HOLDERS
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.mutants.faulty import faulty_rc_responder
from roceproof.conformance.mutants.frames import bth_of, request_of, with_bth
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.frame_edits import reseal, resize
from roceproof.conformance.wire.framing import UDP_BYTES, Fault, locate
from roceproof.conformance.wire.opcodes import Opcode
from roceproof.conformance.wire.psn import distance

_QUARTER = 1 << 22
_IPV4_BYTES = 20
_MANAGEMENT_QPN = 1
_MAD_BYTES = 256


@wire_mutant("rx-source-port-not-covered", expected=["ICRC-12"])
class SourcePortNotCovered(WireFault):
    """One lane of the bus, that of the UDP source port's low byte, is not wired to the CRC."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        layout = locate(frame)
        if layout is None or icrc.check(frame).judgement is not icrc.Judgement.BAD:
            return [frame]
        for bit in range(8):
            tried = bytearray(frame)
            tried[layout.udp + 1] ^= 1 << bit
            if icrc.check(bytes(tried)).judgement is icrc.Judgement.OK:
                return [bytes(tried)]
        return [frame]


@wire_mutant("rx-headers-of-zeros", expected=["FUZZ-03", "BTH-16"])
class HeadersOfZeros(WireFault):
    """Headers that a packet is too short for are read as zeros."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        is_sealed = icrc.check(frame).judgement is icrc.Judgement.OK
        if packet is None or packet.fault is not Fault.HEADERS or not is_sealed:
            return [frame]
        longer = bytearray(frame)
        while (now := parse(bytes(longer))) is not None and now.fault is Fault.HEADERS:
            resize(1)(longer)
        reseal(longer)
        return [bytes(longer)]


@wire_mutant("rx-opcode-of-four-bits", expected=["FUZZ-05", "BTH-13"])
class OpcodeOfFourBits(WireFault):
    """The fifth bit of an opcode is only decoded where the table needs it."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        is_reserved = bth is not None and bth.opcode & 0x1F in range(0x18, 0x1C)
        return [with_bth(frame, opcode=bth.opcode & ~0x10) if bth and is_reserved else frame]


@faulty_rc_responder("rc-window-of-a-quarter", expected=["FUZZ-06", "PSN-13"])
class WindowOfAQuarter(RcResponder):
    """What lies more than a quarter of the PSNs behind is taken for ahead."""

    def region_of(self, psn: int) -> Region:
        if distance(psn, self.expected_psn) < -_QUARTER:
            return Region.AHEAD
        return super().region_of(psn)


@faulty_rc_responder("rc-reads-inside-messages", expected=["FUZZ-07", "OPC-07"])
class ReadsInsideMessages(RcResponder):
    """READs and atomics are no part of the opcode sequence."""

    def follows(self, row: Opcode) -> bool:
        return row.family in HOLDERS or super().follows(row)


@wire_mutant("rx-pad-count-corrected", expected=["FUZZ-09", "PAD-07"])
class PadCountCorrected(WireFault):
    """The pad is what is left of the last word; PadCnt is not read."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        if packet is None or packet.reth is None or request_of(frame) is None:
            return [frame]
        carried = len(packet.payload) + len(packet.pad)
        pad = carried - packet.reth.length
        return [with_bth(frame, pad_count=pad) if pad in range(4) else frame]


@wire_mutant("rx-udp-length-from-ip", expected=["FUZZ-10", "UDP-09"])
class UdpLengthFromIp(WireFault):
    """The parser takes the length of IP and never that of UDP."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        layout = locate(frame)
        if layout is None or layout.version != 4:
            return [frame]
        size = int.from_bytes(frame[layout.ip + 2 : layout.ip + 4], "big") - _IPV4_BYTES
        at = layout.udp + UDP_BYTES - 4
        return [frame[:at] + max(0, size).to_bytes(2, "big") + frame[at + 2 :]]


@wire_mutant("rx-congested-dropped", expected=["FUZZ-17"])
class CongestedDropped(WireFault):
    """A request with FECN set is taken for damaged."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        return [] if bth is not None and bth.fecn else [frame]


@wire_mutant("rx-hangs-on-short-mad", expected=["FUZZ-18"])
class HangsOnShortMad(WireFault):
    """Management waits for the rest of a datagram that is too short."""

    _hangs = False

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth, packet = bth_of(frame), parse(frame)
        if bth is not None and packet is not None and bth.dest_qpn == _MANAGEMENT_QPN:
            self._hangs |= len(packet.payload) < _MAD_BYTES
        return [] if self._hangs else [frame]


@faulty_rc_responder("rc-receive-before-sequence", expected=["FUZZ-20"])
class ReceiveBeforeSequence(RcResponder):
    """Whether there is a receive is looked at before the opcode sequence."""

    def refusal_of(self, request: Segment, row: Opcode) -> Refusal | None:
        refusal = self.check_resources(request, row)
        return refusal if refusal == self.rnr() else super().refusal_of(request, row)
