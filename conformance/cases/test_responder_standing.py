# SPDX-License-Identifier: BSD-2-Clause
"""What one queue pair is in the midst of stays its own, whatever another is in the midst of."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import ANYTHING
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    ATOMIC_ACK,
    FETCH_ADD,
    INVALID_REQUEST,
    NAK,
    READ_REQUEST,
    READ_RESP_ONLY,
    RNR,
    SEND_FIRST,
    SEND_LAST,
    SEND_ONLY,
    SEQUENCE_ERROR,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP, Capability.RC, Capability.RESET)]

ODD = 21  # bytes
Stage = Iterator[None]


def waits_for_a_packet(qp: Connection) -> Stage:
    """A gap has drawn its NAK."""
    qp.send(WRITE_ONLY(psn=0, a=1), WRITE_ONLY(psn=2, a=1))
    qp.expect(ACK(psn=0, msn=1), NAK(SEQUENCE_ERROR, psn=1))
    yield
    qp.send(WRITE_ONLY(psn=3, a=1))
    yield
    qp.send(WRITE_ONLY(psn=2, a=1), WRITE_ONLY(psn=1, a=1))
    qp.expect(ACK(psn=1, msn=2))


def waits_for_a_receive(qp: Connection) -> Stage:
    """A message has drawn an RNR NAK."""
    region = qp.region(2 * ODD)
    qp.send(SEND_ONLY(psn=0, payload=ODD, a=1))
    qp.expect(RNR(psn=0))
    yield
    qp.send(SEND_ONLY(psn=1, payload=ODD, a=1))
    yield
    receive = qp.post_receive(region)
    qp.send(SEND_ONLY(psn=1, payload=ODD, a=1), SEND_ONLY(psn=0, payload=ODD, a=1))
    qp.expect(ACK(psn=0, msn=1))
    qp.receives(receive, byte_len=ODD)


def is_in_a_write(qp: Connection) -> Stage:
    """A message of three packets goes on and ends."""
    region, mtu = qp.region(2 * qp.mtu + ODD), qp.mtu
    first = WRITE_FIRST(psn=0, payload=mtu, dmalen=region.size, a=1, **at(region))
    whole = b""
    for psn, packet in enumerate((first, WRITE_MIDDLE(payload=mtu), WRITE_LAST(payload=ODD))):
        filled = qp.filled(packet.but(psn=psn, a=1))
        qp.send(filled)
        qp.expect(ACK(psn=psn, msn=psn // 2))
        whole += filled.said["payload"]
        yield
    assert region.read(0, region.size) == whole, "a WRITE among others' requests is not whole"


def is_in_a_send(qp: Connection) -> Stage:
    """A message fills its receive, and the next one has another."""
    region = qp.region(2 * qp.mtu)
    receives = [qp.post_receive(region) for _ in range(2)]
    qp.send(SEND_FIRST(psn=0, payload=qp.mtu, a=1))
    qp.expect(ACK(psn=0, msn=0))
    yield
    qp.send(SEND_LAST(psn=1, payload=ODD, a=1))
    qp.expect(ACK(psn=1, msn=1))
    qp.receives(receives[0], byte_len=qp.mtu + ODD)
    yield
    qp.send(SEND_ONLY(psn=2, payload=ODD, a=1))
    qp.expect(ACK(psn=2, msn=2))
    qp.receives(receives[1], byte_len=ODD)


def has_read(qp: Connection) -> Stage:
    """A READ comes again, behind what another queue pair was asked for."""
    region = qp.region(ODD, filled=True)
    answer = READ_RESP_ONLY(psn=0, payload=region.read(0, ODD))
    for _ in range(3):
        qp.send(READ_REQUEST(psn=0, dmalen=ODD, **at(region)))
        qp.expect(answer)
        yield


def has_added(qp: Connection) -> Stage:
    """An atomic comes again, and finds what it found."""
    region = qp.region(8, filled=True)
    found = int.from_bytes(region.read(0, 8), "little")
    add = FETCH_ADD(psn=0, swap=1, **at(region))
    for _ in range(3):
        qp.send(add)
        qp.expect(ATOMIC_ACK(psn=0, msn=1, original=found))
        yield
    now = int.from_bytes(region.read(0, 8), "little")
    assert now == (found + 1) % (1 << 64), "an atomic that came thrice was not executed once"


def has_failed(qp: Connection) -> Stage:
    """A fatal NAK was its last word."""
    qp.send(WRITE_LAST(psn=0, payload=ODD, a=1))
    qp.expect(NAK(INVALID_REQUEST, psn=0))
    yield
    qp.send(WRITE_ONLY(psn=0, a=1))
    yield
    qp.send(WRITE_ONLY(psn=1, a=1), WRITE_ONLY(psn=0, a=1))


class Standing(NamedTuple):
    """What a queue pair can be in the midst of, in stages."""

    stages: Callable[[Connection], Stage]
    operation: Op = Op.WRITE


STANDING = [
    Standing(waits_for_a_packet),
    Standing(waits_for_a_receive, Op.SEND),
    Standing(is_in_a_write),
    Standing(is_in_a_send, Op.SEND),
    Standing(has_read, Op.READ),
    Standing(has_added, Op.FETCH_ADD),
    Standing(has_failed),
]


def side_by_side(*stages: Stage) -> None:
    """A stage of each in turn, until all have ended."""
    left = list(stages)
    while left:
        left = [each for each in left if next(each, left) is None]


@case(
    *("NAK-01", "NAK-02", "NAK-08", "RNR-06", "DUP-04", "DUP-05", "QPS-06"),
    smoke=True,
    targets=["hdl", "model"],
    breaks=ANYTHING,
)
@over("one", STANDING, ids=lambda one: one.stages.__name__)
def test_what_a_queue_pair_is_in_the_midst_of_is_its_own(bench: Bench, one: Standing) -> None:
    executed_of(bench.claims, Service.RC, [one.operation])
    qps = [bench.connect() for _ in range(2)]
    for other in STANDING:
        if qps[0].executes(other.operation):
            for qp in qps:
                qp.reconnect()
            side_by_side(one.stages(qps[0]), other.stages(qps[1]))
