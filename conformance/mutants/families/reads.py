# SPDX-License-Identifier: BSD-2-Clause
"""Requesters that ask for too many READs, and believe any answer to them."""

from dataclasses import replace

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import faulty_rc_requester
from roceproof.conformance.mutants.faulty_requesters import CopiesDiffer, made_of
from roceproof.conformance.mutants.frames import bth_of, edited
from roceproof.conformance.mutants.wire import WireFault, model_mutant, wire_mutant
from roceproof.conformance.wire.frame_edits import Edit, layout_of, resize
from roceproof.conformance.wire.headers import Reth
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.work import Op

_READ_REQUEST, _ACKNOWLEDGE, _CMP_SWAP = 0x0C, 0x11, 0x13
_FIRST, _MIDDLE, _LAST = 0x0D, 0x0E, 0x0F
_SWAP_AT, _COMPARE_AT, _OPERAND = 32, 40, 8  # from the UDP header


class OneOpcode(WireFault):
    """Changes every request of one opcode that leaves."""

    opcode: int
    edit: Edit

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        is_ours = bth is not None and bth.opcode == self.opcode
        return [edited(frame, type(self).edit) if is_ours else frame]


@wire_mutant("read-request-with-payload", expected=["READ-01"])
class ReadWithPayload(OneOpcode):
    """A READ request leaves with the first bytes of the payload stream behind its RETH."""

    opcode = _READ_REQUEST
    edit = staticmethod(resize(4, filler=0xEE))


def exchange_operands(frame: bytearray) -> None:
    """Swap and compare change places."""
    at = layout_of(frame).udp
    swap, compare = at + _SWAP_AT, at + _COMPARE_AT
    first, second = frame[swap:compare], frame[compare : compare + _OPERAND]
    frame[swap:compare], frame[compare : compare + _OPERAND] = second, first


@wire_mutant("atomic-operands-exchanged", expected=["ATOM-01"])
class OperandsExchanged(OneOpcode):
    """Compare and swap stand in each other's place."""

    opcode = _CMP_SWAP
    edit = staticmethod(exchange_operands)


@faulty_rc_requester("read-depth-ignored", expected=["READ-05"])
class ReadsDoNotWait(RcRequester):
    """READs leave without regard to the initiator depth."""

    def may_ask_for_data(self) -> bool:
        return True


@faulty_rc_requester("read-response-unchecked", expected=["READ-07", "FUZZ-13"])
class BelievesReadResponses(RcRequester):
    """Neither opcode nor length of a READ response is looked at."""

    def read_response(self, segment: Segment, now_ns: int) -> None:
        message = self.window.message_at(segment.bth.psn)
        if message.work.op is Op.READ and segment.bth.psn == self.window.oldest:
            at = message.offset(segment.bth.psn) * self.spec.path_mtu
            if message.work.into is not None:
                message.work.into.write(at, segment.payload)
            self.progress(ahead(segment.bth.psn, 1), now_ns)


@faulty_rc_requester("answer-of-any-kind-completes", expected=["FUZZ-12", "READ-07", "AETH-05"])
class AnyAnswerCompletes(RcRequester):
    """Whatever comes with the right PSN completes the request."""

    def unexpected(self) -> None:
        self.progress(self.window.fresh, self.not_before)


@faulty_rc_requester("read-placed-by-count", expected=["READ-10", "RTX-19"])
class PlacesByCount(RcRequester):
    """READ data are placed by the number of responses that came."""

    _count = 0

    def read_response(self, segment: Segment, now_ns: int) -> None:
        message = self.window.message_at(segment.bth.psn)
        into, place = message.work.into, message.offset(segment.bth.psn)
        super().read_response(segment, now_ns)
        if into is not None and self._count != place:
            into.write(place * self.spec.path_mtu, bytes(len(segment.payload)))
        self._count += 1


@faulty_rc_requester("reread-keeps-the-address", expected=["RTX-17"])
class RereadsFromOldAddress(CopiesDiffer):
    """A READ asked for again moves its PSN, but not its address."""

    def corrupted(self, segment: Segment) -> Segment:
        reth = segment.extension(Reth)
        if segment.bth.opcode != 0x0C or reth is None:
            return segment
        first = self.window.message_at(segment.bth.psn).work.remote_addr
        return replace(segment, extensions=(replace(reth, address=first),))


@faulty_rc_requester("read-without-data-completes", expected=["RTX-18"])
class NoImpliedNak(RcRequester):
    """An ACK beyond a READ completes it."""

    def all_before(self, psn: int, now_ns: int) -> bool:
        self.progress(psn, now_ns)
        return True


class EndsWithSuccess(RcRequester):
    def ends(self) -> None:
        self.complete(self.window.messages.popleft().work, "success")
        self.flush()


@faulty_rc_requester("read-ends-by-an-old-ack", expected=["FUZZ-11", "ACK-10"])
class OldAckEndsRead(EndsWithSuccess):
    """Behind an ACK of the past the next response to a READ is out of place, and the READ done."""

    _is_over = False

    def receive(self, segment: Segment, now_ns: int) -> None:
        opcode, window = segment.bth.opcode, self.window
        read = window.messages[0] if window.messages else None
        if read is not None and read.work.op is Op.READ and read.offset(window.oldest) > 0:
            is_old = distance(segment.bth.psn, window.oldest) < 0
            self._is_over |= opcode == _ACKNOWLEDGE and is_old
            if self._is_over and opcode in (_MIDDLE, _LAST):
                self.ends()
                return
        super().receive(segment, now_ns)


@model_mutant("reset-keeps-a-begun-read", expected=["QPS-04"])
def _reset_keeps_a_begun_read() -> Components:
    """A READ that had begun is remembered by the next connection, which refuses an ATOMIC ACK."""

    class Remembers(EndsWithSuccess):
        has_begun = False

        def read_response(self, segment: Segment, now_ns: int) -> None:
            type(self).has_begun = segment.bth.opcode in (_FIRST, _MIDDLE)
            super().read_response(segment, now_ns)

        def atomic_response(self, segment: Segment, now_ns: int) -> None:
            if self.has_begun:
                self.ends()
            else:
                super().atomic_response(segment, now_ns)

    return made_of(Remembers)
