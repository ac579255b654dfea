# SPDX-License-Identifier: BSD-2-Clause
"""How far end-to-end credits may have let a queue pair go, at most, in one of its lives."""

from __future__ import annotations

from roceproof.conformance.model.codes import credits_of
from roceproof.conformance.model.requester.rc import is_ack
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import TAKE_RECEIVE
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.wire.headers import Aeth
from roceproof.verbs.work import Op

_CREDIT_CODE = 31


class CreditBound:
    """Whatever a response offers is believed at once, so that no healthy device goes beyond."""

    def __init__(self) -> None:
        self._admitted: int | None = 0  # None: all
        self._reached = 0

    def heard(self, response: Segment, end: int) -> None:
        """A response that leaves nothing outstanding before a place, counted from the first PSN."""
        self._reached = max(self._reached, end)
        aeth = response.extension(Aeth)
        if aeth is None or not is_ack(aeth) or self._admitted is None:
            return
        granted = credits_of(aeth.syndrome & _CREDIT_CODE)
        self._admitted = None if granted is None else max(self._admitted, aeth.msn + granted)

    def against(self, op: Op, number: int, place: int) -> Violation | None:
        """What is wrong with a packet at that place, of that message, counted from 1 on.

        One message without a credit may leave.
        """
        if op not in TAKE_RECEIVE or self._admitted is None:
            return None
        if number <= self._admitted + 1 or place <= self._reached:
            return None
        return Violation(
            "CRED-03",
            f"no more than message {self._admitted + 1} by its credits, or none outstanding",
            f"message {number}",
        )
