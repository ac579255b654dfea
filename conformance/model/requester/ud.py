# SPDX-License-Identifier: BSD-2-Clause
"""The UD requester: one packet per message, to whom the work request says."""

from roceproof.conformance.model.requester.uc import UcRequester
from roceproof.verbs.work import Work


class UdRequester(UcRequester):
    """The send side of an unreliable datagram queue pair."""

    def enqueue(self, work: Work) -> None:
        """Queue it; one that is longer than the path MTU is forgotten, and nobody is told."""
        if work.size > self.spec.path_mtu:
            self.complete(work, "success")
        else:
            super().enqueue(work)
