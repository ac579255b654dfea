# SPDX-License-Identifier: BSD-2-Clause
"""Steps 5 to 8 of an RC responder: what an expected request must pass, in this order."""

from collections.abc import Callable

from roceproof.conformance.model.codes import AethType, syndrome
from roceproof.conformance.model.memory import ATOMIC_BYTES
from roceproof.conformance.model.responder.connected import (
    ACCESS,
    INVALID,
    Refusal,
    needs_receive,
    right_for,
)
from roceproof.conformance.model.responder.policy import (
    InvalidateFault,
    Persistence,
    ReadOverLimit,
    SeveralFaults,
)
from roceproof.conformance.model.responder.rc_answers import HOLDERS
from roceproof.conformance.model.responder.rc_responses import RcResponses
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.headers import AtomicEth, Feth, Ieth, Reth
from roceproof.conformance.wire.opcodes import Family, Opcode, Payload

_RANGE = 0
_Check = Callable[[Segment, Opcode], Refusal | None]
_SILENT_ERROR = Refusal(None, "loc_qp_op_err")


class RcChecks(RcResponses):
    """Each check gives the refusal of a request that does not pass; the checks change nothing."""

    def refusal_of(self, request: Segment, row: Opcode) -> Refusal | None:
        """What is wrong with the request, or one of the things that are."""
        if not (self.follows(row) and self.is_supported(row)):
            return INVALID
        return self.one_refusal(
            request,
            row,
            self.check_permission,
            self.check_resources,
            self.check_length,
            self.check_memory,
            self.check_invalidate,
        )

    def one_refusal(self, request: Segment, row: Opcode, *checks: _Check) -> Refusal | None:
        """What one of those checks says that the request does not pass."""
        said = dict.fromkeys(check(request, row) for check in checks)
        refusals = [each for each in said if each is not None]
        if len(refusals) < 2:
            return refusals[0] if refusals else None
        chosen = {SeveralFaults.FIRST: 0, SeveralFaults.SECOND: 1, SeveralFaults.LAST: -1}
        return refusals[chosen[self.policy.several_faults]]

    # step 5

    def is_supported(self, row: Opcode) -> bool:
        is_optional = row.family is Family.FLUSH or row.payload is Payload.EIGHT
        if not self.has(row):
            return False
        return not is_optional or self.policy.persistence is Persistence.SUPPORTED

    # step 6

    def check_resources(self, _request: Segment, row: Opcode) -> Refusal | None:
        """Whether there is a receive, and a resource to answer from."""
        if needs_receive(row) and not len(self.receives):
            return self.rnr()
        if row.family in HOLDERS and not self.resource_is_free():
            return INVALID
        return None

    def resource_is_free(self) -> bool:
        """Whether a READ or atomic can be answered beside those that are being answered."""
        limit = self.spec.max_dest_rd_atomic
        if self.policy.read_over_limit is ReadOverLimit.RECYCLED:
            return limit > 0
        return sum(not kept.answered for kept in self.kept) < limit

    # step 7

    def check_length(self, request: Segment, row: Opcode) -> Refusal | None:
        """Sizes of all requests, and the alignment of atomics."""
        refusal = super().check_length(request, row)
        if refusal is not None:
            return refusal
        atomic, reth = request.extension(AtomicEth), request.extension(Reth)
        if atomic is not None:
            return self.check_alignment(atomic.address)
        if row.payload is Payload.EIGHT and reth is not None:
            return INVALID if reth.length != ATOMIC_BYTES else self.check_alignment(reth.address)
        return None

    def check_alignment(self, address: int) -> Refusal | None:
        """Atomics act on whole words of eight bytes."""
        return INVALID if address % ATOMIC_BYTES else None

    # step 8

    def check_memory(self, request: Segment, row: Opcode) -> Refusal | None:
        """Whether the operation may touch the memory that it names."""
        atomic, reth, right = request.extension(AtomicEth), request.extension(Reth), right_for(row)
        if row.family not in HOLDERS or right is None:
            return super().check_memory(request, row)
        if atomic is not None:
            return self.check_access(atomic.rkey, atomic.address, ATOMIC_BYTES, right)
        assert reth is not None
        if row.family is Family.FLUSH:
            reth = self.flushed(request, reth)
        return self.check_access(reth.rkey, reth.address, reth.length, right)

    def flushed(self, request: Segment, reth: Reth) -> Reth:
        """What FLUSH concerns: the range that it names, or the whole region."""
        header, region = request.extension(Feth), self.memory.region(reth.rkey)
        selectivity = header.word >> 4 & 3 if header is not None else _RANGE
        if selectivity == _RANGE or region is None:
            return reth
        return Reth(region.addr, region.rkey, region.size)

    def check_invalidate(self, request: Segment, _row: Opcode) -> Refusal | None:
        """Whether the key that shall become invalid can."""
        header = request.extension(Ieth)
        if header is None or self.can_invalidate(header.rkey):
            return None
        return {
            InvalidateFault.DELIVERED: None,
            InvalidateFault.SILENT_ERROR: _SILENT_ERROR,
            InvalidateFault.REFUSED: ACCESS,
        }[self.policy.invalidate_fault]

    def rnr(self) -> Refusal:
        """The refusal that asks to come again later."""
        return Refusal(syndrome(AethType.RNR_NAK, self.spec.min_rnr_timer), "")
