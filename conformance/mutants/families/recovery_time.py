# SPDX-License-Identifier: BSD-2-Clause
"""Requesters that wait too short or too long, and count their attempts wrongly."""

from roceproof.conformance.model.codes import ack_timeout_ns, rnr_wait_ns
from roceproof.conformance.model.components import Components
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.requester.retries import Retries
from roceproof.conformance.mutants.faulty import faulty, faulty_rc_requester
from roceproof.conformance.mutants.faulty_requesters import made_of
from roceproof.conformance.mutants.wire import model_mutant
from roceproof.verbs.queue_pair import QpSpec

_RNR_ALWAYS = 7


@model_mutant("timeout-too-early", expected=["RTX-01"])
def _too_early() -> Components:
    """T is 2^t microseconds: the 4.096 is missing."""
    return made_of(RcRequester, timeout_percent=24)


@model_mutant("timeout-too-late", expected=["RTX-01"])
def _too_late() -> Components:
    """A timeout is noticed by the eighth tick of T."""
    return made_of(RcRequester, timeout_percent=100_000)


@faulty_rc_requester("timeout-not-armed-at-the-end", expected=["RTX-11"])
class NeverLooks(RcRequester):
    """No timer runs once the queue of work is empty."""

    def timeout_from(self, now_ns: int) -> int | None:
        return (
            None
            if not self._posted and self.window.open_message is None
            else (super().timeout_from(now_ns))
        )


@faulty_rc_requester("timeout-code-0-is-short", expected=["RTX-07"])
class AlwaysLooks(RcRequester):
    """Timeout code 0 is the shortest timeout."""

    def timeout_from(self, now_ns: int) -> int | None:
        timeout = ack_timeout_ns(self.spec.ack_timeout or 1)
        return now_ns + 2 * (timeout or 0)


def counting(kind: type[Retries]) -> Components:
    """A requester with these counters."""

    class Counting(RcRequester):
        def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
            super().__init__(spec, policy)
            self.retries = kind(spec, self.policy)

    return made_of(Counting)


faulty_retries = faulty(counting)


@faulty_retries("retry-once-more", expected=["RTX-05"])
class OnceMore(Retries):
    """Retry count r allows r + 1 retries."""

    def restore(self) -> None:
        super().restore()
        self._left += 1


@faulty_retries("retry-7-is-infinite", expected=["RTX-05"])
class SevenIsAlways(Retries):
    """Retry count 7 has no end, as that of RNR."""

    def after_timeout(self) -> bool:
        return self._spec.retry_count == _RNR_ALWAYS or super().after_timeout()


@faulty_retries("retry-never-restored", expected=["RTX-06", "RNR-05"])
class NeverRestored(Retries):
    """The retry counters are loaded at connection set-up only."""

    _is_restored = False

    def restore(self) -> None:
        if not self._is_restored:
            super().restore()
        self._is_restored = True


@faulty_retries("rnr-retry-7-is-seven", expected=["RNR-05"])
class SevenIsSeven(Retries):
    """RNR retry count 7 allows seven retries."""

    def after_rnr_nak(self) -> bool:
        if self._spec.rnr_retry != _RNR_ALWAYS:
            return super().after_rnr_nak()
        self._rnr_left -= 1
        return self._rnr_left >= 0


@faulty_rc_requester("rnr-timer-in-other-units", expected=["RNR-03"])
class WaitsShort(RcRequester):
    """The RNR timer counts a tenth of what its table says."""

    def rnr_wait(self, timer_code: int) -> int:
        return rnr_wait_ns(timer_code) // 10


@faulty_rc_requester("rnr-code-0-is-no-wait", expected=["RNR-03"])
class ZeroIsShort(RcRequester):
    """RNR timer code 0 is no wait."""

    def rnr_wait(self, timer_code: int) -> int:
        return rnr_wait_ns(timer_code) if timer_code else 0
