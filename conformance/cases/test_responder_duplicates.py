# SPDX-License-Identifier: BSD-2-Clause
"""Requests that come again: acknowledged, read again, replayed, and never executed twice."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    ATOMIC_ACK,
    CMP_SWAP,
    FETCH_ADD,
    NAK,
    READ_REQUEST,
    READ_RESP_ONLY,
    SEND_FIRST,
    SEND_LAST,
    SEND_MIDDLE,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Maker,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.queue_pair import State
from roceproof.verbs.work import Op, Region

pytestmark = RESPONDER

BURST = 1000
PLACES, PLACE_PACKETS = 10, 3


@case("DUP-01", "MSN-03", smoke=True)
def test_a_repeated_send_is_acknowledged_and_not_delivered(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    first, second = qp.post_receive(region), qp.post_receive(region)
    send = qp.filled(SEND_ONLY(psn=0, payload=8, a=1))
    qp.send(send)
    qp.expect(ACK(psn=0, msn=1))
    qp.receives(first, byte_len=8)
    for times in (1, 1, 2):
        qp.send(*[send] * times)
        qp.expect(ACK(psn=0, msn=1), allowing=[ACK(psn=0, msn=1)])
    qp.send(SEND_ONLY(psn=1, payload=13, a=1))
    qp.expect(ACK(psn=1, msn=2), allowing=[ACK(psn=0, msn=1)])
    qp.receives(second, byte_len=13)


@case("DUP-02", smoke=True)
def test_a_repeated_write_leaves_memory_alone(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    write = qp.filled(WRITE_ONLY(psn=0, payload=16, a=1, **at(region)))
    qp.send(write)
    qp.expect(ACK(psn=0))
    changed = qp.random.randbytes(16)
    region.write(0, changed)
    qp.send(write)
    qp.expect(ACK(psn=0))
    assert region.read(0, 16) == changed, "the repeated WRITE was executed"
    qp.fence(1)


@case("DUP-03", smoke=True)
@over("answered", [READ_REQUEST, FETCH_ADD], ids=["READ", "ATOMIC"])
def test_the_ack_of_a_duplicate_does_not_reach_into_what_was_asked_for(
    bench: Bench, answered: Maker
) -> None:
    qp = bench.connect()
    region = qp.region()
    write = qp.filled(WRITE_ONLY(psn=0, payload=8, a=1, **at(region)))
    qp.send(write, answered(psn=1, **at(region)))
    qp.expect(ACK(psn=0))
    qp.next()
    qp.send(write)
    qp.expect(ACK(psn=0))
    qp.fence(2)


@case("DUP-03", "DUP-10", smoke=True)
def test_the_ack_of_a_duplicate_names_it_or_the_latest_write(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(filled=True)
    has_read = qp.executes(Op.READ)
    last = 2 + 4 * has_read
    writes = [qp.filled(WRITE_ONLY(psn=psn, payload=8, a=1, **at(region))) for psn in (0, 1, last)]
    qp.send(*writes[:2], *[READ_REQUEST(psn=2, dmalen=4 * qp.mtu, **at(region))] * has_read)
    qp.expect(ACK(psn=0), ACK(psn=1))
    for _ in range(2, last):
        qp.next()
    qp.send(writes[0])
    qp.expect(ACK(psn=frozenset({0, 1})))
    qp.send(writes[2])
    qp.expect(ACK(psn=last))
    qp.send(writes[1])
    qp.expect(ACK(psn=frozenset({1, last})))


@case("DUP-04", smoke=True)
@over("packets", [1, 3])
def test_a_repeated_read_reads_the_memory_of_now(bench: Bench, packets: int) -> None:
    qp = bench.connect()
    region = qp.region(filled=True)
    size = packets * qp.mtu - 5
    read = READ_REQUEST(psn=0, dmalen=size, **at(region))
    qp.send(read)
    qp.expect(*read_responses(qp, 0, region.read(0, size)))
    region.write(0, qp.random.randbytes(size))
    qp.send(read)
    qp.expect(*read_responses(qp, 0, region.read(0, size)))
    qp.fence(packets)


@case("DUP-04", "READ-12", targets=["hdl", "model"])
@over("agreed", [1, 4, 16])
def test_as_many_reads_come_again_as_were_agreed_on(bench: Bench, agreed: int) -> None:
    qp = bench.connect(max_dest_rd_atomic=agreed)
    region = qp.region(filled=True)
    reads = [READ_REQUEST(psn=n, dmalen=8, **at(region, 8 * n)) for n in range(agreed)]
    answers = [READ_RESP_ONLY(psn=n, payload=region.read(8 * n, 8)) for n in range(agreed)]
    for read, answer in [*zip(reads, answers, strict=True)] * 2:
        qp.send(read)
        qp.expect(answer)
    qp.fence(agreed, msn=agreed + 1)


@case("DUP-04", smoke=True, unjudged={"MSN-05": "the READ was counted when it was executed first"})
def test_a_repeated_read_of_memory_that_is_gone_gets_no_data(bench: Bench) -> None:
    qp, bystander = bench.connect(), bench.bystander()
    region = qp.region(filled=True)
    read = READ_REQUEST(psn=0, dmalen=8, **at(region))
    qp.send(read)
    qp.expect(READ_RESP_ONLY(psn=0))
    region.deregister()
    qp.send(read)
    bystander.fence(0)
    qp.expect_silence(allowing=[NAK(ACCESS_ERROR, psn=0)])


@case("DUP-05", "PSN-15", smoke=True)
@over("skipped", [1, 2, 3])
@over("start", [0x123456, 0xFFFFFE], ids=hex)
def test_the_rest_of_a_read_is_answered_as_a_read_of_its_own(
    bench: Bench, start: int, skipped: int
) -> None:
    qp = bench.connect(rq_psn=start)
    region = qp.region(filled=True)
    size = 4 * qp.mtu - 3
    data = region.read(0, size)
    qp.send(READ_REQUEST(psn=0, dmalen=size, **at(region)))
    qp.expect(*read_responses(qp, 0, data))
    passed = skipped * qp.mtu
    qp.send(READ_REQUEST(psn=skipped, dmalen=size - passed, **at(region, passed)))
    qp.expect(*read_responses(qp, skipped, data[passed:]))
    qp.fence(4)


@case("DUP-05", smoke=True, targets=["hdl"])
def test_the_rest_of_a_read_is_answered_wherever_it_lies(bench: Bench) -> None:
    """Memory lies across a carry of its addresses now and then, and at the ends."""
    qp = bench.connect()
    size, psn = PLACE_PACKETS * qp.mtu, 0
    for _ in range(PLACES):
        region = qp.region(size, filled=True)
        data = region.read(0, size)
        qp.send(READ_REQUEST(psn=psn, dmalen=size, **at(region)))
        qp.expect(*read_responses(qp, psn, data))
        for skipped in range(1, PLACE_PACKETS):
            start = skipped * qp.mtu
            qp.send(READ_REQUEST(psn=psn + skipped, dmalen=size - start, **at(region, start)))
            qp.expect(*read_responses(qp, psn + skipped, data[start:]))
        psn += PLACE_PACKETS
        if Capability.TOLD_KEYS in bench.claims.capabilities:
            region.deregister()


@case("QPS-06", "DUP-04", "DUP-07", smoke=True, targets=["hdl", "model"])
@over("fails", [False, pytest.param(True, marks=needs(Capability.STATES))], ids=["begins", "fails"])
def test_what_was_answered_is_known_when_another_queue_pair(bench: Bench, fails: bool) -> None:
    qp, other = (bench.connect(max_dest_rd_atomic=2) for _ in range(2))
    region = qp.region(filled=True)
    data, asked = region.read(0, 8), [READ_REQUEST(psn=0, dmalen=8, **at(region))]
    answers = [READ_RESP_ONLY(psn=0, payload=data)]
    if qp.executes(Op.FETCH_ADD):
        asked.append(FETCH_ADD(psn=1, swap=1, **at(region, 8)))
        answers.append(ATOMIC_ACK(psn=1, original=int.from_bytes(region.read(8, 8), "little")))
    for _ in range(2):
        for request, answer in zip(asked, answers, strict=True):
            qp.send(request)
            qp.expect(answer)
        if fails:
            bench.target.set_state(other.qp, State.ERR)
            bench.settle()
        else:
            other.reconnect()


@case("DUP-04")
def test_a_read_comes_again_as_a_whole_behind_its_rest(bench: Bench) -> None:
    """How the rest is answered is not judged here."""
    qp = bench.connect()
    region = qp.region(filled=True)
    size = 4 * qp.mtu - 3
    data, rest = region.read(0, size), 2 * qp.mtu
    for _ in range(2):
        qp.send(READ_REQUEST(psn=0, dmalen=size, **at(region)))
        qp.expect(*read_responses(qp, 0, data))
        qp.send(READ_REQUEST(psn=2, dmalen=size - rest, **at(region, rest)))
        bench.settle()
        qp.inbox.clear()
    qp.fence(4)


@case("DUP-06", smoke=True)
def test_a_repeated_read_that_asks_for_more_is_dropped(bench: Bench) -> None:
    """Also behind a right repetition, which was just answered."""
    qp = bench.connect()
    region, other = qp.region(filled=True), qp.region(filled=True)
    size = 2 * qp.mtu
    read = READ_REQUEST(psn=0, dmalen=size, **at(region, 64))
    qp.send(read)
    qp.expect(*read_responses(qp, 0, region.read(64, size)))
    for fence in (2, 3):
        qp.drops(
            read.but(va=region.addr + 63),
            read.but(va=region.addr + 65),
            read.but(dmalen=size + 1),
            read.but(rkey=other.rkey),
            read.but(**at(other, 64)),
            fence=fence,
        )
        qp.send(read)
        qp.expect(*read_responses(qp, 0, region.read(64, size)))


@case("DUP-04", smoke=True)
@over("before", [0, 64], ids=["first", "behind_another"])
def test_a_read_of_no_bytes_that_comes_again_is_answered_again(bench: Bench, before: int) -> None:
    qp = bench.connect()
    region = qp.region(filled=True)
    psn = 0
    if before:
        qp.send(READ_REQUEST(psn=0, dmalen=before, **at(region, 64)))
        psn = len(qp.expect(*read_responses(qp, 0, region.read(64, before))))
    read = READ_REQUEST(psn=psn, dmalen=0, **at(region, 128))
    for _ in range(2):
        qp.send(read)
        qp.expect(*read_responses(qp, psn, b""))


@case("DUP-04", smoke=True)
def test_a_read_that_comes_again_behind_a_request_of_no_bytes_has_its_data(bench: Bench) -> None:
    qp = bench.connect(max_dest_rd_atomic=4)
    region = qp.region(filled=True)
    read = READ_REQUEST(psn=0, dmalen=64, **at(region))
    qp.send(read)
    qp.expect(*read_responses(qp, 0, region.read(0, 64)))
    qp.fence(1)
    qp.send(read)
    qp.expect(*read_responses(qp, 0, region.read(0, 64)))


@case("DUP-07", "ATOM-06", smoke=True)
@over("atomic", [CMP_SWAP, FETCH_ADD], ids=["CMP_SWAP", "FETCH_ADD"])
def test_a_repeated_atomic_is_answered_again_and_executed_once(bench: Bench, atomic: Maker) -> None:
    qp = bench.connect()
    region = qp.region()
    region.write(0, (7).to_bytes(8, "little"))
    request = atomic(psn=0, swap=5, compare=7, **at(region))
    qp.send(request)
    qp.expect(ATOMIC_ACK(psn=0, original=7))
    executed = region.read(0, 8)
    qp.send(request, request)
    qp.expect(ATOMIC_ACK(psn=0, original=7), ATOMIC_ACK(psn=0, original=7))
    assert region.read(0, 8) == executed, "the repeated atomic was executed"
    qp.fence(1)


@case("DUP-08", "ATOM-06", smoke=True)
def test_an_atomic_whose_result_is_no_longer_kept_is_dropped(bench: Bench) -> None:
    """Or answered as before, by a device that keeps more of them than it must."""
    qp = bench.connect(max_dest_rd_atomic=2)
    region = qp.region()
    atomics = [FETCH_ADD(psn=psn, swap=1, **at(region)) for psn in range(5)]
    for psn, atomic in enumerate(atomics):
        qp.send(atomic)
        qp.expect(ATOMIC_ACK(psn=psn, original=psn))
    for psn in range(2):
        qp.send(atomics[psn])
        bench.settle()
        qp.expect_silence(allowing=[ATOMIC_ACK(psn=psn, original=psn)])
        qp.send(atomics[4])
        qp.expect(ATOMIC_ACK(psn=4, original=4))
    qp.fence(5)
    assert region.read(0, 8) == (5).to_bytes(8, "little")


def one_of_each(qp: Connection, region: Region) -> list[tuple[Pattern, Pattern]]:
    """A request of each kind that the device executes, and of WRITE, and how it is answered.

    They take the PSNs from 0 on, four of them.
    """
    ack = ACK(psn=frozenset({0, 1, 2, 3, 4, 5, 6, 7}))
    write = (WRITE_ONLY(payload=8, a=1, **at(region)), ack)
    read = (READ_REQUEST(dmalen=8, **at(region)), READ_RESP_ONLY())
    atomic = (FETCH_ADD(swap=1, **at(region)), ATOMIC_ACK())
    kinds = [
        write,
        read if qp.executes(Op.READ) else write,
        atomic if qp.executes(Op.FETCH_ADD) else write,
        (SEND_ONLY(payload=8, a=1), ack),
    ]
    return [
        (qp.filled(request.but(psn=psn)), answer if answer is ack else answer.but(psn=psn))
        for psn, (request, answer) in enumerate(kinds)
    ]


@case("DUP-09", smoke=True)
@over("family", ["SEND", "WRITE"])
def test_a_duplicate_inside_a_message_leaves_the_message_intact(bench: Bench, family: str) -> None:
    qp = bench.connect()
    region, target = qp.region(5 * qp.mtu), qp.region(5 * qp.mtu)
    receives = [qp.post_receive(region) for _ in range(2)]
    old = one_of_each(qp, region)
    for request, answer in old:
        qp.send(request)
        qp.expect(answer)
    qp.receives(receives[0])
    data = qp.random.randbytes(4 * qp.mtu + 20)
    pieces = [data[start : start + qp.mtu] for start in range(0, len(data), qp.mtu)]
    first, middle, last = {
        "SEND": (SEND_FIRST, SEND_MIDDLE, SEND_LAST),
        "WRITE": (WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST),
    }[family]
    whole = {"dmalen": len(data), **at(target)} if family == "WRITE" else {}
    if family == "SEND":
        qp.post_receive(target)
    qp.send(first(psn=4, payload=pieces[0], **whole))
    for psn, (piece, (request, answer)) in enumerate(zip(pieces[1:], old, strict=True), start=5):
        qp.send(request)
        qp.expect(answer)
        qp.send((last if psn == 8 else middle)(psn=psn, payload=piece, a=1))
        qp.expect(ACK(psn=psn))
    where = region if family == "SEND" else target
    assert where.read(0, len(data)) == data, "the message did not arrive whole"


@case("DUP-10", "ACK-04", smoke=True)
@over("packet", [SEND_ONLY, WRITE_ONLY], ids=["SEND", "WRITE"])
def test_a_duplicate_that_asks_for_no_ack_gets_one_or_nothing(bench: Bench, packet: Maker) -> None:
    qp = bench.connect()
    qp.post_receive(qp.region())
    qp.send(packet(psn=0, a=1))
    qp.expect(ACK(psn=0))
    qp.send(packet(psn=0, a=0), WRITE_ONLY(psn=1, a=1))
    qp.expect(ACK(psn=1), allowing=[ACK(psn=0)])
    qp.expect_silence()


@case("DUP-11")
def test_a_burst_of_duplicates_draws_at_most_one_ack_each(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0))
    qp.send(*[WRITE_ONLY(psn=0, a=1)] * BURST, WRITE_ONLY(psn=1, a=1))
    qp.expect(ACK(psn=1), allowing=[ACK(psn=0)])
    qp.expect_silence()
    acks = len(bench.frames_sent()) - 2
    assert acks <= BURST, f"{acks} ACKs for {BURST} duplicates"


@case("DUP-12", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_a_duplicate_before_the_first_request_draws_no_ack_of_what_was_never_sent(
    bench: Bench,
) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=-1, a=1), WRITE_ONLY(psn=-5, a=1), WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, msn=1), allowing=[ACK(psn=-1, msn=0)])
    qp.expect_silence()
