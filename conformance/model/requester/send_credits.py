# SPDX-License-Identifier: BSD-2-Clause
"""End-to-end credits as the requester sees them: how far its messages may go.

Messages are numbered from 1 as they begin (SSN). An AETH with MSN m and c credits admits
those that take a receive up to number m + c, so that a later one may admit no fewer. Before
the first AETH nothing is admitted. All others pass without a credit (CRED-04).
"""

from roceproof.conformance.model.codes import credits_of
from roceproof.conformance.model.requester.policy import FlowControl
from roceproof.conformance.model.segmentation import TAKE_RECEIVE, ahead
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.work import Work

_CREDIT_CODE = 31


class SendCredits:
    """The SSN of one queue pair, and the last that is admitted."""

    def __init__(self, flow_control: FlowControl) -> None:
        self._counts = flow_control is FlowControl.CREDITS
        self._begun = 0
        self._admitted: int | None = 0  # None: all

    def begin(self) -> None:
        self._begun = ahead(self._begun, 1)

    def admits_open(self, work: Work) -> bool:
        """Whether credits allow the message that began last."""
        return self._admits(work, self._begun)

    def admits_next(self, work: Work) -> bool:
        """Whether credits allow a message that begins now."""
        return self._admits(work, ahead(self._begun, 1))

    def update(self, aeth: Aeth) -> None:
        """An AETH of type ACK came, for whatever request."""
        granted = credits_of(aeth.syndrome & _CREDIT_CODE)
        if granted is None:
            self._admitted = None
            return
        admitted = ahead(aeth.msn, granted)
        if self._admitted is None or distance(admitted, self._admitted) > 0:
            self._admitted = admitted

    def _admits(self, work: Work, ssn: int) -> bool:
        if not self._counts or self._admitted is None or work.op not in TAKE_RECEIVE:
            return True
        return distance(ssn, self._admitted) <= 0
