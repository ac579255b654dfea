# SPDX-License-Identifier: BSD-2-Clause
"""Which packets may leave in a state, and what becomes of the state then."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from roceproof.conformance.model.monitor.sent import Sent, WireRecord, awaits_data
from roceproof.conformance.model.monitor.state import WatchState
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.wire.psn import PSN_MODULUS, distance
from roceproof.verbs.queue_pair import QpSpec

_HALF_SPACE = PSN_MODULUS >> 1


class Allowance(NamedTuple):
    """A PSN that may leave next, and from when on."""

    psn: int
    not_before_ns: int


def admitted(
    state: WatchState, request: Segment, now_ns: int, wire: WireRecord, spec: QpSpec
) -> Iterator[WatchState]:
    """The states that a packet may lead to by its PSN; none if it may not leave.

    Who asks for a whole READ again may have forgotten what of it has come (RTX-17).
    """
    psn = request.bth.psn
    if state.dead is not None or now_ns < state.not_before:
        return
    if distance(psn, wire.fresh) >= 0:
        if psn == wire.fresh == state.cursor and _has_room(state, request, wire, spec):
            yield state.sends_new(ahead(psn, wire.span_of(request)))
        return
    sent = wire.at(psn)
    if sent is None or (sent.psn != psn and psn != state.oldest):
        return
    for after in _repeated(state, sent, psn, now_ns, wire, spec):
        yield after
        if distance(psn, state.oldest) < 0:
            yield replace(after, oldest=psn)


def _repeated(
    state: WatchState, sent: Sent, psn: int, now_ns: int, wire: WireRecord, spec: QpSpec
) -> Iterator[WatchState]:
    begins_anew = psn in state.restart_points(wire)
    if psn == state.cursor or (begins_anew and state.cursor == state.oldest):
        yield state.goes_on(sent.end)
    elif begins_anew:
        if state.may_restart is not None:
            yield state.restarts(sent.end, psn, is_timeout=False)
        due = state.timeout_from(wire, spec)
        if due is not None and now_ns >= due and state.has_retry(spec):
            yield state.restarts(sent.end, psn, is_timeout=True)


def allowances(state: WatchState, wire: WireRecord, spec: QpSpec) -> Iterator[Allowance]:
    """What `admitted` would let pass."""
    if state.dead is not None:
        return
    yield Allowance(state.cursor, state.not_before)
    due = state.timeout_from(wire, spec)
    for psn in state.restart_points(wire):
        if state.may_restart is not None:
            yield Allowance(psn, state.not_before)
        elif due is not None and state.has_retry(spec):
            yield Allowance(psn, max(due, state.not_before))


def _has_room(state: WatchState, request: Segment, wire: WireRecord, spec: QpSpec) -> bool:
    """Whether a new packet keeps PSN-11 and READ-05."""
    outstanding = (wire.fresh - state.oldest) % PSN_MODULUS
    if outstanding + wire.span_of(request) > _HALF_SPACE:
        return False
    reads = wire.data_requests_after(state.oldest)
    return not awaits_data(request) or reads < spec.max_rd_atomic
