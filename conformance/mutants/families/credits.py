# SPDX-License-Identifier: BSD-2-Clause
"""Requesters that obey end-to-end credits in their own way."""

from dataclasses import replace
from typing import Any

from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.mutants.faulty import faulty_rc_requester
from roceproof.verbs.work import Op


@faulty_rc_requester("credits-gate-writes", expected=["CRED-04"])
class CreditsGateWrites(RcRequester):
    """A WRITE waits for credits, too."""

    def may_begin(self, work: Any) -> bool:
        gated = replace(work, op=Op.SEND) if work.op is Op.WRITE else work
        return super().may_begin(work) and self.has_credit(self.credits.admits_next(gated))


@faulty_rc_requester("credits-ignored", expected=["CRED-03"])
class CreditsIgnored(RcRequester):
    """Credits are not counted."""

    def has_credit(self, admitted: bool) -> bool:
        return True


@faulty_rc_requester("credits-of-new-acks-only", expected=["CRED-05"])
class CreditsOfNewAcksOnly(RcRequester):
    """Credits are taken from an ACK only if it acknowledges something new."""

    def note_credits(self, psn: int, aeth: Any) -> None:
        if self.window.holds(psn):
            super().note_credits(psn, aeth)
