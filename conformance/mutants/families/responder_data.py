# SPDX-License-Identifier: BSD-2-Clause
"""Responders with faults in how they answer READs and atomics."""

from dataclasses import replace

from roceproof.conformance.model.responder.connected import ACCESS, INVALID, OpenMessage, Refusal
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.model.responder.rc_answers import READ_RESPONSE, Answer, Kept, response
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import faulty_rc_responder
from roceproof.conformance.mutants.frames import bth_of, with_stale_pad
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.wire.headers import Aeth, AtomicEth, Reth
from roceproof.conformance.wire.opcodes import Family, Opcode, Position

_FETCH_ADD = 0x14
_LOW_HALF = (1 << 32) - 1


@wire_mutant("rc-read-pad-of-stale-bytes", expected=["PAD-02"])
class PadOfStaleBytes(WireFault):
    """The pad of a READ response is what memory holds behind its bytes."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        if bth is None or bth.opcode not in READ_RESPONSE.values():
            return [frame]
        return [with_stale_pad(frame, bth.pad_count)]


@faulty_rc_responder("rc-read-count-floored", expected=["READ-02"])
class ReadCountFloored(RcResponder):
    """The number of responses is the length over the path MTU, rounded down."""

    def next_read_response(self, answer: Answer) -> Segment:
        packet = super().next_read_response(answer)
        reth = answer.request.extension(Reth)
        whole = 0 if reth is None else reth.length // self.spec.path_mtu
        if answer.sent == max(1, whole) and self.answers and self.answers[0] is answer:
            self.finish_answer(answer)
        return packet


@faulty_rc_responder("rc-read-overtakes-writes", expected=["READ-08"])
class ReadOvertakesWrites(RcResponder):
    """READ data are fetched before the WRITE in front of the READ is in memory."""

    before: tuple[int, bytes] = (0, b"")

    def place(self, message: OpenMessage, data: bytes) -> None:
        region = self.memory.region(message.rkey)
        if region is not None and data:
            self.before = message.rkey, region.read(0, region.size)
        super().place(message, data)

    def read_memory(self, reth: Reth, at: int, size: int) -> bytes:
        rkey, held = self.before
        region = self.memory.region(reth.rkey)
        if region is None or rkey != reth.rkey:
            return super().read_memory(reth, at, size)
        return held[reth.address + at - region.addr :][:size]


@faulty_rc_responder("rc-read-payload-passed-over", expected=["MTU-06"])
class ReadPayloadPassedOver(RcResponder):
    """Whatever a READ request carries behind its headers is not looked at."""

    def is_size_admitted(self, request: Segment, row: Opcode) -> bool:
        return row.family is Family.READ or super().is_size_admitted(request, row)


@faulty_rc_responder("rc-acknowledges-what-never-came", expected=["DUP-12"])
class AcknowledgesWhatNeverCame(RcResponder):
    """A duplicate before the first request is acknowledged at its own PSN."""

    def acknowledge_duplicate(self, request: Segment) -> None:
        if self.anything_executed:
            super().acknowledge_duplicate(request)
        else:
            self.acknowledge(request.bth.psn)


@faulty_rc_responder("rc-read-numbered-from-the-last", expected=["PSN-20"])
class ReadNumberedFromTheLast(RcResponder):
    """READ data are numbered on from the last request that was acknowledged."""

    def next_read_response(self, answer: Answer) -> Segment:
        packet = super().next_read_response(answer)
        return replace(packet, bth=replace(packet.bth, psn=ahead(packet.bth.psn, -1)))


@faulty_rc_responder("rc-empty-read-unanswered", expected=["READ-03"])
class EmptyReadUnanswered(RcResponder):
    """A READ of no bytes has no response."""

    def respond(self, request: Segment, row: Opcode) -> None:
        reth = request.extension(Reth)
        if row.family is not Family.READ or reth is None or reth.length:
            super().respond(request, row)


@faulty_rc_responder("rc-reads-not-counted", expected=["READ-06"])
class ReadsNotCounted(RcResponder):
    """A READ beyond the resources takes that of an older one."""

    def resource_is_free(self) -> bool:
        return True

    def keep(self, kept: Kept) -> None:
        if self.kept and len(self.kept) >= self.spec.max_dest_rd_atomic:
            self.kept.popleft()
        self.kept.append(kept)


@faulty_rc_responder("rc-read-overtaken", expected=["READ-08"])
class ReadOvertaken(RcResponder):
    """ACKs of what follows a READ leave while its data are still fetched."""

    def next_response(self) -> Segment | None:
        waiting = [answer for answer in self.answers if isinstance(answer, Segment)]
        if not waiting:
            return super().next_response()
        self.answers.remove(waiting[0])
        return waiting[0]


@faulty_rc_responder("rc-read-goes-on", expected=["READ-09"])
class ReadGoesOn(RcResponder):
    """A READ whose memory goes away goes on with zeros."""

    def break_off(self, answer: Answer) -> Segment:
        psn, middle = answer.psn, READ_RESPONSE[Position.MIDDLE]
        answer.sent += 1
        aeth = Aeth(self.ack_syndrome(), answer.msn)
        data = bytes(self.spec.path_mtu)
        return response(self.spec.remote_qpn, middle, psn, aeth, data=data)


@faulty_rc_responder("rc-read-needs-ackreq", expected=["READ-11"])
class ReadNeedsAckreq(RcResponder):
    """A READ without AckReq is not answered."""

    def respond(self, request: Segment, row: Opcode) -> None:
        if request.bth.ack_req or row.family is not Family.READ:
            super().respond(request, row)


@faulty_rc_responder("rc-atomic-returns-the-new", expected=["ATOM-02"])
class AtomicReturnsTheNew(RcResponder):
    """An atomic is answered with what is in memory afterwards."""

    def operate(self, request: Segment, row: Opcode) -> int:
        original = super().operate(request, row)
        atomic = request.extension(AtomicEth)
        return original if atomic is None else self.memory.load(atomic.rkey, atomic.address)


@faulty_rc_responder("rc-atomic-anywhere", expected=["ATOM-03"])
class AtomicAnywhere(RcResponder):
    """The low bits of an atomic's address are not read."""

    def check_alignment(self, address: int) -> Refusal | None:
        return None


@faulty_rc_responder("rc-adder-of-32-bits", expected=["ATOM-04"])
class AdderOf32Bits(RcResponder):
    """FETCH ADD has an adder of 32 bits."""

    def atomic_result(self, row: Opcode, atomic: AtomicEth, original: int) -> int:
        result = super().atomic_result(row, atomic, original)
        if row.value != _FETCH_ADD:
            return result
        return original & ~_LOW_HALF | result & _LOW_HALF


@faulty_rc_responder("rc-swap-without-compare", expected=["ATOM-04"])
class SwapWithoutCompare(RcResponder):
    """CMP SWAP always swaps."""

    def atomic_result(self, row: Opcode, atomic: AtomicEth, original: int) -> int:
        if row.value == _FETCH_ADD:
            return super().atomic_result(row, atomic, original)
        return atomic.swap_or_add


@faulty_rc_responder("rc-atomic-needs-ackreq", expected=["ATOM-05"])
class AtomicNeedsAckreq(RcResponder):
    """An atomic without AckReq is not answered."""

    def respond(self, request: Segment, row: Opcode) -> None:
        if request.bth.ack_req or row.family is not Family.ATOMIC:
            super().respond(request, row)


@faulty_rc_responder("rc-atomic-codes-exchanged", expected=["ATOM-07"])
class AtomicCodesExchanged(RcResponder):
    """An atomic that memory forbids draws the NAK for an invalid request."""

    def check_memory(self, request: Segment, row: Opcode) -> Refusal | None:
        refusal = super().check_memory(request, row)
        return INVALID if refusal is ACCESS and row.family is Family.ATOMIC else refusal
