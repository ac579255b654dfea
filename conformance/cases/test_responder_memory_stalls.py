# SPDX-License-Identifier: BSD-2-Clause
"""Memory that is slow to take a command or a beat, and to give one: nothing else comes of it."""

from collections.abc import Callable, Mapping

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_services
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.packets import Sendable, described
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    ATOMIC_ACK,
    CMP_SWAP,
    FETCH_ADD,
    NAK,
    READ_REQUEST,
    READ_RESP_ONLY,
    RNR,
    SEND_ONLY,
    SEQUENCE_ERROR,
    UD_SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
)
from roceproof.conformance.suite.traffic.amid import flood
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = RESPONDER

FLOOD = 48 << 10
"""Bytes, more than a device may have room for."""
SHORT = 6
DATA = b"\x81\x92\xa3\xb4\xc5\xd6\xe7\xf8"
READS = 16
MANY = 210
"""WRITEs, of which more may be outstanding than a counter of seven bits has numbers for."""


@case("RETH-12", needs=[Capability.DISTURBANCE], smoke=True)
@over("stall", [40, 90])
@over_services
@over("widest", [False, True], ids=["short", "long"])
def test_a_write_into_slow_memory_arrives_whole(
    bench: Bench, service: Service, stall: int, *, widest: bool
) -> None:
    qp = bench.connect(service, path_mtu=(max if widest else min)(bench.claims.path_mtus))
    bench.target.disturb(memory_stall=stall)
    parts = [qp.random.randbytes(qp.mtu) for _ in range(FLOOD // qp.mtu if widest else SHORT)]
    region = qp.region(len(parts) * qp.mtu)
    qp.send(WRITE_FIRST(psn=0, payload=parts[0], dmalen=region.size, **at(region)))
    for psn, part in enumerate(parts[1:-1], start=1):
        qp.send(WRITE_MIDDLE(psn=psn, payload=part))
    asks = service is Service.RC
    qp.send(WRITE_LAST(psn=len(parts) - 1, payload=parts[-1], a=asks))
    if asks:
        qp.expect(ACK(psn=len(parts) - 1, msn=1))
    qp.fence(len(parts))
    assert region.read(0, region.size) == b"".join(parts)


@case("ACK-05", "RETH-12", needs=[Capability.DISTURBANCE], smoke=True)
@over("lag", [80, 99])
@over("every", [1, 70])
def test_no_write_is_acknowledged_before_it_has_ended(bench: Bench, lag: int, every: int) -> None:
    qp = bench.connect()
    flood(bench, qp, count=MANY, lag=lag, every=every)
    qp.fence(MANY)


def not_ready(qp: Connection, _region: Region) -> tuple[Sendable, Pattern]:
    """A SEND that finds no receive."""
    return SEND_ONLY(psn=1, payload=0, a=1), RNR(psn=1)


def ahead(qp: Connection, _region: Region) -> tuple[Sendable, Pattern]:
    """A request behind a gap."""
    return WRITE_ONLY(psn=3, a=1), NAK(SEQUENCE_ERROR, psn=1)


def refused(qp: Connection, region: Region) -> tuple[Sendable, Pattern]:
    """A request that may not be."""
    return WRITE_ONLY(psn=1, payload=8, a=1, va=0, rkey=region.wrong_key(1 << 20)), NAK(
        ACCESS_ERROR, psn=1
    )


def empty(qp: Connection, _region: Region) -> tuple[Sendable, Pattern]:
    """A WRITE that writes nothing."""
    return WRITE_ONLY(psn=1, a=1), ACK(psn=1)


def received(qp: Connection, region: Region) -> tuple[Sendable, Pattern]:
    """A SEND that brings nothing."""
    qp.post_receive(region)
    return SEND_ONLY(psn=1, payload=0, a=1), ACK(psn=1)


def read_of_nothing(qp: Connection, region: Region) -> tuple[Sendable, Pattern]:
    """A READ that reads nothing."""
    return READ_REQUEST(psn=1, dmalen=0, a=1, **at(region)), READ_RESP_ONLY(psn=1, payload=0)


@case(
    "ACK-05",
    "ACK-06",
    needs=[Capability.DISTURBANCE],
    smoke=True,
    targets=["hdl"],
    breaks=OUT_OF_SEQUENCE,
)
def test_no_answer_stands_for_a_write_that_has_not_ended(bench: Bench) -> None:
    """None of its own asks for: the next one of any kind says that it was executed."""
    qp = bench.connect()
    bench.target.disturb(memory_lag=99)
    for answer in (not_ready, ahead, refused, empty, received, read_of_nothing):
        qp.reconnect()
        region = qp.region()
        write = qp.filled(WRITE_ONLY(psn=0, payload=qp.mtu, **at(region, qp.mtu)))
        request, wanted = answer(qp, region)
        qp.send(write, request)
        qp.expect(wanted)
        if region.read(qp.mtu, qp.mtu) != write.said["payload"]:
            raise bench.failed(
                f"a WRITE that asked for no ACK is acknowledged by {described(wanted)} of the"
                " next request, and its bytes are not in memory",
                rules=["ACK-05"],
            )


def a_datagram(qp: Connection, region: Region, op: Op) -> int:
    receive = qp.post_receive(region)
    qp.send(UD_SEND_ONLY(psn=0, payload=DATA))
    qp.receives(receive)
    return GRH_BYTES


def into_a_receive(qp: Connection, region: Region, op: Op) -> int:
    receive = qp.post_receive(region)
    place = {} if op is Op.SEND else at(region)
    qp.send((SEND_ONLY if op is Op.SEND else WRITE_ONLY_IMM)(psn=0, payload=DATA, **place))
    qp.receives(receive)
    return 0


def a_write(qp: Connection, region: Region, op: Op) -> int:
    qp.send(WRITE_ONLY(psn=0, payload=DATA, a=1, **at(region)))
    qp.expect(ACK(psn=0))
    return 0


def an_atomic(qp: Connection, region: Region, op: Op) -> int:
    changed = int.from_bytes(DATA, "little")
    if op is Op.FETCH_ADD:
        qp.send(FETCH_ADD(psn=0, swap=changed, **at(region)))
    else:
        qp.send(CMP_SWAP(psn=0, compare=0, swap=changed, **at(region)))
    qp.expect(ATOMIC_ACK(psn=0, original=0))
    return 0


TELLING: Mapping[Service, Mapping[Op, Callable[[Connection, Region, Op], int]]] = {
    Service.RC: {
        Op.WRITE: a_write,
        Op.SEND: into_a_receive,
        Op.WRITE_IMM: into_a_receive,
        Op.CMP_SWAP: an_atomic,
        Op.FETCH_ADD: an_atomic,
    },
    Service.UC: {Op.SEND: into_a_receive, Op.WRITE_IMM: into_a_receive},
    Service.UD: {Op.SEND: a_datagram},
}
"""What waits for the answer or the completion of each, and returns where its bytes must be then."""


@case("ACK-05", needs=[Capability.DISTURBANCE], smoke=True, targets=["hdl"])
@over("service", Service, ids=lambda service: service.name)
def test_nothing_is_said_of_bytes_that_are_not_in_memory(bench: Bench, service: Service) -> None:
    ops = executed_of(bench.claims, service, TELLING[service])
    qp = bench.connect(service)
    bench.target.disturb(memory_lag=99)
    for op in ops:
        qp.reconnect()
        region = qp.region()
        start = TELLING[service][op](qp, region, op)
        if region.read(start, len(DATA)) != DATA:
            text = f"{op.name} is told to be done, and its bytes are not in memory"
            raise bench.failed(text, rules=["ACK-05"] if service is Service.RC else [])


@case("READ-02", needs=[Capability.DISTURBANCE])
@over("slow", [{"memory_stall": 80}, {"memory_gap": 80}, {"memory_gap": 30}], ids=str)
def test_a_read_of_slow_memory_is_answered_whole(bench: Bench, slow: dict[str, int]) -> None:
    qp = bench.connect()
    bench.target.disturb(**slow)
    region = qp.region(4 * qp.mtu, filled=True)
    memory = region.read(0, region.size)
    psn = 0
    for msn, length in enumerate((1, qp.mtu + 1, 3 * qp.mtu), start=1):
        qp.send(READ_REQUEST(psn=psn, dmalen=length, **at(region)))
        responses = read_responses(qp, psn, memory[:length], msn=msn)
        qp.expect(*responses)
        psn += len(responses)


@case("READ-02", "READ-06", needs=[Capability.DISTURBANCE], smoke=True, targets=["hdl", "model"])
@over("stall", [90, 99])
def test_short_reads_at_once_of_slow_memory_are_each_answered(bench: Bench, stall: int) -> None:
    """More responses than memory takes commands for in the time that these need on the wire."""
    qp = bench.connect(max_dest_rd_atomic=READS)
    bench.target.disturb(memory_stall=stall)
    region = qp.region(READS + qp.mtu, filled=True)
    for psn in range(0, 3 * READS, READS):
        places = range(READS)
        qp.send(*(READ_REQUEST(psn=psn + each, dmalen=1, **at(region, each)) for each in places))
        answers = ((psn + each, region.read(each, 1)) for each in places)
        qp.expect(*(READ_RESP_ONLY(psn=each, payload=data) for each, data in answers))
