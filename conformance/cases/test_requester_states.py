# SPDX-License-Identifier: BSD-2-Clause
"""Work in every state in which a queue pair may not send, entered from every other."""

from collections.abc import Sequence
from contextlib import suppress

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over_services
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.notation import got
from roceproof.conformance.suite.packet_flow import SUCCESS
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Refused
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.STATES), needs(Capability.WRITE)]

_UP = (State.INIT, State.RTR, State.RTS)
_ALIVE = [_UP[:count] for count in range(1, len(_UP) + 1)]
WAYS: list[tuple[State, ...]] = [
    (),
    *_ALIVE[:-1],
    *((*life, end) for life in _ALIVE for end in (State.ERR, State.RESET)),
    *((*_UP, State.ERR, State.RESET, *_UP[:count]) for count in range(len(_UP))),
]
"""From RESET on; a queue pair in the last of them sends nothing."""


@case("QPS-02", "QPS-03", smoke=True, targets=["hdl", "model"])
@over_services
def test_work_waits_or_fails_where_a_queue_pair_may_not_send(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service)
    for way in WAYS:
        for state in (State.RESET, *way):
            bench.target.set_state(qp.qp, state)
        sends_nothing(bench, qp, way)
        qp.reconnect()
        qp.transfer(Op.WRITE, 5)


def sends_nothing(bench: Bench, qp: Connection, way: Sequence[State]) -> None:
    """Work posted now leaves nothing on the wire, and does not end with success."""
    names = " to ".join(state.name for state in (State.RESET, *way))
    is_failed = way[-1:] == (State.ERR,)
    rules = ["QPS-03" if is_failed else "QPS-02"]
    is_refused = True
    with suppress(Refused):
        qp.post(Op.WRITE, 5)
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
