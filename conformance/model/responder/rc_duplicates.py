# SPDX-License-Identifier: BSD-2-Clause
"""Requests that an RC responder has executed already: acknowledged, read again, replayed.

Their place behind other opcodes is not looked at, and the open message does not notice them.
"""

from collections.abc import Callable
from typing import Any

from roceproof.conformance.model.responder.policy import (
    BeforeFirst,
    DuplicateAck,
    OddReread,
    PastRequest,
    ReplayMsn,
    UnaskedDuplicate,
    UnsupportedDuplicate,
)
from roceproof.conformance.model.responder.rc_answers import HOLDERS, Answer, Kept
from roceproof.conformance.model.responder.rc_responses import RcResponses
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.wire.opcodes import Family


class RcDuplicates(RcResponses):
    """Step 3 of the procedure, where the PSN lies behind the expected one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.executed_psn: int | None = None  # the latest of a SEND or WRITE
        self.anything_executed = False

    def duplicate(self, request: Segment) -> None:
        """A request that was executed already."""
        row = request.row
        if row is None:
            return
        is_lacking = not self.has(row)
        if is_lacking and self.policy.unsupported_duplicate is UnsupportedDuplicate.DROPPED:
            return
        if row.family is Family.READ:
            self.reread(request)
        elif row.family in HOLDERS:
            self.replay(request)
        else:
            self.acknowledge_duplicate(request)

    def acknowledge_duplicate(self, request: Segment) -> None:
        """A SEND or WRITE again: nothing happens, but the requester is told."""
        asked = request.bth.ack_req
        if not asked and self.policy.unasked_duplicate is UnaskedDuplicate.DROPPED:
            return
        if self.executed_psn is None and self.policy.before_first is BeforeFirst.UNNAMED:
            return
        if self.anything_executed:
            self.owe_repeated(self.duplicate_ack_psn(request))
        elif self.policy.before_first is BeforeFirst.ACKNOWLEDGED:
            self.acknowledge(ahead(self.expected_psn, -1))

    def duplicate_ack_psn(self, request: Segment) -> int:
        if self.policy.duplicate_ack is DuplicateAck.OWN or self.executed_psn is None:
            return request.bth.psn
        return self.executed_psn

    def reread(self, request: Segment) -> None:
        """A READ again: executed again on the memory of now, if it asks for nothing new."""
        path_mtu = self.spec.path_mtu
        kept = self.remembered(lambda kept: kept.covers(request, path_mtu))
        is_odd = kept is not None and not kept.goes_on_as(request, path_mtu)
        if is_odd and self.policy.odd_reread is OddReread.DROPPED:
            return
        if kept is not None:
            self.answer(Answer(kept, request, self.msn))

    def replay(self, request: Segment) -> None:
        """An atomic again: answered with what was kept, not executed."""
        kept = self.remembered(lambda kept: kept.is_repeated_by(request))
        if kept is not None:
            is_saved = self.policy.replay_msn is ReplayMsn.SAVED
            self.answer(Answer(kept, request, kept.msn if is_saved else self.msn))

    def remembered(self, is_meant: Callable[[Kept], bool]) -> Kept | None:
        """What comes again, of those that hold a place or, perhaps, have held one."""
        kept = next(filter(is_meant, self.kept), None)
        past = None if kept is not None else next(filter(is_meant, self.past), None)
        if past is not None and self.policy.past_request is PastRequest.REMEMBERED:
            return past
        return kept
