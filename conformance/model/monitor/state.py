# SPDX-License-Identifier: BSD-2-Clause
"""One state that a requester beside the monitor may be in, and what it may send from there.

The state follows from the responses that the requester has taken in and from the packets
that it has sent. What it owes (a restart) and what it may do besides (a timeout, a READ asked
for again) are kept apart, since only the first makes another packet wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.model.monitor.sent import WireRecord
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.queue_pair import QpSpec

RNR_WITHOUT_END = 7
MOST_COUNTED = 8
"""More retries than any requester has: who counts more is in no other state."""


class Cause(Enum):
    """Why the packet that leaves next is one that has left before."""

    NAK = "the sequence NAK"
    RNR = "the RNR NAK"
    TIMEOUT = "the timeout"
    DATA = "the loss of data"


@dataclass(frozen=True, slots=True)
class Ignored:
    """A response that had to change nothing, and the rule that says so."""

    rule: str
    psn: int
    heard_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    """Immutable, so that states can be told apart and kept side by side."""

    oldest: int  # the first PSN without an answer
    cursor: int  # the PSN that leaves next
    taken_in: int = 0  # responses
    progress_ns: int = 0  # when the last answer came
    cause: Cause | None = None  # of the replay that is due or under way
    replay_from: int = 0
    owed_since: int | None = None  # a restart is due, and nothing was sent since
    may_restart: int | None = None  # for a loss there, from the oldest PSN on; nothing demands it
    not_before: int = 0  # the end of an RNR wait that must be kept
    waits_until: int = 0  # of one that may be kept
    has_restarted: bool = False  # for a NAK, since the last progress or timeout
    timeouts: int = 0  # restarts for a timeout since the last progress
    naks: int = 0  # what else may have used up a retry since then
    rnr_naks: int = 0  # those that did use up an RNR retry
    rnr_repeated: int = 0  # those that may have
    losses: int = 0  # restarts of all kinds since the start
    lost_before: bool = False  # whether any was before the last progress
    dead: str | None = None  # the rule that forbids to send anything
    may_be_dead: bool = False
    may_have_died: bool = False  # before the last progress, and nothing has left since
    ignored: Ignored | None = None

    # what responses do

    def misses_data(self) -> WatchState:
        """Data are lost at the oldest PSN, which may make it restart."""
        return replace(self, may_restart=self.oldest, naks=min(self.naks + 1, MOST_COUNTED))

    def progresses(self, psn: int, now_ns: int) -> WatchState:
        """All before that PSN has its answer: the counters are restored."""
        if distance(psn, self.oldest) <= 0:
            return self
        passed = distance(self.cursor, psn) < 0
        return replace(
            self,
            oldest=psn,
            cursor=psn if passed else self.cursor,
            replay_from=psn if passed else self.replay_from,
            progress_ns=now_ns,
            not_before=0 if passed else self.not_before,
            owed_since=None if passed else self.owed_since,
            has_restarted=False,
            may_be_dead=False,
            may_have_died=self.may_be_dead or self.may_have_died,
            ignored=None,
            lost_before=self.losses > 0,
            timeouts=0,
            naks=0,
            rnr_naks=0,
            rnr_repeated=0,
        )

    def owes_restart(self, cause: Cause, since_ns: int) -> WatchState:
        """The oldest PSN must leave next."""
        return replace(
            self,
            cursor=self.oldest,
            replay_from=self.oldest,
            cause=cause,
            owed_since=since_ns,
            may_restart=None,
            losses=min(self.losses + 1, MOST_COUNTED),
        )

    def times_out(self) -> WatchState:
        """Its timer has run out, and nothing has left since."""
        return replace(
            self,
            cursor=self.oldest,
            replay_from=self.oldest,
            cause=Cause.TIMEOUT,
            has_restarted=False,
            may_restart=None,
            timeouts=self.timeouts + 1,
        )

    def ignores(self, rule: str, psn: int, now_ns: int) -> WatchState:
        """A response changes nothing, by that rule."""
        return replace(self, ignored=Ignored(rule, psn, now_ns))

    # what packets do

    def goes_on(self, end: int) -> WatchState:
        """The packet at the cursor has left, and with it the choice to restart is made."""
        return replace(self, cursor=end, owed_since=None, may_restart=None, may_have_died=False)

    def sends_new(self, end: int) -> WatchState:
        """A packet that never left before has left, so that no replay is under way."""
        return replace(self.goes_on(end), replay_from=end, cause=None)

    def restarts(self, end: int, psn: int, *, is_timeout: bool) -> WatchState:
        """A packet from which it starts again has left."""
        return replace(
            self,
            cursor=end,
            replay_from=psn,
            cause=Cause.TIMEOUT if is_timeout else Cause.DATA,
            owed_since=None,
            may_restart=None,
            has_restarted=not is_timeout and self.may_restart == self.oldest,
            timeouts=self.timeouts + is_timeout,
            losses=min(self.losses + 1, MOST_COUNTED),
            may_have_died=False,
        )

    # what may be

    def replays(self, wire: WireRecord) -> bool:
        """Whether packets that have left before leave next."""
        return self.cursor != wire.fresh

    def restart_points(self, wire: WireRecord) -> tuple[int, ...]:
        """The oldest PSN without an answer, and where the READ begins that has it."""
        sent = wire.at(self.oldest) if self.oldest != wire.fresh else None
        whole = sent is not None and sent.is_read and sent.psn != self.oldest
        return (self.oldest, sent.psn) if sent is not None and whole else (self.oldest,)

    def timeout_from(self, wire: WireRecord, spec: QpSpec) -> int | None:
        """The earliest time for a timeout: T after the oldest packet last began to leave."""
        timeout = ack_timeout_ns(spec.ack_timeout)
        sent = wire.at(self.oldest) if self.oldest != wire.fresh else None
        return None if timeout is None or sent is None else sent.begun_ns + timeout

    def timeout_until(self, wire: WireRecord, spec: QpSpec) -> int | None:
        """The latest: 4T after the last progress, or after a packet left that wants an answer."""
        timeout = ack_timeout_ns(spec.ack_timeout)
        asking = wire.first_asking(self.oldest) if self.oldest != wire.fresh else None
        if timeout is None or asking is None:
            return None
        return max(self.progress_ns, self.waits_until, asking.sent_ns) + 4 * timeout

    def has_retry(self, spec: QpSpec) -> bool:
        """Whether a requester that counts as little as possible may try again."""
        return self.timeouts < spec.retry_count

    def may_have_given_up(self, spec: QpSpec, *, by_timeout: bool) -> bool:
        """Whether one that counts as much as possible has tried too often, perhaps once more."""
        rnr_naks = self.rnr_naks + self.rnr_repeated
        is_unready = spec.rnr_retry != RNR_WITHOUT_END and rnr_naks > spec.rnr_retry
        return is_unready or self.timeouts + by_timeout + self.naks > spec.retry_count

    def may_be_dead_by_now(self, spec: QpSpec) -> bool:
        """Whether anything may have ended it, or would at a timeout."""
        if self.dead is not None or self.may_be_dead:
            return True
        return self.may_have_given_up(spec, by_timeout=self.owed_since is None)
