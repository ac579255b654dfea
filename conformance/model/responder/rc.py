# SPDX-License-Identifier: BSD-2-Clause
"""The responder of a reliable connection: the decision procedure, step by step in its order.

    3  PSN: expected, duplicate or ahead
    4  an expected request clears the NAK that is pending
    5  opcode: sequence, support, permission          else NAK invalid request
    6  resources: a receive, a READ resource          else RNR NAK, NAK invalid request
    7  lengths and alignment                          else NAK invalid request
    8  R_Key, protection domain, rights, range        else NAK remote access error
    9  execute; expected PSN and MSN move on
   10  responses in order; an ACK if one is asked for

Steps 1 and 2 are `ingress`. Whoever owns the responder takes responses off it one by one,
as fast as the wire carries them, or all at once with `receive`.
"""

from enum import Enum, auto
from typing import Any

from roceproof.conformance.model.codes import AethType, NakCode, syndrome
from roceproof.conformance.model.receive_queue import Receive
from roceproof.conformance.model.responder.connected import (
    INVALID,
    LOCAL,
    MALFORMED,
    TOO_LONG,
    Refusal,
)
from roceproof.conformance.model.responder.policy import (
    AfterRnr,
    HalfSpace,
    LongSend,
    ReservedOpcode,
    Unasked,
)
from roceproof.conformance.model.responder.rc_answers import HOLDERS, Answer, Kept, held_span
from roceproof.conformance.model.responder.rc_checks import RcChecks
from roceproof.conformance.model.responder.rc_duplicates import RcDuplicates
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.wire.headers import AtomicEth, Reth
from roceproof.conformance.wire.opcodes import Opcode, Payload, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, distance

_HALF_SPACE = PSN_MODULUS // 2
_FETCH_ADD = 0x14
_WORD = 1 << 64


class Region(Enum):
    """Where a PSN lies, seen from the expected one."""

    EXPECTED = auto()
    DUPLICATE = auto()
    AHEAD = auto()


class PendingNak(Enum):
    """The NAK after which requests ahead are dropped."""

    SEQUENCE = auto()
    RNR = auto()


class RcResponder(RcDuplicates, RcChecks):
    """The receive side of one reliable connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pending_nak: PendingNak | None = None

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        if self.failed or self.is_ignored(request):
            return
        match self.region_of(request.bth.psn):
            case Region.EXPECTED:
                self.in_order(request)
            case Region.DUPLICATE:
                self.duplicate(request)
            case Region.AHEAD:
                self.out_of_sequence()

    def is_ignored(self, request: Segment) -> bool:
        """Whether the opcode alone drops the packet: responses are the requester's affair."""
        if request.row is not None and request.row.is_response:
            return True
        is_known = request.row is not None and self.is_supported(request.row)
        return not is_known and self.policy.reserved_opcode is ReservedOpcode.DROPPED

    # step 3: PSN

    def region_of(self, psn: int) -> Region:
        """Compare a PSN with the expected one."""
        steps = distance(psn, self.expected_psn)
        if steps == 0:
            return Region.EXPECTED
        if steps == -_HALF_SPACE and self.policy.half_space is HalfSpace.AHEAD:
            return Region.AHEAD
        return Region.DUPLICATE if steps < 0 else Region.AHEAD

    def out_of_sequence(self) -> None:
        """A request is missing: say so once."""
        if self.nak_is_pending():
            return
        self.pending_nak = PendingNak.SEQUENCE
        self.nak(self.expected_psn, syndrome(AethType.NAK, NakCode.PSN_SEQUENCE_ERROR))

    def nak_is_pending(self) -> bool:
        """Whether the requester was told already to come back to the expected PSN."""
        if self.pending_nak is PendingNak.RNR:
            return self.policy.after_rnr is AfterRnr.SILENT
        return self.pending_nak is PendingNak.SEQUENCE

    # steps 4 to 10: the expected request

    def in_order(self, request: Segment) -> None:
        self.pending_nak = None
        row = request.row
        if row is None or not request.is_whole(row):
            self.refuse(request, INVALID)
            return
        refusal = self.refusal_of(request, row)
        if refusal is not None:
            self.refuse(request, refusal)
            return
        self.execute(request, row)
        self.respond(request, row)

    def refuse(self, request: Segment, refusal: Refusal) -> None:
        """Say why at the request's PSN; only an RNR NAK leaves the queue pair alive."""
        if refusal.syndrome is not None:
            self.nak(request.bth.psn, refusal.syndrome)
        if refusal.syndrome == self.rnr().syndrome:
            self.pending_nak = PendingNak.RNR
        else:
            self.fail(refusal.status, self.receive_in_use(refusal))

    def receive_in_use(self, refusal: Refusal) -> Receive | None:
        """The receive at the head, if it is the fault; that of an open message is in use anyway."""
        is_local = refusal in (TOO_LONG, LOCAL, MALFORMED)
        return self.receives.take() if is_local and self.message is None else None

    @property
    def too_long(self) -> Refusal:
        """Of a SEND that its receive cannot hold."""
        is_invalid = self.policy.long_send is LongSend.INVALID
        return TOO_LONG if is_invalid else MALFORMED

    # step 9

    def execute(self, request: Segment, row: Opcode) -> None:
        """Do what is asked; the expected PSN and, at the end of a message, the MSN move on."""
        steps = held_span(request, row, self.spec.path_mtu)
        self.expected_psn = ahead(self.expected_psn, steps)
        self.anything_executed = True
        if row.position & Position.LAST:
            self.count_message()
        if row.family in HOLDERS:
            self.keep(Kept(request, row, self.msn, original=self.operate(request, row)))
        else:
            self.executed_psn = request.bth.psn
            self.execute_message(request, row)

    def count_message(self) -> None:
        self.msn = ahead(self.msn, 1)

    def keep(self, kept: Kept) -> None:
        """Occupy a resource; the oldest one makes room."""
        if len(self.kept) == self.spec.max_dest_rd_atomic:
            self.past.append(self.kept.popleft())
        self.kept.append(kept)

    def operate(self, request: Segment, row: Opcode) -> int:
        """Change memory as an atomic or ATOMIC WRITE says; what was there before."""
        atomic, reth = request.extension(AtomicEth), request.extension(Reth)
        if atomic is not None:
            original = self.memory.load(atomic.rkey, atomic.address)
            self.memory.store(
                atomic.rkey, atomic.address, self.atomic_result(row, atomic, original)
            )
            return original
        if reth is not None and row.payload is Payload.EIGHT:
            self.memory.store(reth.rkey, reth.address, int.from_bytes(request.payload, "little"))
        return 0

    def atomic_result(self, row: Opcode, atomic: AtomicEth, original: int) -> int:
        if row.value == _FETCH_ADD:
            return (original + atomic.swap_or_add) % _WORD
        return atomic.swap_or_add if original == atomic.compare else original

    # step 10

    def respond(self, request: Segment, row: Opcode) -> None:
        """Queue the data that was asked for, or an ACK if one was."""
        if row.family in HOLDERS:
            self.answer(Answer(self.kept[-1], request, self.msn))
        elif request.bth.ack_req or self.policy.unasked is Unasked.ACKNOWLEDGED:
            self.owe(request.bth.psn)
        else:
            self.owe_also(request.bth.psn)
