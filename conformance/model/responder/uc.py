# SPDX-License-Identifier: BSD-2-Clause
"""The responder of an unreliable connection: a message arrives whole or not at all.

It never answers. A gap, a fault or a new FIRST or ONLY ends the open message, and while
none is open a MIDDLE or LAST is dropped. A message may begin at any PSN.
"""

from roceproof.conformance.model.responder.connected import (
    INVALID,
    TOO_LONG,
    ConnectedResponder,
    Refusal,
    needs_receive,
)
from roceproof.conformance.model.responder.policy import LongUnreliableSend
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.wire.opcodes import Opcode, Position


class UcResponder(ConnectedResponder):
    """Decides on one request after the other."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        """Take a request; no answer ever follows."""
        row = request.row
        if row is None or self.failed:
            return
        if request.bth.psn != self.expected_psn or row.position & Position.FIRST:
            self.abandon()
        self.expected_psn = ahead(request.bth.psn, 1)
        refusal = self.refusal_of(request, row) if self.follows(row) else INVALID
        if refusal is None:
            self.execute_message(request, row)
        elif refusal is TOO_LONG and self.policy.long_unreliable_send is LongUnreliableSend.FATAL:
            self.fail(refusal.status, None if self.message else self.receives.take())
        else:
            self.abandon()

    def refusal_of(self, request: Segment, row: Opcode) -> Refusal | None:
        """What is wrong with the packet, if anything is."""
        if not self.has(row):
            return INVALID
        checks = self.check_permission, self.check_receive, self.check_length, self.check_memory
        return next((said for check in checks if (said := check(request, row))), None)

    def check_receive(self, _request: Segment, row: Opcode) -> Refusal | None:
        """Whether there is a receive, if the packet takes one."""
        return INVALID if needs_receive(row) and not len(self.receives) else None
