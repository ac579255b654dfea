# SPDX-License-Identifier: BSD-2-Clause
"""What must not disturb a responder: changes beside it, rubbish, other traffic, bursts."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import ANYTHING, OUT_OF_SEQUENCE
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
)
from roceproof.conformance.suite.traffic.background_traffic import broadcasts
from roceproof.conformance.suite.traffic.corrupted_frames import rubbish_of
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.verbs.queue_pair import State

pytestmark = RESPONDER


def disturb(bench: Bench, other: Connection) -> None:
    """Change something about another queue pair or its memory."""
    match bench.random.randrange(5):
        case 0:
            other.reconnect()
        case 1:
            bench.target.set_state(other.qp, State.ERR)
        case 2:
            bench.target.set_state(other.qp, State.RESET)
        case 3:
            other.region().deregister()
        case 4:
            other.send(WRITE_ONLY(psn=0), WRITE_ONLY(psn=2))


@case("FUZZ-16", "QPS-06", needs=[Capability.STATES], breaks=OUT_OF_SEQUENCE)
def test_changes_beside_traffic_do_not_change_it(bench: Bench) -> None:
    qp, others = bench.connect(), [bench.connect() for _ in range(3)]
    parts = [qp.random.randbytes(qp.mtu) for _ in range(60)]
    region = qp.region(len(parts) * qp.mtu)
    qp.send(WRITE_FIRST(psn=0, payload=parts[0], dmalen=region.size, **at(region)))
    for psn, part in enumerate(parts[1:-1], start=1):
        disturb(bench, bench.random.choice(others))
        qp.send(WRITE_MIDDLE(psn=psn, payload=part, a=1))
        qp.expect(ACK(psn=psn, msn=0))
    qp.send(WRITE_LAST(psn=len(parts) - 1, payload=parts[-1], a=1))
    qp.expect(ACK(psn=len(parts) - 1, msn=1))
    assert region.read(0, region.size) == b"".join(parts)


@case("LIVE-01")
def test_a_device_that_was_sent_rubbish_serves_a_new_queue_pair(bench: Bench) -> None:
    qp = bench.connect()
    good = qp.frame(WRITE_ONLY(psn=0, payload=8, a=1, **at(qp.region())))
    for _ in range(300):
        bench.send(rubbish_of(good, bench.random), is_void=True)
    qp.fence(0)
    bench.fresh().fence(0)


@case("LIVE-03", smoke=True)
def test_unrelated_traffic_between_requests_changes_nothing(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    write = WRITE_ONLY(psn=0, payload=64, **at(region))
    for psn in range(20):
        for frame in broadcasts(bench):
            bench.send(frame, breaks=ANYTHING)
        for port in (4790, 4792):
            edit = edits.set_udp(2, port.to_bytes(2, "big"))
            qp.send(write.but(psn=psn).resealed(edit))
        qp.send(write.but(psn=psn, a=1))
        qp.expect(ACK(psn=psn, msn=psn + 1))


@case("LIVE-04")
def test_bursts_of_the_shortest_frames_lose_nothing(bench: Bench) -> None:
    qp = bench.connect()
    for burst in range(10):
        qp.send(*(ACK(psn=n) for n in range(-50, 0)))
        qp.send(*(WRITE_ONLY(psn=50 * burst + n, a=n == 49) for n in range(50)))
        qp.expect(ACK(psn=50 * burst + 49, msn=50 * burst + 50))
