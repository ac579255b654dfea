# SPDX-License-Identifier: BSD-2-Clause
"""How work ended, in words, and what that says by itself."""

from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.work import Outcome

RETRY_EXCEEDED = "retry_exc_err"
NO_TIMER = "its timer ran out, and its timeout code is 0"
_NO_RESPONSE, _NEVER = 0xFF, "RTX-07"
_KNOWN = {*range(0x40), *range(0x60, 0x65), _NO_RESPONSE}
"""Syndromes that are no reserved ones: ACK, RNR NAK and the five NAKs."""
_DECIDED = {
    RETRY_EXCEEDED: ((0x60,), "RTX-05"),
    "rnr_retry_exc_err": (range(0x20, 0x40), "RNR-05"),
    "rem_inv_req_err": ((0x61,), "NAK-09"),
    "rem_access_err": ((0x62,), "NAK-09"),
    "rem_op_err": ((0x63,), "NAK-09"),
    "wr_flush_err": ((), "NAK-09"),
}
"""Syndromes of the responses that end work so, and the rule for that end."""
_BY_A_NAK = _DECIDED.keys() - {RETRY_EXCEEDED, "wr_flush_err"}
_OF_DATA = {"loc_prot_err": "READ-10", "bad_resp_err": "READ-07"}
"""What a device says of data that it asked for: that their place is wrong, or they are."""


def ended(outcome: Outcome, spec: QpSpec, *, asks_data: bool = False) -> str:
    """The status and what has decided it, where the device says so; see `rules_of_end`."""
    if outcome.syndrome is None:
        return outcome.status
    told = f"{outcome.status}, syndrome {outcome.syndrome:#04x}"
    told += "" if outcome.syndrome in _KNOWN else " (reserved)"
    is_late = _NEVER in rules_of_end(outcome, spec, asks_data=asks_data)
    return f"{told}: {NO_TIMER}" if is_late else told


def rules_of_end(outcome: Outcome, spec: QpSpec, *, asks_data: bool = False) -> tuple[str, ...]:
    """What such an end breaks whatever was sent: without an answer only a timer can have come.

    Where the queue pair `asks_data`, by READs or atomics, it may hold some of that lost; what it
    says of their place or of themselves is wrong where they are right.
    """
    if asks_data and outcome.status in _OF_DATA:
        return (_OF_DATA[outcome.status],)
    is_late = outcome.status == RETRY_EXCEEDED and outcome.syndrome == _NO_RESPONSE
    return (_NEVER,) if is_late and spec.ack_timeout == 0 and not asks_data else ()


def wrong_syndrome(outcome: Outcome) -> tuple[str, str] | None:
    """That no response with its syndrome ends work as it says, and the rule for that end."""
    syndromes, rule = _DECIDED.get(outcome.status, (range(_NO_RESPONSE), ""))
    said = outcome.syndrome
    is_by_none = said == _NO_RESPONSE and outcome.status not in _BY_A_NAK
    if said is None or is_by_none or said in syndromes:
        return None
    how = f"work ended with {outcome.status} and syndrome {said:#04x}"
    return f"{how}, with which no response ends work so; look at syndrome of cpl_o", rule


def posted_before(count: int) -> str:
    """What is told of work that completes while so much in front of it, late or lost, has not."""
    return f": {count} posted before it {'has' if count == 1 else 'have'} not completed"
