# SPDX-License-Identifier: BSD-2-Clause
"""A responder that is reset as a whole amid its life knows nothing of its memory and receives."""

from collections.abc import Callable
from typing import Any

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.suite.limits.within_limits import executed_of, require_sent, sent_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    ATOMIC_ACK,
    CNP,
    FETCH_ADD,
    NAK,
    READ_REQUEST,
    RNR,
    SEND_FIRST,
    SEND_ONLY,
    SEQUENCE_ERROR,
    UD_SEND_ONLY,
    WRITE_FIRST,
    WRITE_MIDDLE,
    WRITE_ONLY,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.POWER_ON), needs(Capability.RC)]

SIMULATED = ["hdl", "model"]
PACKETS, PLACES, CE = 8, 16, 3
DATAGRAMS, DATAGRAM_ROUNDS, SIZE = 12, 4, 64
ETHERNET_BYTES, IPV4_BYTES = 14, 20
Moment = Callable[[Bench, Connection, Region], None]


def slowly(bench: Bench, **percent: int) -> None:
    if Capability.DISTURBANCE in bench.claims.capabilities:
        bench.target.disturb(**percent)


def until_it_sends(bench: Bench, *, within_ns: int) -> None:
    came = len(bench.frames_sent())
    bench.pump(within_ns, lambda: len(bench.frames_sent()) > came)


def amid_a_send(bench: Bench, qp: Connection, region: Region) -> None:
    """A receive is being filled, others wait."""
    executed_of(bench.claims, Service.RC, [Op.SEND])
    for _ in range(3):
        qp.post_receive(region)
    qp.send(SEND_FIRST(psn=0, payload=qp.mtu, a=1))
    qp.expect(ACK(psn=0))


def amid_a_write(bench: Bench, qp: Connection, region: Region) -> None:
    """Memory is slow, and a packet is coming in."""
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    slowly(bench, memory_stall=90, memory_lag=95)
    qp.send(WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=PACKETS * qp.mtu, **at(region)))
    qp.send(*(WRITE_MIDDLE(psn=n, payload=qp.mtu) for n in range(1, PACKETS - 1)))
    bench.target.wait(bench.random.randrange(100, 3000))


def amid_reads(bench: Bench, qp: Connection, region: Region) -> None:
    """Answers are leaving slowly, others wait for their turn."""
    executed_of(bench.claims, Service.RC, [Op.READ])
    slowly(bench, tx_stall=80, memory_gap=50, memory_stall=95)
    size = PACKETS * qp.mtu
    depth = range(qp.spec.max_dest_rd_atomic)
    qp.send(*(READ_REQUEST(psn=n * PACKETS, dmalen=size, **at(region)) for n in depth))
    until_it_sends(bench, within_ns=bench.target.patience.answer_ns)


def with_a_completion_held(bench: Bench, qp: Connection, region: Region) -> None:
    """Nobody takes what says that a message has come. A device may keep its ACK back until then."""
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp.post_receive(region)
    slowly(bench, cpl_stall=100)
    qp.send(SEND_ONLY(psn=0, payload=8, a=1))
    until_it_sends(bench, within_ns=bench.target.patience.quiet_ns)


def with_answers_held(bench: Bench, qp: Connection, region: Region) -> None:
    """Messages have come, and what acknowledges them hardly moves, or waits behind a READ."""
    executed_of(bench.claims, Service.RC, [Op.SEND])
    for _ in range(PACKETS):
        qp.post_receive(region)
    slowly(bench, tx_stall=99)
    first = 0
    if qp.executes(Op.READ):
        qp.send(READ_REQUEST(psn=0, dmalen=PACKETS * qp.mtu, **at(region)))
        first = PACKETS
    qp.send(*(SEND_ONLY(psn=first + n, payload=8, a=1) for n in range(PACKETS)))
    bench.target.wait(bench.random.randrange(300, 3000))


def with_a_command_waiting(bench: Bench, qp: Connection, region: Region) -> None:
    """Memory hardly moves, and a queue pair is to begin anew behind what is to be written."""
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    slowly(bench, memory_stall=99)
    qp.send(*(WRITE_ONLY(psn=n, payload=qp.mtu, a=1, **at(region)) for n in range(PACKETS)))
    bench.target.wait(bench.random.randrange(500, 1500))
    qp.post_receive(region)
    bench.target.restart(qp.qp, qp.spec)
    bench.target.wait(bench.random.randrange(50, 500))


def with_a_command_that_the_sending_half_awaits(
    bench: Bench, qp: Connection, _region: Region
) -> None:
    """What the device sends hardly moves, and the queue pair of it is to begin anew."""
    ops = require_sent(bench.claims, Service.RC, [Op.SEND, Op.WRITE])
    slowly(bench, tx_stall=99)
    qp.post_some(ops[0], *[qp.mtu] * PACKETS)
    bench.target.wait(bench.random.randrange(500, 1500))
    bench.target.restart(qp.qp, qp.spec)
    bench.target.wait(bench.random.randrange(50, 500))


def amid_atomics(bench: Bench, qp: Connection, region: Region) -> None:
    """Memory hardly moves, and atomics wait for it."""
    executed_of(bench.claims, Service.RC, [Op.FETCH_ADD])
    slowly(bench, memory_stall=95, memory_lag=95)
    qp.send(*(FETCH_ADD(psn=n, swap=1, **at(region)) for n in range(PACKETS)))
    bench.target.wait(bench.random.randrange(100, 3000))


def amid_what_is_asked_again(bench: Bench, qp: Connection, region: Region) -> None:
    """READs are looked for among those that were answered."""
    executed_of(bench.claims, Service.RC, [Op.READ])
    depth = qp.spec.max_dest_rd_atomic
    reads = [READ_REQUEST(psn=n, dmalen=8, **at(region)) for n in range(depth)]
    for psn, read in enumerate(reads):
        qp.send(read)
        qp.expect(*read_responses(qp, psn, region.read(0, 8), msn=psn + 1))
    qp.send(*reads, breaks=OUT_OF_SEQUENCE)
    bench.target.wait(bench.random.randrange(50, 1000))


def amid_marks(bench: Bench, qp: Connection, _region: Region) -> None:
    """What the device sends hardly moves, and notifications of marks wait for it."""
    slowly(bench, tx_stall=99)
    qp.send(*(WRITE_ONLY(psn=n, tos=qp.to_device.tos | CE) for n in range(PACKETS)))
    bench.target.wait(bench.random.randrange(100, 3000))


def behind_a_sequence_nak(_bench: Bench, qp: Connection, _region: Region) -> None:
    """A sequence NAK is pending."""
    qp.send(WRITE_ONLY(psn=3, a=1), breaks=OUT_OF_SEQUENCE)
    qp.expect(NAK(SEQUENCE_ERROR, psn=0))


@case(
    "QPS-04", "QPS-05", "RETH-06", "MSN-07", smoke=True, targets=SIMULATED, breaks=OUT_OF_SEQUENCE
)
@over(
    "moment",
    [
        *(amid_a_send, amid_a_write, amid_reads, with_a_completion_held),
        *(with_answers_held, amid_atomics, amid_what_is_asked_again, behind_a_sequence_nak),
        pytest.param(with_a_command_waiting, marks=needs(Capability.RESTART)),
        pytest.param(with_a_command_that_the_sending_half_awaits, marks=needs(Capability.RESTART)),
        pytest.param(amid_marks, marks=needs(Capability.MARKS)),
    ],
)
def test_a_reset_leaves_nothing_behind(bench: Bench, moment: Moment) -> None:
    old = bench.connect()
    memory = old.region(PACKETS * old.mtu)
    former = at(memory)
    moment(bench, old, memory)
    bench.power_on()
    slowly(bench)
    bench.settle()
    same: dict[str, Any] = {"local_qpn": old.qp.qpn, "remote_qpn": old.spec.remote_qpn}
    same["rq_psn"] = old.spec.rq_psn
    fixed = bench.claims.limits.fixed_of_qp.keys()
    if Capability.TOLD_KEYS in bench.claims.capabilities:
        held = memory.read(0, memory.size)
        other = bench.connect()
        sends_from_nothing(bench, other)
        other.send(WRITE_ONLY(psn=0, payload=8, a=1, **former))
        other.expect(NAK(ACCESS_ERROR, psn=0, msn=0))
        assert memory.read(0, memory.size) == held
    qp = bench.connect(**{name: n for name, n in same.items() if name not in fixed})
    sends_from_nothing(bench, qp)
    psn = serves_from_nothing(qp)
    if Capability.MARKS in bench.claims.capabilities:
        qp.send(WRITE_ONLY(psn=psn, tos=qp.to_device.tos | CE))
        qp.expect(CNP())


def sends_from_nothing(bench: Bench, qp: Connection) -> None:
    """Where the device sends, too: the half of it that does has taken the queue pair."""
    for op in sent_of(bench.claims, Service.RC, [Op.SEND, Op.WRITE]):
        qp.transfer(op, 5)


@case("BTH-11", "QPS-04", smoke=True, targets=SIMULATED, breaks=OUT_OF_SEQUENCE | {"BTH-10"})
def test_a_queue_pair_of_the_life_before_is_unknown(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    former = [bench.connect() for _ in range(min(bench.claims.qps, PLACES))]
    for old in former:
        old.send(WRITE_ONLY(psn=0, payload=8, a=1, **at(old.region(filled=True))))
        old.expect(ACK(psn=0))
    bench.power_on()
    bench.settle()
    for old in former:
        bench.add(old)
        old.send(*(WRITE_ONLY(psn=psn, payload=8, a=1) for psn in (0, 1)))
        old.expect_silence()
    serves_from_nothing(bench.connect())


def serves_from_nothing(qp: Connection) -> int:
    """No receive is there, and whatever the device executes begins at its first PSN and MSN.

    Returned is the PSN behind it.
    """
    region, psn = qp.region(filled=True), 0
    if qp.executes(Op.SEND):
        qp.send(SEND_ONLY(psn=0, payload=8, a=1))
        qp.expect(RNR(psn=0, msn=0))
        receive = qp.post_receive(region)
        send = qp.filled(SEND_ONLY(psn=0, payload=9, a=1))
        qp.send(send)
        qp.expect(ACK(psn=0, msn=1))
        qp.receives(receive, byte_len=9)
        assert region.read(0, 9) == send.said["payload"]
        psn += 1
    if qp.executes(Op.WRITE):
        write = qp.filled(WRITE_ONLY(psn=psn, payload=16, a=1, **at(region, 32)))
        qp.send(write)
        qp.expect(ACK(psn=psn, msn=psn + 1))
        assert region.read(32, 16) == write.said["payload"]
        psn += 1
    if qp.executes(Op.READ):
        size = 2 * qp.mtu + 188
        qp.send(READ_REQUEST(psn=psn, dmalen=size, **at(region)))
        qp.expect(*read_responses(qp, psn, region.read(0, size), msn=psn + 1))
        psn += 1 + size // qp.mtu
    if qp.executes(Op.FETCH_ADD):
        found = int.from_bytes(region.read(0, 8), "little")
        qp.send(FETCH_ADD(psn=psn, swap=1, **at(region)))
        qp.expect(ATOMIC_ACK(psn=psn, original=found, payload=0))
        psn += 1
    return psn


@case("QPS-04", "RNR-01", needs=[Capability.SHARED_RECEIVE], smoke=True, targets=SIMULATED)
@over("taken", [0, 2])
def test_a_reset_forgets_the_receives_of_shared_queues(bench: Bench, taken: int) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    old = bench.connect(shared_receive=True)
    receives = [old.post_receive(old.region(64)) for _ in range(3)]
    for psn in range(taken):
        old.send(SEND_ONLY(psn=psn, payload=8, a=1))
        old.expect(ACK(psn=psn))
        old.receives(receives[psn], byte_len=8)
    bench.power_on()
    qp = bench.connect(shared_receive=True)
    qp.send(SEND_ONLY(psn=0, payload=8, a=1))
    qp.expect(RNR(psn=0, msn=0))
    receive = qp.post_receive(qp.region(64))
    qp.send(SEND_ONLY(psn=0, payload=8, a=1), breaks=OUT_OF_SEQUENCE)
    qp.expect(ACK(psn=0, msn=1))
    qp.receives(receive, byte_len=8)


@case(
    "QPS-04", "GID-03", needs=[Capability.UD, Capability.DISTURBANCE], smoke=True, targets=["hdl"]
)
def test_a_reset_amid_datagrams_leaves_the_next_one_whole(bench: Bench) -> None:
    """Header and payload of a datagram are two writes: the reset may come between them."""
    executed_of(bench.claims, Service.UD, [Op.SEND])
    for _ in range(DATAGRAM_ROUNDS):
        qp = bench.connect(Service.UD)
        inbox = qp.region(DATAGRAMS * SIZE)
        for turn in range(DATAGRAMS):
            qp.post_receive(inbox, offset=turn * SIZE, length=SIZE)
        bench.target.disturb(memory_stall=95)
        qp.send(*(UD_SEND_ONLY(psn=n, payload=8) for n in range(DATAGRAMS)))
        bench.target.wait(bench.random.randrange(500, 2500))
        bench.power_on()
        slowly(bench)
        bench.settle()
        fresh = bench.connect(Service.UD)
        region = fresh.region()
        receive = fresh.post_receive(region)
        datagram = fresh.filled(UD_SEND_ONLY(psn=0, payload=9))
        fresh.send(datagram)
        fresh.receives(receive, byte_len=GRH_BYTES + 9)
        header = fresh.frame(datagram)[ETHERNET_BYTES:][:IPV4_BYTES]
        if region.read(GRH_BYTES - IPV4_BYTES, IPV4_BYTES) != header:
            text = "the first datagram behind a reset has no network header in memory"
            raise bench.failed(text, rules=["GID-03"])
        assert region.read(GRH_BYTES, 9) == datagram.said["payload"]
        bench.power_on()
