# SPDX-License-Identifier: BSD-2-Clause
"""Failures that are no more than signs of what another finding tells."""

import re

from roceproof.conformance.runner.findings.root import Root
from roceproof.conformance.suite.reporting.failure_heads import REFUSAL, RNR, undue

_BEHIND_A_REFUSAL = re.compile(
    r"want receive \S+ done with success; got receive \S+ done with wr_flush_err"
    r"|^NAK came otherwise; psn: want|^opcode: want \w+, got NAK"
)
_RECEIVES_NOTHING = re.compile(r"want receive \S+ done with success; got nothing")
_TAKES_NO_RECEIVE = re.compile(
    r"want +RNR [^;]*; got +ACK|syndrome: want RNR, got 0x[01]"
    r"|want receives completed: "
)
_BEHIND_AN_RNR = re.compile(r"^RNR came otherwise; psn: want")


def with_signs(found: list[Root]) -> list[Root]:
    """What is no more than a sign of a finding with at least as many cases goes with that."""
    left = list(found)
    for root in found:
        causes = (
            each
            for each in left
            if each.head and follows(root.head, each.head) and len(each.cases) >= len(root.cases)
        )
        if cause := next(causes, None):
            cause.takes_sign(root)
            left = [each for each in left if each is not root]
    return left


def follows(head: str, cause: str) -> bool:
    """Whether a failure is no more than a sign of what another tells.

    A queue pair that has refused a request ends: its receives are flushed, and what is due later
    does not come. What an RNR NAK has refused is not executed, and refused once more. A message
    that completes no receive takes none, and the next completes it.
    """
    if undue(cause) == REFUSAL:
        return bool(_BEHIND_A_REFUSAL.search(head))
    if undue(cause) == RNR:
        return bool(_BEHIND_AN_RNR.search(head))
    return bool(_RECEIVES_NOTHING.search(cause) and _TAKES_NO_RECEIVE.search(head))
