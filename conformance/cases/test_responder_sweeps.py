# SPDX-License-Identifier: BSD-2-Clause
"""Requests in every shape, one behind the other: lengths, addresses, stalls, copies.

Nothing is expected in words: an oracle beside each queue pair says what may come of them.
"""

from roceproof.conformance.model.segmentation import TAKE_RECEIVE
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_all_services, over_mtus
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.intent import WRONG_LENGTHS
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    INVALID_REQUEST,
    NAK,
    READ_REQUEST,
    RNR,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_ONLY,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = RESPONDER

LANES = 64  # bytes of the widest stream
OPERATIONS = {
    Service.RC: (
        *(Op.SEND, Op.SEND_IMM, Op.SEND_INV, Op.WRITE, Op.WRITE_IMM, Op.READ),
        *(Op.CMP_SWAP, Op.FETCH_ADD),
    ),
    Service.UC: (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM),
    Service.UD: (Op.SEND, Op.SEND_IMM),
}
STREAMS = ("tx_stall", "rx_gap", "cpl_stall", "memory_stall", "memory_gap", "memory_lag")
SHARES = (0, 20, 45, 70, 90, 97)
AGES = (1, 2, 8, 20)
MANY = (5, 10, 20, 70)  # packets
DEEPEST = 16  # READs at once
RNR_CODES = range(32)
MOST_BEYOND = 64  # bytes that a frame may carry beyond the largest path MTU and is not dropped
SIMULATED = ["hdl", "model"]  # where it can be seen that the device is at rest


def ask(play: Asking, op: Op, size: int, *, room: int, **fields: object) -> None:
    """A message, and a receive if it takes one."""
    if op in TAKE_RECEIVE:
        play.receive(0, room)
    play.request(0, op.name, size, immediate=size, kills=-1, **fields)


def ends_well(play: Asking) -> None:
    """What was asked for was right and has ended nothing."""
    play.settle()
    if play.beyond is not None:
        raise play.beyond
    assert play.serves(0), "the device may end the queue pair for that: the case asks for too much"
    play.finish()


@case("RETH-12", "READ-02", "IMM-02", "MTU-10", targets=SIMULATED)
@over_all_services
@over_mtus()
def test_every_operation_moves_every_length(bench: Bench, service: Service, mtu: int) -> None:
    play = Asking(bench, inbox=3 * mtu)
    play.connect(0, service=service.name, path_mtu=mtu, max_dest_rd_atomic=DEEPEST)
    play.region(0, 3 * mtu)
    lengths = [0, 2, mtu // 2, mtu - 1, mtu]
    if service is not Service.UD:
        lengths += [mtu + 1, mtu + 9, 2 * mtu, 2 * mtu + 3]
    for op in executed_of(bench.claims, service, OPERATIONS[service]):
        is_word = op in (Op.CMP_SWAP, Op.FETCH_ADD)
        for index, size in enumerate([8] if is_word else lengths):
            if op is Op.SEND_INV:
                play.region(0, 64)
            ask(play, op, size, room=size + GRH_BYTES, offset=7 * index, solicited=bool(index % 2))
        play.settle()
    ends_well(play)


@case("MTU-06", "LIVE-03", targets=SIMULATED)
@over_all_services
@over_mtus()
def test_a_packet_longer_than_the_path_mtu(bench: Bench, service: Service, mtu: int) -> None:
    play = Asking(bench, inbox=3 * mtu)
    play.connect(0, service=service.name, path_mtu=mtu)
    play.region(0, 3 * mtu)
    (op, *_) = executed_of(bench.claims, service, OPERATIONS[service])
    play.receive(0, 2 * mtu)
    play.request(0, op.name, mtu + 4 if service is Service.UD else mtu, bytes=mtu + 4)
    play.finish()


@case("MTU-06", smoke=True, targets=SIMULATED, breaks=WRONG_LENGTHS)
def test_what_is_longer_than_the_largest_path_mtu_is_refused_and_forgotten(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp = bench.connect(path_mtu=max(bench.claims.path_mtus))
    mtu = qp.mtu
    region = qp.region(3 * mtu)
    for more in (1, bench.random.randrange(2, MOST_BEYOND), MOST_BEYOND):
        size = mtu + more
        first = WRITE_FIRST(psn=0, payload=mtu, dmalen=mtu + size, **at(region))
        for packets in (
            [WRITE_ONLY(psn=0, payload=size, **at(region))],
            [first.but(payload=size, dmalen=2 * size)],
            [first, WRITE_LAST(psn=1, payload=size)],
        ):
            qp.reconnect()
            region.write(0, bytes(2 * mtu))
            qp.send(*packets)
            qp.expect(NAK(INVALID_REQUEST, psn=len(packets) - 1, msn=0))
            qp.reconnect()
            whole = qp.filled(WRITE_ONLY(psn=0, payload=mtu, a=1, **at(region)))
            qp.send(whole)
            qp.expect(ACK(psn=0, msn=1))
            data = whole.said["payload"] + bytes(mtu)
            bench.holds(region, data, what=f"a WRITE behind one of {size} bytes")


@case("READ-02", "MTU-10")
@over_mtus()
def test_reads_of_many_packets(bench: Bench, mtu: int) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    qp = bench.connect(path_mtu=mtu)
    region = qp.region(MANY[-1] * mtu, filled=True)
    psn = 0
    for packets in MANY:
        length = packets * mtu - 3
        qp.send(READ_REQUEST(psn=psn, dmalen=length, **at(region)))
        qp.expect(*read_responses(qp, psn, region.read(0, length)))
        psn += packets


@case("READ-06", "READ-02", targets=SIMULATED)
def test_as_many_reads_at_once_as_were_agreed_on(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    play = Asking(bench)
    play.connect(0, max_dest_rd_atomic=DEEPEST)
    play.region(0, 2048)
    for number in range(DEEPEST):
        play.request(0, "READ", 1500 + number, offset=number)
    ends_well(play)


@case("RETH-12", "READ-02", targets=SIMULATED)
@over("op", [Op.SEND, Op.WRITE, Op.READ], ids=lambda op: op.name)
def test_any_byte_of_memory_may_be_first_and_last(bench: Bench, op: Op) -> None:
    executed_of(bench.claims, Service.RC, [op])
    play = Asking(bench)
    play.connect(0, max_dest_rd_atomic=DEEPEST)
    play.region(0, 4 * LANES)
    for lane in range(LANES):
        if op is Op.SEND:
            play.receive(0, LANES + 1, offset=lane)
        play.request(0, op.name, LANES + 1, offset=lane)
        if lane % 8 == 7:
            play.settle()
    ends_well(play)


@case("RETH-12", "READ-02", "LIVE-03", needs=[Capability.DISTURBANCE], targets=SIMULATED)
@over("stream", STREAMS)
def test_every_operation_while_a_stream_pauses(bench: Bench, stream: str) -> None:
    wanted = (Op.SEND, Op.WRITE, Op.READ, Op.FETCH_ADD)
    play = Asking(bench)
    play.connect(0, max_dest_rd_atomic=DEEPEST)
    play.region(0, 1024)
    for share in SHARES:
        for op in executed_of(bench.claims, Service.RC, wanted):
            if op is Op.SEND:
                play.receive(0, 300)
            play.disturb(**{stream: share})
            size, offset = (8, 512) if op is Op.FETCH_ADD else (300, 0)
            play.request(0, op.name, size, offset=offset, swap=3)
    ends_well(play)


@case("DUP-01", "DUP-02", "DUP-04", "DUP-07", targets=SIMULATED)
@over("age", AGES, ids=str)
def test_every_request_comes_again(bench: Bench, age: int) -> None:
    if age > 1:
        executed_of(bench.claims, Service.RC, [Op.WRITE])
    mtu = bench.claims.path_mtus[0]
    play = Asking(bench, inbox=4 * mtu)
    play.connect(0, path_mtu=mtu, max_dest_rd_atomic=4)
    play.region(0, 4 * mtu)
    for op in executed_of(bench.claims, Service.RC, OPERATIONS[Service.RC]):
        is_word = op in (Op.CMP_SWAP, Op.FETCH_ADD)
        sizes = [8] if is_word else [12, mtu] if op is Op.READ else [12, 2 * mtu + 5]
        for size in sizes:
            if op is Op.SEND_INV:
                play.region(0, 64)
            ask(play, op, size, room=size)
            packets = 1 if is_word or op is Op.READ else -(-size // mtu)
            for _ in range(age - 1):
                play.request(0, "WRITE", 4)
            play.again(0, back=age - 1 + packets, count=packets)
            play.settle()
    for op in executed_of(bench.claims, Service.RC, (Op.SEND, Op.WRITE)):
        for part in range(2):
            ask(play, op, 3 * mtu, room=3 * mtu, part=part, twice=True)
        play.settle()
    ends_well(play)


@case("RQ-01", "RNR-01", targets=SIMULATED)
def test_many_receives_wait_and_are_used_in_their_order(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    for service in (Service.RC, Service.UC, Service.UD):
        if Capability[service.name] not in bench.claims.capabilities:
            continue
        play = Asking(bench)
        play.connect(0, service=service.name)
        play.region(0, 256)
        operations = executed_of(bench.claims, service, (Op.SEND, Op.WRITE_IMM))
        for op in operations:
            play.request(0, op.name, 4)
            play.receive(0, 100, count=16)
            for number in range(16):
                play.request(0, op.name, number, immediate=number)
            play.settle()
        ends_well(play)


@case("RNR-02", smoke=True)
def test_an_rnr_nak_carries_every_timer_code(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp = bench.connect(min_rnr_timer=0)
    for code in RNR_CODES:
        if code:
            qp.reconnect(min_rnr_timer=code)
        qp.send(SEND_ONLY(psn=0, payload=4, a=1))
        qp.expect(RNR(psn=0, timer=code))
