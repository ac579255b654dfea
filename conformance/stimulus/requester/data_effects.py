# SPDX-License-Identifier: BSD-2-Clause
"""What responses make of a state in which READs or atomics wait for data.

What a response may do is what the monitor of retransmitting requesters says; where that lets a
requester ask again, one that never does so has failed, or may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roceproof.conformance.model.monitor.response_effects import ResponseEffects
from roceproof.conformance.model.monitor.sent import WireRecord
from roceproof.conformance.model.monitor.state import WatchState
from roceproof.conformance.model.segmentation import AWAIT_DATA, Message, ahead
from roceproof.conformance.stimulus.requester.incarnation import Life
from roceproof.conformance.stimulus.requester.state import BAD_RESPONSE, Due, Response, State
from roceproof.verbs.work import Work

_WRONG_DATA = "READ-07"


def effects_on_data(
    state: State, response: Response, life: Life, works: Sequence[Work]
) -> Iterator[State]:
    """All that a requester without retransmission may come to by a response."""
    effects = ResponseEffects(life.spec, _wire(state, life, works))
    before = WatchState(oldest=state.oldest, cursor=state.psn)
    now, packet = response.sent_ns, response.packet(life.spec.local_qpn)
    for after in effects.readings(before, packet, now, now):
        yield from _taken(state, response, after)


def _wire(state: State, life: Life, works: Sequence[Work]) -> WireRecord:
    """What waits for data; of all else only the end matters."""
    wire = WireRecord(state.oldest, life.spec.path_mtu)
    for number, last in state.pending:
        work = works[number]
        if work.op in AWAIT_DATA:
            message = Message(life.spec, work, ahead(last, 1 - life.span(work)))
            wire.add(message.request(0), now_ns=0, begun_ns=0)
    wire.fresh = state.psn
    return wire


def _taken(state: State, response: Response, after: WatchState) -> Iterator[State]:
    if after.oldest != state.oldest:
        syndrome = None if response.data else response.syndrome
        state = state.reaches(after.oldest, syndrome, response.sent_ns)
    if after.dead == _WRONG_DATA:
        yield state._replace(fault=Due(-1, BAD_RESPONSE, None, is_any_error=True))
    elif after.dead is not None or after.owed_since is not None:
        yield state._replace(fault=Due(-1, str(response.fault), response.syndrome))
    else:
        yield state
        if after.may_be_dead or after.may_restart is not None:
            fault = Due(-1, BAD_RESPONSE, None, is_any_error=True, is_choice=True)
            yield state._replace(fault=fault)
