# SPDX-License-Identifier: BSD-2-Clause
"""Helpers to declare model devices whose RC requester has a fault."""

from typing import Any

from roceproof.conformance.model.components import REQUESTERS, Components
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.verbs.service import Service


def made_of(requester: type[RcRequester], **policy: Any) -> Components:
    """A device with this RC requester."""
    return Components(
        requesters={**REQUESTERS, Service.RC: requester},
        requester_policy=RequesterPolicy(**policy),
    )


class CopiesDiffer(RcRequester):
    """What is sent again passes through `corrupted`."""

    def next_request(self, now_ns: int) -> Segment | None:
        """As a healthy requester, but for copies."""
        is_copy = self.window.replays
        segment = super().next_request(now_ns)
        return self.corrupted(segment) if is_copy and segment is not None else segment

    def corrupted(self, segment: Segment) -> Segment:
        """A copy as it leaves."""
        raise NotImplementedError
