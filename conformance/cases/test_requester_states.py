# SPDX-License-Identifier: BSD-2-Clause
"""Work in every state in which a queue pair may not send, entered from every other, and in RTS."""

from collections.abc import Sequence
from contextlib import suppress

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.notation import got
from roceproof.conformance.suite.packet_flow import SUCCESS
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Refused
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.STATES)]

_UP = (State.INIT, State.RTR, State.RTS)
_ALIVE = [_UP[:count] for count in range(1, len(_UP) + 1)]
WAYS: list[tuple[State, ...]] = [
    (),
    *_ALIVE[:-1],
    *((*life, end) for life in _ALIVE for end in (State.ERR, State.RESET)),
    *((*_UP, State.ERR, State.RESET, *_UP[:count]) for count in range(len(_UP))),
]
"""From RESET on; a queue pair in the last of them sends nothing."""
OF_DATAGRAMS = [(), *_ALIVE[:-1], (*_UP, State.ERR)]


over_sent = over(
    ("service", "op"),
    [
        pytest.param(Service.RC, Op.WRITE, id="RC", marks=needs(Capability.RC, Capability.WRITE)),
        pytest.param(Service.UC, Op.WRITE, id="UC", marks=needs(Capability.UC, Capability.WRITE)),
        pytest.param(Service.UD, Op.SEND, id="UD", marks=needs(Capability.UD, Capability.SEND)),
    ],
)


@case("QPS-02", "QPS-03", smoke=True, targets=["hdl", "model"])
@over_sent
def test_work_waits_or_fails_where_a_queue_pair_may_not_send(
    bench: Bench, service: Service, op: Op
) -> None:
    qp = bench.connect(service)
    for way in OF_DATAGRAMS if service is Service.UD else WAYS:
        for state in (State.RESET, *way):
            bench.target.set_state(qp.qp, state)
        sends_nothing(bench, qp, op, way)
        qp.reconnect()
        qp.transfer(op, 5)


@case("QPS-04", "PSN-01", smoke=True, targets=["hdl", "model"])
@over_sent
def test_a_queue_pair_sends_that_came_to_rts_state_by_state(
    bench: Bench, service: Service, op: Op
) -> None:
    """What it was told of PSNs on its way means nothing."""
    qp = bench.connect(service)
    for state in (State.RESET, *_UP):
        bench.target.set_state(qp.qp, state)
    for length in (5, qp.mtu):
        qp.transfer(op, length)


def sends_nothing(bench: Bench, qp: Connection, op: Op, way: Sequence[State]) -> None:
    """Work posted now leaves nothing on the wire, and does not end with success."""
    names = " to ".join(state.name for state in (State.RESET, *way))
    is_failed = way[-1:] == (State.ERR,)
    rules = ["QPS-03" if is_failed else "QPS-02"]
    is_refused = True
    with suppress(Refused):
        qp.post(op, 5)
        is_refused = False
    packet = qp.next(quiet=True)
    if packet is not None:
        bench.unjudged.add("PSN-01")  # what is not to be sent begins nowhere
        text = f"work that was posted behind {names} was sent: {got(packet, qp.from_device)}"
        raise bench.failed(text, rules=rules, got=packet)
    ended = bench.completions(qp, count=0, within_ns=0)
    if [outcome for outcome in ended if outcome.status == SUCCESS]:
        raise bench.failed(
            f"work that was posted behind {names} ended well: {qp.told(ended[0])}",
            rules=rules,
        )
    if is_failed and not (ended or is_refused) and bench.claims.limits.flushes:
        raise bench.failed(
            f"work that was posted behind {names} did not complete", rules=["QPS-03"]
        )
