# SPDX-License-Identifier: BSD-2-Clause
"""How work ended, in words, and what that says by itself."""

from __future__ import annotations

from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.work import Outcome

RETRY_EXCEEDED = "retry_exc_err"
NO_TIMER = "its timer ran out, and its timeout code is 0"
_NO_RESPONSE, _NEVER = 0xFF, "RTX-07"


def ended(outcome: Outcome, spec: QpSpec) -> str:
    """The status and what has decided it, where the device says so."""
    if outcome.syndrome is None:
        return outcome.status
    told = f"{outcome.status}, syndrome {outcome.syndrome:#04x}"
    return f"{told}: {NO_TIMER}" if rules_of_end(outcome, spec) else told


def rules_of_end(outcome: Outcome, spec: QpSpec) -> tuple[str, ...]:
    """What such an end breaks whatever was sent: without an answer only a timer can have come."""
    is_late = outcome.status == RETRY_EXCEEDED and outcome.syndrome == _NO_RESPONSE
    return (_NEVER,) if is_late and spec.ack_timeout == 0 else ()
