# SPDX-License-Identifier: BSD-2-Clause
"""One state that a requester beside the watch may be in, and what it may send from there.

The state follows from the responses that the requester has taken in and from the packets
that it has sent. What it owes (a restart) and what it may do besides (a timeout, a READ asked
for again) are kept apart, since only the first makes another packet wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from roceproof.conformance.headers import Aeth, AtomicAckEth
from roceproof.conformance.model.codes import AethType, NakCode, ack_timeout_ns, rnr_wait_ns
from roceproof.conformance.model.read_answers import READ_RESPONSES, fits_read
from roceproof.conformance.model.segment import Segment, distance
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.model.watch_wire import WireRecord
from roceproof.conformance.targets.interface import QpSpec

_ACKNOWLEDGE, _ATOMIC_ACK = 0x11, 0x12
_FATAL = (
    NakCode.INVALID_REQUEST,
    NakCode.REMOTE_ACCESS_ERROR,
    NakCode.REMOTE_OPERATIONAL_ERROR,
)
_RNR_WITHOUT_END = 7


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
    losses_before: int = 0  # those before the last progress
    dead: str | None = None  # the rule that forbids to send anything
    may_be_dead: bool = False
    ignored: Ignored | None = None

    # responses

    def hear(self, response: Segment, now_ns: int, wire: WireRecord, spec: QpSpec) -> WatchState:
        """The state once that response is taken in."""
        taken = replace(self, taken_in=self.taken_in + 1)
        if self.dead is not None:
            return taken
        psn, aeth = response.bth.psn, response.extension(Aeth)
        is_nak = aeth is not None and aeth.syndrome >> 5 != AethType.ACK
        if distance(psn, wire.fresh) >= 0:
            return taken._ignoring("NAK-13" if is_nak else "ACK-09", psn, now_ns)
        if distance(psn, self.oldest) < 0:
            return taken._ignoring("RTX-10" if is_nak else "ACK-10", psn, now_ns)
        if response.bth.opcode in READ_RESPONSES:
            return taken._hear_data(response, now_ns, wire, spec)
        if response.bth.opcode == _ATOMIC_ACK:
            return taken._hear_atomic(response, now_ns, wire)
        if response.bth.opcode == _ACKNOWLEDGE and aeth is not None:
            return taken._hear_acknowledge(psn, aeth.syndrome, now_ns, wire, spec)
        return taken._ignoring("FUZZ-12", psn, now_ns)

    def _hear_acknowledge(
        self, psn: int, syndrome: int, now_ns: int, wire: WireRecord, spec: QpSpec
    ) -> WatchState:
        kind, value = syndrome >> 5, syndrome & 31
        if kind == AethType.ACK:
            return self._all_before(ahead(psn, 1), now_ns, wire)
        if kind == AethType.RNR_NAK:
            return self._all_before(psn, now_ns, wire)._hear_rnr(psn, value, now_ns, spec)
        if kind == AethType.NAK and value == NakCode.PSN_SEQUENCE_ERROR:
            return self._all_before(psn, now_ns, wire)._hear_sequence_nak(psn, now_ns)
        if kind == AethType.NAK and value in _FATAL:
            state = self._all_before(psn, now_ns, wire)
            if state.oldest == psn:
                return replace(state, dead="NAK-09", owed_since=None)
            return replace(state, may_be_dead=True)
        return replace(self._ignoring("AETH-05", psn, now_ns), may_be_dead=True)

    def _hear_sequence_nak(self, psn: int, now_ns: int) -> WatchState:
        if self.oldest != psn:
            return self
        if now_ns < self.not_before:
            return replace(self, naks=self.naks + 1)
        if self.has_restarted:
            return self._ignoring("RTX-09", psn, now_ns)
        if self.timeouts:
            return replace(self, may_restart=self.oldest, naks=self.naks + 1)
        return replace(self._owing(Cause.NAK, now_ns), has_restarted=True, naks=self.naks + 1)

    def _hear_rnr(self, psn: int, code: int, now_ns: int, spec: QpSpec) -> WatchState:
        if self.oldest != psn:
            return self
        if now_ns < self.not_before:
            return replace(self, rnr_repeated=self.rnr_repeated + 1)
        naks = self.rnr_naks + 1
        if spec.rnr_retry != _RNR_WITHOUT_END and naks > spec.rnr_retry:
            return replace(self, dead="RNR-05", owed_since=None)
        wait_until = now_ns + rnr_wait_ns(code)
        state = replace(
            self,
            not_before=wait_until,
            waits_until=wait_until,
            rnr_naks=naks,
            has_restarted=False,
        )
        return state._owing(Cause.RNR, wait_until)

    def _hear_data(
        self, response: Segment, now_ns: int, wire: WireRecord, spec: QpSpec
    ) -> WatchState:
        psn = response.bth.psn
        read = wire.at(psn)
        if read is None or not read.is_read:
            return replace(self._ignoring("FUZZ-12", psn, now_ns), may_be_dead=True)
        state = self._all_before(read.psn, now_ns, wire)
        if distance(state.oldest, read.psn) < 0:
            return state
        if state.oldest != psn:
            return state._missing_data()
        offset = distance(psn, read.psn)
        if not fits_read(response, offset, read.starts, read.read_length, spec.path_mtu):
            return replace(state, dead="READ-07", owed_since=None)
        return state._progress(ahead(psn, 1), now_ns)

    def _hear_atomic(self, response: Segment, now_ns: int, wire: WireRecord) -> WatchState:
        psn, aeth = response.bth.psn, response.extension(Aeth)
        atomic = wire.at(psn)
        is_answer = response.extension(AtomicAckEth) is not None
        is_ack = aeth is not None and aeth.syndrome >> 5 == AethType.ACK
        if atomic is None or atomic.is_read or not (atomic.awaits_data and is_answer and is_ack):
            return replace(self._ignoring("FUZZ-12", psn, now_ns), may_be_dead=True)
        state = self._all_before(psn, now_ns, wire)
        return state._progress(ahead(psn, 1), now_ns) if state.oldest == psn else state

    def _all_before(self, psn: int, now_ns: int, wire: WireRecord) -> WatchState:
        missing = wire.data_missing(self.oldest, psn)
        if missing is None:
            return self._progress(psn, now_ns)
        return self._progress(missing, now_ns)._missing_data()

    def _missing_data(self) -> WatchState:
        return replace(self, may_restart=self.oldest, naks=self.naks + 1)

    def _progress(self, psn: int, now_ns: int) -> WatchState:
        if distance(psn, self.oldest) <= 0:
            return self
        passed = distance(self.cursor, psn) < 0
        return replace(
            self,
            oldest=psn,
            cursor=psn if passed else self.cursor,
            progress_ns=now_ns,
            not_before=0 if passed else self.not_before,
            owed_since=None if passed else self.owed_since,
            has_restarted=False,
            may_be_dead=False,
            ignored=None,
            losses_before=self.losses,
            timeouts=0,
            naks=0,
            rnr_naks=0,
            rnr_repeated=0,
        )

    def _owing(self, cause: Cause, since_ns: int) -> WatchState:
        return replace(
            self,
            cursor=self.oldest,
            replay_from=self.oldest,
            cause=cause,
            owed_since=since_ns,
            may_restart=None,
            losses=self.losses + 1,
        )

    def _ignoring(self, rule: str, psn: int, now_ns: int) -> WatchState:
        return replace(self, ignored=Ignored(rule, psn, now_ns))

    # packets

    def replays(self, wire: WireRecord) -> bool:
        """Whether packets that have left before leave next."""
        return self.cursor != wire.fresh

    def restart_points(self, wire: WireRecord) -> tuple[int, ...]:
        """The oldest PSN without an answer, and where the READ begins that has it."""
        sent = wire.at(self.oldest) if self.oldest != wire.fresh else None
        whole = sent is not None and sent.is_read and sent.psn != self.oldest
        return (self.oldest, sent.psn) if sent is not None and whole else (self.oldest,)

    def timeout_from(self, wire: WireRecord, spec: QpSpec) -> int | None:
        """The earliest time for a timeout: T after the oldest packet last left."""
        timeout = ack_timeout_ns(spec.ack_timeout)
        sent = wire.at(self.oldest) if self.oldest != wire.fresh else None
        return None if timeout is None or sent is None else sent.sent_ns + timeout

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

    def may_be_dead_by_now(self, spec: QpSpec) -> bool:
        """Whether one that counts as much as possible has given up, or would at a timeout."""
        if self.dead is not None or self.may_be_dead:
            return True
        rnr_naks = self.rnr_naks + self.rnr_repeated
        if spec.rnr_retry != _RNR_WITHOUT_END and rnr_naks > spec.rnr_retry:
            return True
        used = self.timeouts + self.naks
        return used > spec.retry_count if self.owed_since is not None else used >= spec.retry_count

    def goes_on(self, end: int) -> WatchState:
        """The packet at the cursor has left, and with it the choice to restart is made."""
        return replace(self, cursor=end, owed_since=None, may_restart=None)

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
            losses=self.losses + 1,
        )
