# SPDX-License-Identifier: BSD-2-Clause
"""How often an RC requester may try again before it gives up."""

from roceproof.conformance.model.requester.policy import NakRetries, RequesterPolicy, Retransmission
from roceproof.verbs.queue_pair import QpSpec

_RNR_WITHOUT_END = 7


class Retries:
    """The two counters of one queue pair; progress restores both (RTX-06)."""

    def __init__(self, spec: QpSpec, policy: RequesterPolicy) -> None:
        self._repeats = policy.retransmission is Retransmission.GO_BACK_N
        self._naks_are_free = policy.nak_retries is NakRetries.FREE
        self._spec = spec
        self.restore()

    def restore(self) -> None:
        self._left = self._spec.retry_count
        self._rnr_left = self._spec.rnr_retry

    def after_timeout(self) -> bool:
        """Whether one more attempt may follow a timeout (RTX-05)."""
        self._left -= 1
        return self._repeats and self._left >= 0

    def after_nak(self) -> bool:
        """Whether one more attempt may follow a sequence NAK or an implied NAK."""
        return self._repeats if self._naks_are_free else self.after_timeout()

    def after_rnr_nak(self) -> bool:
        """Whether one more attempt may follow an RNR NAK; 7 stands for no end (RNR-05)."""
        self._rnr_left -= self._spec.rnr_retry != _RNR_WITHOUT_END
        return self._repeats and self._rnr_left >= 0
