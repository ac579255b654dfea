# SPDX-License-Identifier: BSD-2-Clause
"""What a response makes of a state: progress, a restart that is owed, the end, or nothing."""

from collections.abc import Iterator, Set
from dataclasses import replace

from roceproof.conformance.model.codes import AethType, NakCode, rnr_wait_ns
from roceproof.conformance.model.monitor.sent import Sent, WireRecord
from roceproof.conformance.model.monitor.state import RNR_WITHOUT_END, Cause, WatchState
from roceproof.conformance.model.requester.read_answers import READ_RESPONSES, fits_read
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.wire.headers import Aeth, AtomicAckEth
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.queue_pair import QpSpec

_ACKNOWLEDGE, _ATOMIC_ACK = 0x11, 0x12
_FATAL = (NakCode.INVALID_REQUEST, NakCode.REMOTE_ACCESS_ERROR, NakCode.REMOTE_OPERATIONAL_ERROR)


class ResponseEffects:
    """How one queue pair takes in responses."""

    def __init__(self, spec: QpSpec, wire: WireRecord) -> None:
        self._spec = spec
        self._wire = wire

    def readings(
        self, state: WatchState, response: Segment, now_ns: int, latest_ns: int
    ) -> Iterator[WatchState]:
        """The states behind a response: what stands before one that makes no sense may be done.

        Data behind a gap may be dropped as if they had not come (RTX-19), or may acknowledge what
        stands before the gap.
        What answers before the end of an RNR wait, when nothing has come again, may be dropped,
        and another RNR NAK may begin the wait again.
        It came at a time, and has taken effect by another: one that gave up until then may be so
        for good. Data that fit only a READ that was asked for anew since then may not have fitted.
        """
        after = self.take_in(state, response, now_ns)
        if after.dead is None and after.oldest != state.oldest and self._is_early(response, now_ns):
            yield replace(state, taken_in=after.taken_in, dead="READ-07", owed_since=None)
        if after.oldest != state.oldest:
            timeout = state.timeout_from(self._wire, self._spec)
            is_over = timeout is not None and timeout <= latest_ns
            if state.may_have_given_up(self._spec, by_timeout=is_over):
                after = replace(after, may_have_died=True)
        is_data = response.bth.opcode in (*READ_RESPONSES, _ATOMIC_ACK)
        is_dropped = after.dead is None and distance(after.oldest, response.bth.psn) <= 0
        if is_data and is_dropped and after.oldest != state.oldest:
            yield replace(state, taken_in=after.taken_in).misses_data()
        ignored = after.ignored
        if ignored is not None and ignored is not state.ignored and after.may_be_dead:
            done = self._all_before(after, ignored.psn, now_ns)
            yield replace(done, may_be_dead=True)
        yield after
        if after.rnr_repeated > state.rnr_repeated:
            yield self._waits_anew(after, response, now_ns)
        unheeded = replace(state, taken_in=after.taken_in)
        if now_ns < state.not_before and after != unheeded:
            yield unheeded

    def take_in(self, state: WatchState, response: Segment, now_ns: int) -> WatchState:
        """The state behind a response."""
        state = replace(state, taken_in=state.taken_in + 1)
        if state.dead is not None:
            return state
        psn, aeth = response.bth.psn, response.extension(Aeth)
        is_nak = aeth is not None and not _is_ack(aeth)
        if distance(psn, self._wire.fresh) >= 0:
            return state.ignores("NAK-13" if is_nak else "ACK-09", psn, now_ns)
        if distance(psn, state.oldest) < 0:
            return state.ignores("RTX-10" if is_nak else "ACK-10", psn, now_ns)
        if response.bth.opcode in READ_RESPONSES:
            return self._data(state, response, now_ns)
        if response.bth.opcode == _ATOMIC_ACK:
            return self._original(state, response, now_ns)
        if response.bth.opcode == _ACKNOWLEDGE and aeth is not None:
            return self._acknowledge(state, psn, aeth.syndrome, now_ns)
        return state.ignores("FUZZ-12", psn, now_ns)

    def _acknowledge(self, state: WatchState, psn: int, syndrome: int, now_ns: int) -> WatchState:
        kind, value = syndrome >> 5, syndrome & 31
        if kind == AethType.ACK:
            asked = self._wire.at(psn)
            state = self._all_before(state, ahead(psn, 1), now_ns)
            is_none = asked is not None and asked.awaits_data
            return replace(state, may_be_dead=True) if is_none else state
        if kind == AethType.RNR_NAK:
            return self._rnr_nak(self._all_before(state, psn, now_ns), psn, value, now_ns)
        if kind == AethType.NAK and value == NakCode.PSN_SEQUENCE_ERROR:
            return self._sequence_nak(self._all_before(state, psn, now_ns), psn, now_ns)
        if kind == AethType.NAK and value in _FATAL:
            return self._fatal_nak(self._all_before(state, psn, now_ns), psn)
        return replace(state.ignores("AETH-05", psn, now_ns), may_be_dead=True)

    def _all_before(self, state: WatchState, psn: int, now_ns: int) -> WatchState:
        missing = self._wire.data_missing(state.oldest, psn)
        if missing is None:
            return state.progresses(psn, now_ns)
        return state.progresses(missing, now_ns).misses_data()

    def _fatal_nak(self, state: WatchState, psn: int) -> WatchState:
        if state.oldest != psn:
            return replace(state, may_be_dead=True)
        return replace(state, dead="NAK-09", owed_since=None)

    def _sequence_nak(self, state: WatchState, psn: int, now_ns: int) -> WatchState:
        if state.oldest != psn:
            return state
        if state.has_restarted and now_ns >= state.not_before:
            return state.ignores("RTX-09", psn, now_ns)
        counted = replace(state, naks=state.naks + 1)
        if now_ns < state.not_before:
            return counted
        if state.timeouts:
            return replace(counted, may_restart=state.oldest)
        return replace(counted.owes_restart(Cause.NAK, now_ns), has_restarted=True)

    def _rnr_nak(self, state: WatchState, psn: int, code: int, now_ns: int) -> WatchState:
        if state.oldest != psn:
            return state
        if now_ns < state.not_before:
            return replace(state, rnr_repeated=state.rnr_repeated + 1)
        naks, retries = state.rnr_naks + 1, self._spec.rnr_retry
        if retries != RNR_WITHOUT_END and naks > retries:
            return replace(state, dead="RNR-05", owed_since=None)
        end = now_ns + rnr_wait_ns(code)
        waiting = replace(
            state, not_before=end, waits_until=end, rnr_naks=naks, has_restarted=False
        )
        return waiting.owes_restart(Cause.RNR, end)

    def _waits_anew(self, state: WatchState, nak: Segment, now_ns: int) -> WatchState:
        """An RNR NAK in the wait for another one may begin that wait again, with its own time."""
        aeth = nak.extension(Aeth)
        assert aeth is not None
        end = now_ns + rnr_wait_ns(aeth.syndrome & 31)
        owed = None if state.owed_since is None else end
        return replace(state, not_before=end, waits_until=end, owed_since=owed)

    def _data(self, state: WatchState, response: Segment, now_ns: int) -> WatchState:
        psn = response.bth.psn
        read = self._wire.at(psn)
        if read is None or not read.is_read:
            return replace(state.ignores("FUZZ-12", psn, now_ns), may_be_dead=True)
        state = self._all_before(state, read.psn, now_ns)
        if distance(state.oldest, read.psn) < 0:
            return state
        if state.oldest != psn:
            return state.misses_data()
        if not self._fits(response, read, read.starts.keys()):
            return replace(state, dead="READ-07", owed_since=None)
        return state.progresses(ahead(psn, 1), now_ns)

    def _is_early(self, response: Segment, now_ns: int) -> bool:
        """Whether data came before a READ left that they fit, and fit none that had left."""
        read = self._wire.at(response.bth.psn)
        if response.bth.opcode not in READ_RESPONSES or read is None or not read.is_read:
            return False
        starts = {offset for offset, sent_ns in read.starts.items() if sent_ns <= now_ns}
        return bool(starts) and not self._fits(response, read, starts)

    def _fits(self, response: Segment, read: Sent, starts: Set[int]) -> bool:
        """Whether data fit their place in a READ that was asked for from these offsets."""
        offset = distance(response.bth.psn, read.psn)
        return fits_read(response, offset, starts, read.read_length, self._spec.path_mtu)

    def _original(self, state: WatchState, response: Segment, now_ns: int) -> WatchState:
        psn, aeth = response.bth.psn, response.extension(Aeth)
        atomic = self._wire.at(psn)
        is_answer = response.extension(AtomicAckEth) is not None
        fits = is_answer and aeth is not None and _is_ack(aeth)
        if atomic is None or atomic.is_read or not (atomic.awaits_data and fits):
            return replace(state.ignores("FUZZ-12", psn, now_ns), may_be_dead=True)
        state = self._all_before(state, psn, now_ns)
        return state.progresses(ahead(psn, 1), now_ns) if state.oldest == psn else state


def _is_ack(aeth: Aeth) -> bool:
    return aeth.syndrome >> 5 == AethType.ACK
