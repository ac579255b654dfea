# SPDX-License-Identifier: BSD-2-Clause
"""A queue pair of the device and the case at its other end, in both roles."""

from dataclasses import replace
from typing import Any

from roceproof.conformance.suite.limits.within_limits import allowed_values
from roceproof.conformance.suite.peer import Peer
from roceproof.conformance.suite.requester_side import RequesterSide
from roceproof.conformance.suite.responder_side import ResponderSide
from roceproof.verbs.queue_pair import QpSpec

_TRIES = 7  # as a code of RNR retries without end


class Connection(RequesterSide, ResponderSide):
    """One queue pair, from the case's side. Made by `Bench.connect`."""

    def spec_of_the_other_end(self) -> QpSpec:
        """The queue pair as its peer would have it, who tries as often as can be said."""
        return replace(
            self.spec,
            remote=self._exchange.target.host_for(self.spec),
            remote_qpn=self.qp.qpn,
            local_qpn=self.spec.remote_qpn,
            sq_psn=self.spec.rq_psn,
            rq_psn=self.spec.sq_psn,
            max_rd_atomic=self.spec.max_dest_rd_atomic,
            max_dest_rd_atomic=self.spec.max_rd_atomic,
            retry_count=_TRIES,
            rnr_retry=_TRIES,
        )

    def reconnect(self, *, straight: bool = False, **changes: Any) -> None:
        """Take the queue pair through RESET; unsaid PSNs are drawn anew.

        `straight` from the state that it is in, with no RESET in between; needs RESTART.
        """
        fresh = {name: self.random.randrange(1 << 24) for name in ("sq_psn", "rq_psn")}
        spec = replace(self.spec, **allowed_values(self._exchange.claims, changes, fresh))
        thought = changes.get("path_mtu", self.lengths.thought)
        is_sending = bool(self.under_way())
        qp = self._exchange.reopen(self.qp, spec, straight=straight, is_sending=is_sending)
        self._settle(qp, thought_mtu=thought)
        if isinstance(self.answer_with, Peer):
            self.serve()

    def restart(self) -> None:
        """Configure the queue pair again as it is, with no RESET in between; needs RESTART."""
        self._settle(self._exchange.target.restart(self.qp, self.spec))
        self._exchange.settle()
