# SPDX-License-Identifier: BSD-2-Clause
"""Which rule a packet breaks that its requester could not send, or that did not come.

The most precise rule wins: first what forbids to send at all, then where the packet lies,
what was due instead, and what the requester seems to have reacted to.
"""

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.model.monitor.copies import changed
from roceproof.conformance.model.monitor.sent import WireRecord, awaits_data
from roceproof.conformance.model.monitor.state import Cause, WatchState
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.queue_pair import QpSpec

_AT_ONCE_NS = 20_000  # less than a timeout is worth telling from
_NAMING_THE_RESTART = ("RTX-09", "RTX-10", "ACK-10")


def rule_against(
    state: WatchState, wire: WireRecord, spec: QpSpec, segment: Segment, now_ns: int
) -> str:
    """The rule for a packet that may not leave in this state."""
    psn = segment.bth.psn
    if state.dead is not None:
        return state.dead
    if now_ns < state.not_before:
        return "RNR-03"
    if distance(psn, wire.fresh) >= 0:
        return _never_used(state, wire, spec, segment)
    sent = wire.at(psn)
    if sent is None:
        return "PSN-02"
    if changed(sent, segment, spec.path_mtu) is not None:
        return _reused(state, wire, segment)
    if distance(psn, state.oldest) < 0:
        return _answered_already(state, wire, psn, now_ns)
    if sent.psn != psn != state.oldest:
        return "RTX-17"
    return _repeated(state, wire, spec, psn, now_ns)


def _never_used(state: WatchState, wire: WireRecord, spec: QpSpec, segment: Segment) -> str:
    if state.replays(wire):
        due = wire.at(state.cursor)
        if due is not None and due.says_what(segment):
            return "PSN-06"
        return _restart_rule(state) if state.owed_since is not None else _replay_rule(state)
    if segment.bth.psn != wire.fresh:
        return "PSN-02"
    reads = wire.data_requests_after(state.oldest)
    return "READ-05" if awaits_data(segment) and reads >= spec.max_rd_atomic else "PSN-11"


def _reused(state: WatchState, wire: WireRecord, segment: Segment) -> str:
    if wire.twin_of(segment, state.oldest) is not None:
        return "PSN-06"
    return "RTX-24" if state.replays(wire) else "PSN-02"


def _answered_already(state: WatchState, wire: WireRecord, psn: int, now_ns: int) -> str:
    if state.owed_since is not None:
        return "RNR-10" if state.cause is Cause.RNR else "NAK-06"
    obeyed = _obeyed(state, psn, now_ns)
    if obeyed is not None:
        return obeyed
    return "RTX-13" if state.replays(wire) else "RTX-02"


def _repeated(state: WatchState, wire: WireRecord, spec: QpSpec, psn: int, now_ns: int) -> str:
    if state.owed_since is not None:
        return _restart_rule(state)
    obeyed = _obeyed(state, psn, now_ns)
    if obeyed is not None:
        return obeyed
    if psn not in state.restart_points(wire):
        return _replay_rule(state) if state.replays(wire) else "RTX-02"
    earliest = state.timeout_from(wire, spec)
    if earliest is not None and now_ns >= earliest:
        return "RTX-05"
    if state.replays(wire) and psn == state.replay_from:
        return _replay_rule(state)
    return "RTX-07" if ack_timeout_ns(spec.ack_timeout) is None else "RTX-01"


def _obeyed(state: WatchState, psn: int, now_ns: int) -> str | None:
    """The rule of a response that had to be ignored, if the packet seems to follow from it."""
    ignored = state.ignored
    if ignored is None or now_ns - ignored.heard_ns > _AT_ONCE_NS:
        return None
    if ignored.rule in _NAMING_THE_RESTART and distance(psn, ignored.psn) not in (0, 1):
        return None
    return ignored.rule


def _restart_rule(state: WatchState) -> str:
    return "RNR-04" if state.cause is Cause.RNR else "NAK-06"


def _replay_rule(state: WatchState) -> str:
    return "RNR-04" if state.cause is Cause.RNR else "RTX-04"


def rule_against_silence(
    state: WatchState, wire: WireRecord, spec: QpSpec, *, prompt_ns: int, now_ns: int, is_over: bool
) -> str | None:
    """The rule that is broken if nothing has left up to now, None if none is.

    `is_over` says that something leaves now, so that the requester had not given up.
    """
    if state.may_be_dead_by_now(spec) or state.oldest == wire.fresh:
        return None
    if state.owed_since is not None:
        is_late = now_ns > state.owed_since + prompt_ns
        return ("RNR-05" if state.cause is Cause.RNR else "RTX-08") if is_late else None
    if state.replays(wire):
        return _replay_rule(state) if now_ns > wire.last_ns + prompt_ns else None
    latest = state.timeout_until(wire, spec)
    if latest is None or now_ns <= latest + prompt_ns:
        return None
    if is_over:
        return "RTX-01"
    if state.timeouts:
        return "RTX-05"
    return "RTX-06" if state.losses >= max(1, spec.retry_count) else "RTX-01"
