# SPDX-License-Identifier: BSD-2-Clause
"""Random work against the reference responder, on a network that loses, doubles and reorders."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.recovery import (
    brisk_code,
    longest_wait_ns,
    timeout_code,
    unhurried_code,
)
from roceproof.conformance.suite.checks.retransmission import check_retransmissions
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.traffic.reference_responder import Impairment, ReferenceResponder
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.WRITE)]

MTU = 256
MSNS = 1 << 24
IN_LOCKSTEP, ON_THE_WALL = 60, 16
LARGEST = 4 * MTU
ROUNDS = 1_000
SIZES = (0, 1, 3, 4, 5, MTU - 1, MTU, MTU + 1, 2 * MTU, 3 * MTU - 1, LARGEST)


def soak(
    bench: Bench,
    impairment: Impairment,
    *,
    corruption: float = 0.0,
    code: int | None = None,
    rounds: int = 1,
) -> None:
    """Every message is executed exactly once and completes exactly once, in order."""
    code = timeout_code(bench) if code is None else code
    start = bench.random.choice((0, 0x7FFFE0, 0xFFFFE0, bench.random.randrange(1 << 24)))
    qp = bench.connect(path_mtu=MTU, sq_psn=start, ack_timeout=code, retry_count=7)
    far = ReferenceResponder(bench, qp, impairment, corruption=corruption)
    for _ in range(rounds):
        play_round(bench, qp, far)
    if rounds == 1:  # it would take longer than all that it looks at
        check_retransmissions(bench, qp)


def play_round(bench: Bench, qp: Connection, far: ReferenceResponder) -> None:
    """Some messages, each with memory of its own."""
    in_lockstep = Capability.LOCKSTEP in bench.claims.capabilities
    count, before = IN_LOCKSTEP if in_lockstep else ON_THE_WALL, far.msn
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
    if (far.msn - before) % MSNS != count:
        raise bench.failed(f"{count} messages were executed {far.msn - before} times")


@case("RTX-22", "FUZZ-14", needs=[Capability.RETRANSMISSION])
@over("loss", [0.001, 0.02, 0.1])
def test_nothing_is_lost_on_a_network_that_loses(bench: Bench, loss: float) -> None:
    soak(bench, Impairment(loss=loss))


@case("RTX-21", "FUZZ-14", needs=[Capability.RETRANSMISSION])
def test_nothing_happens_twice_on_a_network_that_doubles_and_reorders(bench: Bench) -> None:
    soak(bench, Impairment(loss=0.02, doubling=0.1, overtaking=0.05))


@case("RTX-22", "FUZZ-14", needs=[Capability.RETRANSMISSION])
def test_nothing_happens_twice_where_packets_double_reorder_and_corrupt(bench: Bench) -> None:
    soak(bench, Impairment(loss=0.05, doubling=0.05, overtaking=0.05), corruption=0.05)


@case("RTX-22", "FUZZ-14", needs=[Capability.RETRANSMISSION], long=True, targets=["hdl"])
def test_a_hundred_thousand_packets_where_all_of_it_happens(bench: Bench) -> None:
    impairment = Impairment(loss=0.05, doubling=0.05, overtaking=0.05)
    soak(bench, impairment, corruption=0.05, code=brisk_code(bench, 12), rounds=ROUNDS)


@case("LIVE-02", "FUZZ-14")
def test_a_healthy_network_carries_everything_once(bench: Bench) -> None:
    soak(bench, Impairment(), code=unhurried_code(bench, timeout_code(bench)))
