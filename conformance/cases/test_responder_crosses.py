# SPDX-License-Identifier: BSD-2-Clause
"""Every service in every state, with receives of its own or shared: posted, in use, missing."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import ANYTHING
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.pattern import (
    ACK,
    RNR,
    SEND_FIRST,
    SEND_LAST,
    SEND_ONLY,
    UD_SEND_ONLY,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.STATES), needs(Capability.LOCKSTEP)]

SIMULATED = ["hdl", "model"]
POSTED, IN_USE, MISSING = "posted", "in use", "missing"
QUEUES = [
    pytest.param(False, id="own"),
    pytest.param(True, id="shared", marks=needs(Capability.SHARED_RECEIVE)),
]
ENDS = [
    pytest.param(each, receive, id=f"{each.name}-{receive}", marks=needs(Capability[each.name]))
    for each in Service
    for receive in (POSTED, IN_USE, MISSING)
    if (each, receive) != (Service.UD, IN_USE)  # a datagram is one packet
]
TAKING = (State.RTR, State.RTS)
STEPS = (State.INIT, *TAKING)
OPEN = (IN_USE, State.RTS)
TAKEN = [
    pytest.param(
        *end.values,
        state,
        id=f"{end.id}-{state.name}",
        marks=[*end.marks, *([pytest.mark.smoke] if (end.values[1], state) == OPEN else [])],
    )
    for end in ENDS
    for state in TAKING
]
FAILING = [
    pytest.param(
        *end.values,
        state,
        id=f"{end.id}-{state.name}",
        marks=[*end.marks, *([] if state is State.RTS else [pytest.mark.smoke])],
    )
    for end in ENDS
    for state in STEPS
    if (end.values[1], state) != (IN_USE, State.INIT)
]


class Crossed:
    """One queue pair, what it has, and what becomes of a message to it."""

    def __init__(self, bench: Bench, service: Service, *, shared: bool, receive: str) -> None:
        self._bench = bench
        self.qp: Connection = bench.connect(service, shared_receive=shared, state=State.INIT)
        self.poster = bench.connect(Service.RC, shared_receive=True) if shared else self.qp
        self._room = 2 * self.qp.mtu + GRH_BYTES
        self.region: Region = self.qp.region(2 * self._room)
        self.is_datagram = service is Service.UD
        self.numbers = [] if receive == MISSING else [self._post(0)]
        self._psn = 0

    def _post(self, place: int) -> int:
        return self.poster.post_receive(self.region, offset=place * self._room, length=self._room)

    def only(self, size: int) -> Pattern:
        """A whole message, the next one."""
        maker = UD_SEND_ONLY if self.is_datagram else SEND_ONLY
        return maker(psn=self._psn, payload=size, a=int(self.qp.spec.service is Service.RC))

    def begin(self) -> None:
        """The receive is in use: the first packet has come."""
        self.qp.send(SEND_FIRST(psn=0, payload=self.qp.mtu))
        self._psn = 1
        self._bench.settle()

    def is_served(self, *, in_use: bool) -> None:
        """A message takes the receive that is there, and one more."""
        before = self.qp.mtu if in_use else GRH_BYTES if self.is_datagram else 0
        packet = SEND_LAST(psn=1, payload=9, a=1) if in_use else self.only(9)
        self.qp.send(packet.but(a=int(self.qp.spec.service is Service.RC)))
        self.qp.receives(self.numbers.pop(), byte_len=before + 9)
        if self.qp.spec.service is Service.RC:
            self.qp.expect(ACK(psn=self._psn))
        self._psn += 1

    def finds_none(self) -> None:
        """A message meets no receive; then it, or the next one, finds one."""
        self.qp.send(self.only(5))
        if self.qp.spec.service is Service.RC:
            self.qp.expect(RNR(psn=self._psn))
        else:
            self.qp.expect_silence()
            self._psn += 1
        self.numbers.append(self._post(1))
        self.is_served(in_use=False)

    def is_dropped(self) -> None:
        """Nothing is answered or received."""
        self.qp.send(self.only(7))
        self.qp.expect_silence()

    def ends(self, receive: str, *, shared: bool) -> None:
        """In the error state: what it holds is flushed, what others may have is not."""
        if receive != MISSING and (receive == IN_USE or not shared):
            (number,) = self.numbers
            self.qp.receives(number, status="wr_flush_err")


@case(
    "QPS-01",
    "QPS-02",
    "QPS-03",
    "RNR-01",
    needs=[Capability.RC],
    targets=SIMULATED,
    breaks=ANYTHING,
)
@over("shared", QUEUES)
@pytest.mark.parametrize(("service", "receive", "state"), TAKEN)
def test_a_message_in_every_state(
    bench: Bench, service: Service, receive: str, state: State, *, shared: bool
) -> None:
    executed_of(bench.claims, service, [Op.SEND])
    crossed = Crossed(bench, service, shared=shared, receive=receive)
    qp, target = crossed.qp, bench.target
    crossed.is_dropped()
    target.set_state(qp.qp, State.RTR)
    if receive == IN_USE:
        crossed.begin()
    if state is State.RTS:
        target.set_state(qp.qp, State.RTS)
    if receive == MISSING:
        crossed.finds_none()
    else:
        crossed.is_served(in_use=receive == IN_USE)


@case("QPS-03", "QPS-06", needs=[Capability.RC], targets=SIMULATED, breaks=ANYTHING)
@over("shared", QUEUES)
@pytest.mark.parametrize(("service", "receive", "state"), FAILING)
def test_the_error_state_flushes_what_is_its_own(
    bench: Bench, service: Service, receive: str, state: State, *, shared: bool
) -> None:
    executed_of(bench.claims, service, [Op.SEND])
    crossed = Crossed(bench, service, shared=shared, receive=receive)
    qp, target = crossed.qp, bench.target
    for step in STEPS[1 : STEPS.index(state) + 1]:
        target.set_state(qp.qp, step)
    if receive == IN_USE:
        crossed.begin()
    target.set_state(qp.qp, State.ERR)
    crossed.ends(receive, shared=shared)
    crossed.is_dropped()
    if shared and receive == POSTED:
        other = crossed.poster
        other.send(SEND_ONLY(psn=0, payload=3, a=1))
        other.receives(crossed.numbers.pop(), byte_len=3)
