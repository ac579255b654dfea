# SPDX-License-Identifier: BSD-2-Clause
"""The half of the RC requester that keeps count: progress, timers, retries, and the end.

What acknowledges moves the window's oldest PSN forward, what asks for a repetition moves
its next PSN back to the oldest. One restart is enough until there is progress or a timeout
(RTX-09). Each method is one sentence of the specification.
"""

from roceproof.conformance.model.codes import ack_timeout_ns, rnr_wait_ns
from roceproof.conformance.model.requester.policy import RequesterPolicy, Reread, RnrAgain
from roceproof.conformance.model.requester.rc_sender import RcSender
from roceproof.conformance.model.requester.retries import Retries
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.work import Op


class RcRecovery(RcSender):
    """What happens to the window of a reliable connection."""

    def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
        super().__init__(spec, policy)
        self.retries = Retries(spec, self.policy)
        self._timeout_at: int | None = None
        self._has_restarted = False  # for a NAK, since the last progress or timeout
        self._was_told_to_wait = False  # by an RNR NAK, since the last progress

    # time

    def next_request(self, now_ns: int) -> Segment | None:
        """A packet that leaves starts the timer, if it does not run."""
        segment = super().next_request(now_ns)
        if segment is not None and self._timeout_at is None:
            self._timeout_at = self.timeout_from(now_ns)
        return segment

    def next_deadline(self) -> int | None:
        times = [time for time in (super().next_deadline(), self._timeout_at) if time is not None]
        return min(times, default=None)

    def expire(self, now_ns: int) -> None:
        if self._timeout_at is not None and now_ns >= self._timeout_at:
            self.timeout()

    def timeout_from(self, now_ns: int) -> int | None:
        """When a timer that starts now is noticed, None if there is none (RTX-07)."""
        timeout = ack_timeout_ns(self.spec.ack_timeout)
        return None if timeout is None else now_ns + timeout * self.policy.timeout_percent // 100

    # progress

    def all_before(self, psn: int, now_ns: int) -> bool:
        """Every request before that PSN was executed (ACK-05, ACK-13, NAK-06, NAK-10, RNR-10).

        If data should have come before it and have not, that is an implied NAK (RTX-18): the
        window moves to the first that are missing, and the answer is False.
        """
        missing = self.window.data_missing_before(psn)
        self.progress(psn if missing is None else missing, now_ns)
        if missing is not None:
            self.implied_nak(now_ns)
        return missing is None

    def progress(self, psn: int, now_ns: int) -> None:
        """All before that PSN is answered: restore the counters and wait anew for the rest."""
        if distance(psn, self.window.oldest) <= 0:
            return
        for message in self.window.answered_before(psn):
            self.answers.forget(message)
            self.complete(message.work, "success")
        self.retries.restore()
        self._has_restarted = self._was_told_to_wait = False
        waits = self.window.outstanding > 0 and now_ns >= self.not_before
        self._timeout_at = self.timeout_from(now_ns) if waits else None

    # repetition

    def timeout(self) -> None:
        """No answer in time: again from the oldest PSN without one (RTX-02, RTX-05)."""
        self._has_restarted = False
        if self.retries.after_timeout():
            self.go_back()
        else:
            self.fail("retry_exc_err")

    def sequence_nak(self, psn: int, now_ns: int) -> None:
        """The responder waits for that PSN (RTX-08); after an RNR NAK, it comes in time anyway."""
        if self.all_before(psn, now_ns) and now_ns >= self.not_before:
            self.retry_at_once()

    def implied_nak(self, now_ns: int) -> None:
        """Data are missing at the oldest PSN."""
        if now_ns >= self.not_before:
            self.retry_at_once()

    def retry_at_once(self) -> None:
        """Restart for a NAK, once (RTX-09)."""
        if self._has_restarted:
            return
        if self.retries.after_nak():
            self._has_restarted = True
            self.go_back()
        else:
            self.fail("retry_exc_err")

    def rnr_nak(self, psn: int, timer_code: int, now_ns: int) -> None:
        """The responder has no receive: wait, then again from that PSN (RNR-03, RNR-04).

        Until then there is no ACK timer (RNR-11), and the same NAK again does as `RnrAgain` says.
        """
        if not self.all_before(psn, now_ns):
            return
        is_again = self._was_told_to_wait and now_ns < self.not_before
        if is_again and self.policy.rnr_again is RnrAgain.IGNORED:
            return
        if self.retries.after_rnr_nak():
            self._was_told_to_wait = True
            self.not_before = now_ns + self.rnr_wait(timer_code)
            self._has_restarted = False
            self.go_back()
        else:
            self.fail("rnr_retry_exc_err")

    def rnr_wait(self, timer_code: int) -> int:
        """How long nothing is sent."""
        return rnr_wait_ns(timer_code)

    def go_back(self) -> None:
        """Send again from the oldest PSN without an answer on (RTX-04), READs as `Reread` says."""
        self._timeout_at = None
        self.window.go_back(self.restart_point())

    def restart_point(self) -> int:
        """The PSN that leaves next."""
        oldest = self.window.oldest
        message = self.window.message_at(oldest)
        whole = message.work.op is Op.READ and self.policy.reread is Reread.WHOLE
        return message.first_psn if whole else oldest

    # the end

    def fatal_nak(self, psn: int, status: str, now_ns: int) -> None:
        """The responder refuses that request for good (NAK-09); those before it count (NAK-10)."""
        if self.all_before(psn, now_ns):
            self.fail(status)

    def fail(self, status: str) -> None:
        """The oldest message ends in error, those behind it are flushed, nothing is sent."""
        self.complete(self.window.messages.popleft().work, status)
        self.flush()

    def flush(self) -> None:
        """Move to ERR, where no timer runs."""
        self._timeout_at = None
        super().flush()
        assert self.state is State.ERR
