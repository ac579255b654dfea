# SPDX-License-Identifier: BSD-2-Clause
"""Random work against the reference responder, on a network that loses, doubles and reorders."""

from __future__ import annotations

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.recovery import (
    longest_wait_ns,
    timeout_code,
    unhurried_code,
)
from roceproof.conformance.suite.checks.retransmission import check_retransmissions
from roceproof.conformance.suite.traffic.reference_responder import Impairment, ReferenceResponder
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.WRITE)]

MTU = 256
IN_LOCKSTEP, ON_THE_WALL = 60, 16
LARGEST = 4 * MTU
SIZES = (0, 1, 3, 4, 5, MTU - 1, MTU, MTU + 1, 2 * MTU, 3 * MTU - 1, LARGEST)


def soak(bench: Bench, impairment: Impairment, *, code: int | None = None) -> None:
    """Every message is executed exactly once and completes exactly once, in order."""
    in_lockstep = Capability.LOCKSTEP in bench.claims.capabilities
    count = IN_LOCKSTEP if in_lockstep else ON_THE_WALL
    code = timeout_code(bench) if code is None else code
    start = bench.random.choice((0, 0x7FFFE0, 0xFFFFE0, bench.random.randrange(1 << 24)))
    qp = bench.connect(path_mtu=MTU, sq_psn=start, ack_timeout=code, retry_count=7)
    far = ReferenceResponder(bench, qp, impairment)
    largest = qp.lengths.fit(LARGEST)
    region = far.memory.register(count * largest)
    posted = []
    for number in range(count):
        where = {"remote_addr": region.addr + number * largest, "rkey": region.rkey}
        posted.append(qp.post(Op.WRITE, bench.random.choice(SIZES), **where))
    for message in posted:
        bench.pump_until_complete(qp, within_ns=7 * longest_wait_ns(bench))
        qp.completes(message)
    for number, message in enumerate(posted):
        data = message.work.data
        if region.read(number * largest, len(data)) != data:
            raise bench.failed(f"message {number} completed, but other bytes are in memory")
    if far.msn != count:
        raise bench.failed(f"{count} messages were executed {far.msn} times")
    check_retransmissions(bench, qp)


@case("RTX-22", "FUZZ-14", needs=[Capability.RETRANSMISSION])
@over("loss", [0.001, 0.02, 0.1])
def test_nothing_is_lost_on_a_network_that_loses(bench: Bench, loss: float) -> None:
    soak(bench, Impairment(loss=loss))


@case("RTX-21", "FUZZ-14", needs=[Capability.RETRANSMISSION])
def test_nothing_happens_twice_on_a_network_that_doubles_and_reorders(bench: Bench) -> None:
    soak(bench, Impairment(loss=0.02, doubling=0.1, overtaking=0.05))


@case("LIVE-02", "FUZZ-14")
def test_a_healthy_network_carries_everything_once(bench: Bench) -> None:
    soak(bench, Impairment(), code=unhurried_code(bench, timeout_code(bench)))
