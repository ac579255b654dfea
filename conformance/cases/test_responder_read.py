# SPDX-License-Identifier: BSD-2-Clause
"""READ: how responses are cut, numbered and ordered, and how many a responder takes at once."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_mtus
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import held_reads
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    FETCH_ADD,
    INVALID_REQUEST,
    NAK,
    READ_REQUEST,
    READ_RESP_FIRST,
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
    READ_RESP_ONLY,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Maker,
    Pattern,
)
from roceproof.conformance.suite.traffic.amid import expect_rest_or_refusal
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Region

pytestmark = RESPONDER

LONG = 64
LONG_ON_THE_WALL = 8192  # packets, so that there is time to take the memory away


@case("READ-02", "MTU-10", "AETH-01", smoke=True)
@over_mtus()
def test_responses_are_cut_by_the_path_mtu_and_numbered_from_the_request(
    bench: Bench, mtu: int
) -> None:
    qp = bench.connect(path_mtu=mtu)
    region = qp.region(4 * mtu, filled=True)
    memory = region.read(0, region.size)
    psn = 0
    for msn, length in enumerate((1, 3, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu + 2), start=1):
        start = qp.random.randrange(mtu - 2)
        qp.send(READ_REQUEST(psn=psn, dmalen=length, **at(region, start)))
        responses = read_responses(qp, psn, memory[start : start + length], msn=msn)
        qp.expect(*responses)
        psn += len(responses)
    qp.fence(psn)


@case("PAD-02", smoke=True)
@over("length", [1, 2, 3])
def test_what_pads_a_response_is_zero(bench: Bench, length: int) -> None:
    qp = bench.connect()
    region = qp.region(filled=True)
    qp.send(READ_REQUEST(psn=0, dmalen=length, **at(region)))
    (response,) = qp.expect(*read_responses(qp, 0, region.read(0, length)))
    if any(response.pad):
        wrong = f"pad bytes: want {bytes(-length % 4).hex()}, got {response.pad.hex()}"
        text = f"READ_RESP_ONLY came otherwise\n      {wrong}"
        raise bench.failed(text, rules=["PAD-02"], got=response)


@case("READ-03", "PSN-04", smoke=True)
def test_a_read_of_nothing_is_answered_by_one_empty_response(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    for psn in range(3):
        qp.send(READ_REQUEST(psn=psn, dmalen=0, **at(region)))
        qp.expect(READ_RESP_ONLY(psn=psn, payload=0, msn=psn + 1))
    qp.fence(3, msn=4)


@case("READ-06", smoke=True)
@over("operation", [READ_REQUEST, FETCH_ADD], ids=["READ", "ATOMIC"])
def test_a_queue_pair_without_read_resources_refuses(bench: Bench, operation: Maker) -> None:
    qp = bench.connect(max_dest_rd_atomic=0)
    qp.send(operation(psn=0, **at(qp.region())))
    qp.expect(NAK(INVALID_REQUEST, psn=0, msn=0))


@case("READ-06", "READ-12", smoke=True)
def test_more_reads_than_resources_are_served_in_turn_or_refused(bench: Bench) -> None:
    qp = bench.connect(max_dest_rd_atomic=2)
    size = LONG * qp.mtu
    region = qp.region(size, filled=True)
    data = region.read(0, size)
    for place in range(3):
        qp.send(READ_REQUEST(psn=place * LONG, dmalen=size, **at(region)))
    for place in range(2):
        qp.expect(*read_responses(qp, place * LONG, data))
    packet = qp.peek()
    assert packet is not None, "neither served nor refused"
    if packet.bth.opcode == 0x11:
        qp.expect(NAK(INVALID_REQUEST, psn=2 * LONG))
    else:
        qp.expect(*read_responses(qp, 2 * LONG, data))


@case("READ-06", needs=[Capability.LOCKSTEP])
@over("depth", [pytest.param(1, marks=pytest.mark.smoke), 2, 3, 15, 16])
@over("beyond", [READ_REQUEST, FETCH_ADD], ids=["READ", "ATOMIC"])
def test_a_request_beyond_the_resources_is_refused_behind_those_before(
    bench: Bench, depth: int, beyond: Maker
) -> None:
    qp = bench.connect(max_dest_rd_atomic=depth)
    kept = held_reads(bench.claims) or depth
    size = LONG * qp.mtu
    region = qp.region(size, filled=True)
    long, short = (READ_REQUEST(psn=0, dmalen=length, **at(region)) for length in (size, 8))
    last = LONG + kept - 1
    held = (short.but(psn=psn) for psn in range(LONG, last))
    qp.send(long, *held, beyond(psn=last, dmalen=8, **at(region)))
    qp.expect(*read_responses(qp, 0, region.read(0, size)))
    for place in range(kept - 1):
        qp.expect(*read_responses(qp, LONG + place, region.read(0, 8)))
    qp.expect(NAK(INVALID_REQUEST, psn=last, msn=kept))


@case("READ-08", "ACK-12", smoke=True)
def test_what_follows_a_read_is_acknowledged_behind_its_responses(bench: Bench) -> None:
    qp = bench.connect()
    size = LONG * qp.mtu
    region, other = qp.region(size, filled=True), qp.region()
    number = qp.post_receive(other)
    qp.send(
        READ_REQUEST(psn=0, dmalen=size, **at(region)),
        WRITE_ONLY(psn=LONG, payload=8, a=1, **at(other, 8)),
        SEND_ONLY(psn=LONG + 1, payload=8, a=1),
    )
    qp.expect(*read_responses(qp, 0, region.read(0, size), msn=range(1, 4)))
    qp.expect(ACK(psn=LONG, msn=2), ACK(psn=LONG + 1, msn=3))
    qp.receives(number, byte_len=8)


def whole_write(qp: Connection, region: Region, psn: int, data: bytes) -> list[Pattern]:
    """A WRITE of three packets."""
    first, middle, last = (data[n * qp.mtu : (n + 1) * qp.mtu] for n in range(3))
    return [
        WRITE_FIRST(psn=psn, payload=first, dmalen=len(data), **at(region)),
        WRITE_MIDDLE(psn=psn + 1, payload=middle),
        WRITE_LAST(psn=psn + 2, payload=last, a=1),
    ]


@case("READ-08", smoke=True)
def test_a_read_sees_the_write_in_front_of_it_and_perhaps_the_one_behind(bench: Bench) -> None:
    qp = bench.connect()
    size = 3 * qp.mtu
    region = qp.region(size)
    for turn in range(4):
        psn, before, after = 12 * turn, bytes([2 * turn + 1]), bytes([2 * turn + 2])
        read = READ_REQUEST(psn=psn + 3, dmalen=size, **at(region))
        qp.send(*whole_write(qp, region, psn, before * size), read)
        qp.send(*whole_write(qp, region, psn + 6, after * size), read.but(psn=psn + 9))
        responses = qp.expect(*responses_at(psn + 3), allowing=[ack_of_write(psn)])
        seen = b"".join(packet.payload for packet in responses)
        if strange := set(seen) - {*before, *after}:
            rule = "READ-08" if strange <= {*range(1, after[0])} else "READ-02"  # nobody wrote them
            wanted = f"want  only bytes {before.hex()} or {after.hex()} in the READ"
            text = f"{wanted}\ngot   {bytes(sorted(strange)[:1]).hex()} among them"
            raise bench.failed(text, rules=[rule])
        again = read_responses(qp, psn + 9, after * size)
        qp.expect(*again, allowing=[ack_of_write(psn + 6)])


def ack_of_write(psn: int) -> Pattern:
    """Of any of its packets: what answers the READ behind it stands for it, too."""
    return ACK(psn=frozenset({psn, psn + 1, psn + 2}))


def responses_at(psn: int) -> list[Pattern]:
    """Three responses with any data."""
    return [READ_RESP_FIRST(psn=psn), READ_RESP_MIDDLE(psn=psn + 1), READ_RESP_LAST(psn=psn + 2)]


@case("MTU-06", smoke=True, breaks=["READ-01"])
@over("size", [4, 256])
def test_a_read_that_carries_a_payload_is_refused(bench: Bench, size: int) -> None:
    qp = bench.connect(path_mtu=256)
    region = qp.region(filled=True)
    held = region.read(0, region.size)
    qp.send(READ_REQUEST(psn=0, dmalen=8, payload=size, **at(region)))
    qp.expect(NAK(INVALID_REQUEST, psn=0, msn=0))
    assert region.read(0, region.size) == held


@case("READ-09", "NAK-07", smoke=True)
def test_a_read_that_loses_its_memory_ends_with_a_nak_in_place_of_a_response(bench: Bench) -> None:
    qp = bench.connect()
    in_lockstep = Capability.LOCKSTEP in bench.claims.capabilities
    size = (LONG if in_lockstep else LONG_ON_THE_WALL) * qp.mtu
    region = qp.region(size)
    responses = read_responses(qp, 0, bytes(size))
    qp.send(READ_REQUEST(psn=0, dmalen=size, **at(region)))
    qp.expect(responses[0])
    region.deregister()
    expect_rest_or_refusal(bench, qp, responses[1:])


@case("READ-11", smoke=True)
def test_a_read_is_answered_whether_it_asks_for_an_ack_or_not(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(filled=True)
    for psn, asked in enumerate((0, 1, 0)):
        qp.send(READ_REQUEST(psn=psn, dmalen=8, a=asked, **at(region)))
        qp.expect(READ_RESP_ONLY(psn=psn, payload=region.read(0, 8)))
    qp.fence(3)


@case("READ-12", smoke=True)
def test_reads_of_one_queue_pair_are_answered_in_order_beside_those_of_another(
    bench: Bench,
) -> None:
    pairs = [bench.connect(max_dest_rd_atomic=4) for _ in range(2)]
    mtu = pairs[0].mtu
    region = pairs[0].region(6 * mtu, filled=True)
    sizes = (3 * mtu, 5, 6 * mtu)
    starts = (0, 3, 4)
    for start, size in zip(starts, sizes, strict=True):
        for qp in pairs:
            qp.send(READ_REQUEST(psn=start, dmalen=size, **at(region)))
    for qp in pairs:
        for start, size in zip(starts, sizes, strict=True):
            qp.expect(*read_responses(qp, start, region.read(0, size)))
        qp.fence(10)
