# SPDX-License-Identifier: BSD-2-Clause
"""The responder of an unreliable connection: a message arrives whole or not at all.

It never answers. After any fault the rest of the message is dropped, and the next FIRST
or ONLY starts anew at whatever PSN it has.
"""

from __future__ import annotations

from typing import Any

from roceproof.conformance.model.connected_responder import (
    INVALID,
    ConnectedResponder,
    Refusal,
    needs_receive,
)
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.opcodes import Opcode, Position


class UcResponder(ConnectedResponder):
    """Decides on one request after the other."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dropping = False

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        """Take a request; no answer ever follows."""
        row = request.row
        if row is None or self.failed:
            return
        if request.bth.psn != self.expected_psn:
            self.note_gap()
        self.expected_psn = ahead(request.bth.psn, 1)
        if row.position & Position.FIRST:
            self.restart()
        elif self.dropping or not self.follows(row):
            self.drop_message()
            return
        if self.refusal_of(request, row) is not None:
            self.drop_message()
        else:
            self.execute_message(request, row)

    def note_gap(self) -> None:
        """PSNs are missing: what is open cannot become whole."""
        self.drop_message()

    def restart(self) -> None:
        """A message begins, whatever came before."""
        self.abandon()
        self.dropping = False

    def drop_message(self) -> None:
        """Nothing counts until the next message begins."""
        self.abandon()
        self.dropping = True

    def refusal_of(self, request: Segment, row: Opcode) -> Refusal | None:
        """What is wrong with the packet, if anything is."""
        return self.first_refusal(
            request, row, self.check_permission, self.check_receive, *self.length_and_memory()
        )

    def check_permission(self, _request: Segment, row: Opcode) -> Refusal | None:
        """Whether the queue pair allows it."""
        return None if self.is_permitted(row) else INVALID

    def check_receive(self, _request: Segment, row: Opcode) -> Refusal | None:
        """Whether there is a receive, if the packet takes one."""
        return INVALID if needs_receive(row) and not len(self.receives) else None
