# SPDX-License-Identifier: BSD-2-Clause
"""Receiver not ready: what a responder says while no receive is posted, and what it keeps."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over, over_ways_anew
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    ATOMIC_ACK,
    FETCH_ADD,
    READ_REQUEST,
    READ_RESP_ONLY,
    RNR,
    SEND_FIRST,
    SEND_LAST,
    SEND_ONLY,
    SEND_ONLY_IMM,
    WRITE_FIRST,
    WRITE_LAST_IMM,
    WRITE_MIDDLE,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Maker,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.queue_pair import State

pytestmark = RESPONDER

MOST_RECEIVES = 64
SIZE = 8  # of a message


@case("RNR-01", "MSN-05", smoke=True)
@over("packet", [SEND_ONLY, SEND_ONLY_IMM, SEND_FIRST], ids=["ONLY", "ONLY_IMM", "FIRST"])
def test_a_send_without_a_receive_draws_an_rnr_nak(bench: Bench, packet: Maker) -> None:
    """And is executed when it comes again."""
    qp = bench.connect()
    send = qp.filled(packet(psn=1, payload=qp.mtu, a=1))
    qp.send(WRITE_ONLY(psn=0), send)
    qp.expect(RNR(psn=1, msn=1))
    number = qp.post_receive(qp.region())
    qp.send(send)
    qp.expect(ACK(psn=1))
    if packet is SEND_FIRST:
        qp.send(SEND_LAST(psn=2, payload=SIZE, a=1))
        qp.expect(ACK(psn=2))
    qp.receives(number, byte_len=qp.mtu + SIZE * (packet is SEND_FIRST))


@case("RNR-01", smoke=True)
def test_as_many_receives_as_it_holds_serve_as_many_messages(bench: Bench) -> None:
    qp = bench.connect()
    inbox, count = qp.region(), min(bench.claims.receives, MOST_RECEIVES)
    numbers = [qp.post_receive(inbox) for _ in range(count)]
    sends = [qp.filled(SEND_ONLY(psn=psn, payload=8, a=1)) for psn in range(count + 1)]
    qp.send(*sends)
    qp.expect(RNR(psn=count, msn=count), allowing=[ACK(psn=range(count))])
    for number in numbers:
        qp.receives(number, byte_len=8)


@case("RNR-01", smoke=True, targets=["hdl", "model"])
def test_a_receive_beyond_those_that_it_holds_waits_for_its_turn(bench: Bench) -> None:
    qp = bench.connect()
    count = min(bench.claims.receives, MOST_RECEIVES)
    inbox = qp.region(SIZE * (count + 1))
    numbers = [
        qp.post_receive(inbox, offset=SIZE * turn, length=SIZE, may_wait=turn == count)
        for turn in range(count + 1)
    ]
    bench.settle()
    for psn, number in enumerate(numbers):
        data = qp.random.randbytes(SIZE)
        qp.send(SEND_ONLY(psn=psn, payload=data, a=1))
        qp.expect(ACK(psn=psn))
        qp.receives(number, byte_len=SIZE)
        assert inbox.read(SIZE * psn, SIZE) == data


@case("QPS-04", "RNR-01", smoke=True)
@over_ways_anew
@over(
    "state",
    [
        State.RTS,
        *(pytest.param(each, marks=needs(Capability.STATES)) for each in (State.INIT, State.RTR)),
    ],
    ids=lambda state: state.name,
)
def test_receives_end_with_the_life_of_their_queue_pair(
    bench: Bench, state: State, *, straight: bool
) -> None:
    qp = bench.connect(state=state)
    inbox = qp.region()
    for _ in range(min(bench.claims.receives, 2)):
        qp.post_receive(inbox, length=SIZE)
    qp.reconnect(straight=straight, state=State.RTS)
    send = qp.filled(SEND_ONLY(psn=0, payload=SIZE, a=1))
    qp.send(send)
    qp.expect(RNR(psn=0, msn=0))
    number = qp.post_receive(inbox, length=SIZE)
    qp.send(send)
    qp.expect(ACK(psn=0, msn=1))
    qp.receives(number, byte_len=SIZE)


@case("RNR-01", smoke=True)
def test_only_the_last_packet_of_an_immediate_write_needs_a_receive(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    qp.send(
        WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=qp.mtu + 1, a=1, **at(region)),
        WRITE_LAST_IMM(psn=1, payload=1, a=1),
    )
    qp.expect(ACK(psn=0, msn=0), RNR(psn=1, msn=0))
    qp.reconnect()
    qp.send(WRITE_ONLY_IMM(psn=0, a=1))
    qp.expect(RNR(psn=0, msn=0))


@case("RNR-02", smoke=True)
def test_the_timer_code_is_the_one_of_the_queue_pair(bench: Bench) -> None:
    for code in (0, 1, 12, 30, 31):
        qp = bench.fresh(min_rnr_timer=code)
        qp.send(SEND_ONLY(psn=0, payload=8, a=1))
        qp.expect(RNR(psn=0, timer=code))


@case("RNR-06", smoke=True)
def test_what_follows_an_rnr_nak_is_dropped_until_the_request_comes_again(bench: Bench) -> None:
    qp = bench.connect()
    sends = [qp.filled(SEND_ONLY(psn=psn, payload=8, a=1)) for psn in range(3)]
    qp.send(*sends)
    qp.expect(RNR(psn=0))
    region = qp.region()
    numbers = [qp.post_receive(region) for _ in sends]
    qp.send(*sends)
    qp.expect(ACK(psn=0, msn=1), ACK(psn=1, msn=2), ACK(psn=2, msn=3))
    for number in numbers:
        qp.receives(number, byte_len=8)


@case("RNR-07", "IMM-04", smoke=True)
def test_an_immediate_write_goes_on_where_it_was_not_ready(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    data = qp.random.randbytes(2 * qp.mtu + 9)
    last = WRITE_LAST_IMM(psn=2, payload=data[2 * qp.mtu :], imm=0xA1B2C3D4, a=1)
    qp.send(
        WRITE_FIRST(psn=0, payload=data[: qp.mtu], dmalen=len(data), **at(region, 3)),
        WRITE_MIDDLE(psn=1, payload=data[qp.mtu : 2 * qp.mtu]),
        last,
    )
    qp.expect(RNR(psn=2))
    qp.send(last)
    qp.expect(RNR(psn=2))
    number = qp.post_receive(qp.region())
    qp.send(last)
    qp.expect(ACK(psn=2, msn=1))
    qp.receives(number, byte_len=len(data), immediate=0xA1B2C3D4)
    assert region.read(0, len(data) + 16) == bytes(3) + data + bytes(13)


NEED_NO_RECEIVE = {
    "WRITE": (WRITE_ONLY(psn=0, payload=8, a=1), ACK(psn=0)),
    "READ": (READ_REQUEST(psn=0, dmalen=8), READ_RESP_ONLY(psn=0, payload=8)),
    "ATOMIC": (FETCH_ADD(psn=0, swap=1), ATOMIC_ACK(psn=0)),
}


@case("RNR-08", smoke=True)
@over("kind", NEED_NO_RECEIVE)
def test_write_read_and_atomic_need_no_receive(bench: Bench, kind: str) -> None:
    qp = bench.connect()
    request, answer = NEED_NO_RECEIVE[kind]
    qp.send(request.but(**at(qp.region())))
    qp.expect(answer)


@case("RNR-09", "MSN-05", smoke=True)
def test_an_rnr_nak_takes_neither_psn_nor_msn(bench: Bench) -> None:
    qp = bench.connect()
    send = qp.filled(SEND_ONLY(psn=0, payload=8, a=1))
    for _ in range(3):
        qp.send(send)
        qp.expect(RNR(psn=0, msn=0))
    number = qp.post_receive(qp.region())
    qp.send(send)
    qp.expect(ACK(psn=0, msn=1))
    qp.receives(number)
    qp.fence(1, msn=2)


@case("RNR-12")
def test_a_storm_of_rnr_naks_ends_when_a_receive_is_posted(bench: Bench) -> None:
    qp = bench.connect(min_rnr_timer=1)
    send = qp.filled(SEND_ONLY(psn=0, payload=8, a=1))
    qp.send(*[send] * 200)
    qp.expect(*[RNR(psn=0)] * 200)
    number = qp.post_receive(qp.region())
    qp.send(send)
    qp.expect(ACK(psn=0, msn=1))
    qp.receives(number)
