# SPDX-License-Identifier: BSD-2-Clause
"""A receive queue that queue pairs share: it serves whoever comes first, and outlives each."""

from collections.abc import Callable

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import (
    RESPONDER,
    case,
    needs,
    over,
    over_all_services,
    over_services,
)
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_ORDER, OUT_OF_SEQUENCE
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    INVALID_REQUEST,
    NAK,
    NO_CREDITS,
    RNR,
    SEND_FIRST,
    SEND_LAST,
    SEND_ONLY,
    UD_SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_LAST_IMM,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
)
from roceproof.conformance.suite.reporting.answers_told import outcomes_told
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.SHARED_RECEIVE)]

SIMULATED = ["hdl", "model"]
SIZE = 8  # bytes of a message
MOST = 64


@case("CRED-02", "ACK-01", smoke=True, targets=SIMULATED)
def test_receives_serve_whoever_comes_first(bench: Bench) -> None:
    qps = [bench.connect(shared_receive=True) for _ in range(3)]
    region = qps[0].region()
    receives = [qps[0].post_receive(region, offset=64 * n, length=64) for n in range(5)]
    psns = [0, 0, 0]
    for number, turn in enumerate((2, 0, 2, 1)):
        qp, size = qps[turn], 5 + number
        send = qp.filled(SEND_ONLY(psn=psns[turn], payload=size, a=1))
        qp.send(send)
        qp.expect(ACK(psn=psns[turn], credits=NO_CREDITS))
        qp.receives(receives[number], byte_len=size)
        assert region.read(64 * number, size) == send.said["payload"]
        psns[turn] += 1
    qps[1].send(WRITE_ONLY_IMM(psn=1, imm=7, a=1))
    qps[1].expect(ACK(psn=1))
    qps[1].receives(receives[4], immediate=7)


@case("CRED-02", "RNR-01", smoke=True, targets=SIMULATED)
def test_a_message_under_way_keeps_its_receive(bench: Bench) -> None:
    slow, quick = (bench.connect(shared_receive=True) for _ in range(2))
    region = slow.region(4 * slow.mtu)
    first, second = (
        slow.post_receive(region, offset=n * 2 * slow.mtu, length=slow.mtu + 8) for n in range(2)
    )
    begin = slow.filled(SEND_FIRST(psn=0, payload=slow.mtu, a=1))
    slow.send(begin)
    slow.expect(ACK(psn=0))
    quick.send(SEND_ONLY(psn=0, payload=9, a=1))
    quick.expect(ACK(psn=0))
    quick.receives(second, byte_len=9)
    quick.send(SEND_ONLY(psn=1, payload=9, a=1))
    quick.expect(RNR(psn=1))
    slow.send(SEND_LAST(psn=1, payload=8, a=1))
    slow.expect(ACK(psn=1))
    slow.receives(first, byte_len=slow.mtu + 8)
    assert region.read(0, slow.mtu) == begin.said["payload"]
    third = slow.post_receive(region, length=16)
    slow.send(SEND_ONLY(psn=2, payload=3, a=1))
    slow.expect(ACK(psn=2))
    slow.receives(third, byte_len=3)


@case("RQ-01", "RNR-08", smoke=True, targets=SIMULATED)
@over_services
def test_a_write_takes_its_receive_with_its_last_packet_or_none(
    bench: Bench, service: Service
) -> None:
    for op in (Op.WRITE, Op.WRITE_IMM):
        executed_of(bench.claims, service, [op])
    executed_of(bench.claims, Service.RC, [Op.SEND])
    slow, quick = (bench.connect(each, shared_receive=True) for each in (service, Service.RC))
    is_reliable, region = service is Service.RC, slow.region()
    receives = [slow.post_receive(region, offset=SIZE * n, length=SIZE) for n in range(3)]
    begin = WRITE_FIRST(payload=slow.mtu, dmalen=slow.mtu + SIZE, **at(slow.region()))
    for psn, end in ((0, WRITE_LAST_IMM(imm=7)), (2, WRITE_LAST())):
        slow.send(begin.but(psn=psn))
        bench.settle()
        quick.send(SEND_ONLY(psn=psn // 2, payload=SIZE, a=1))
        quick.expect(ACK(psn=psn // 2))
        quick.receives(receives[psn], byte_len=SIZE)
        slow.send(end.but(psn=psn + 1, payload=SIZE, a=int(is_reliable)))
        if is_reliable:
            slow.expect(ACK(psn=psn + 1))
        if psn == 0:
            slow.receives(receives[1], immediate=7, byte_len=slow.mtu + SIZE)


@case("RNR-01", "RQ-01", smoke=True, targets=SIMULATED, breaks=OUT_OF_SEQUENCE)
@over("fails", [False, True], ids=["alive", "failed"])
def test_a_receive_beyond_those_of_a_shared_queue_waits_for_its_turn(
    bench: Bench, *, fails: bool
) -> None:
    """Whoever has posted it, and whoever makes room."""
    executed_of(bench.claims, Service.RC, [Op.SEND])
    poster, taker = (bench.connect(shared_receive=True) for _ in range(2))
    count = min(bench.claims.receives, MOST)
    region = poster.region(SIZE * (count + 1))
    numbers = [
        poster.post_receive(region, offset=SIZE * turn, length=SIZE, may_wait=turn == count)
        for turn in range(count + 1)
    ]
    bench.settle()
    if fails:
        poster.send(WRITE_ONLY(psn=0, payload=8, a=1, rkey=region.wrong_key(1 << 20)))
        poster.expect(NAK(ACCESS_ERROR, psn=0))
    sends = [taker.filled(SEND_ONLY(psn=psn, payload=SIZE, a=1)) for psn in range(count + 1)]
    for psn, (number, send) in enumerate(zip(numbers, sends, strict=True)):
        taker.send(send)
        taker.expect(ACK(psn=psn))
        taker.receives(number, byte_len=SIZE)
    wanted = b"".join(send.said["payload"] for send in sends)
    assert region.read(0, len(wanted)) == wanted


@case("RNR-01", "QPS-03", smoke=True, targets=SIMULATED)
@over_all_services
def test_a_queue_pair_that_begins_anew_leaves_the_queue_to_others(
    bench: Bench, service: Service
) -> None:
    qp, other = (bench.connect(each, shared_receive=True) for each in (service, Service.RC))
    is_datagram = service is Service.UD
    send, header = (UD_SEND_ONLY, GRH_BYTES) if is_datagram else (SEND_ONLY, 0)
    region = qp.region()
    receives = [qp.post_receive(region, length=64) for _ in range(3)]
    qp.send(send(psn=0, payload=4))
    qp.receives(receives[0], byte_len=header + 4)
    qp.reconnect()
    other.send(SEND_ONLY(psn=0, payload=4, a=1))
    other.expect(ACK(psn=0))
    other.receives(receives[1], byte_len=4)
    qp.send(send(psn=0, payload=6))
    qp.receives(receives[2], byte_len=header + 6)


@case("QPS-04", "RNR-01", smoke=True, targets=SIMULATED)
@over_services
def test_a_queue_pair_that_begins_anew_leaves_no_receive_in_use(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service, shared_receive=True)
    region = qp.region()
    size = qp.mtu + 8
    receives = [qp.post_receive(region, offset=n * size, length=size) for n in range(3)]
    is_reliable = service is Service.RC
    begin = qp.filled(SEND_FIRST(psn=0, payload=qp.mtu, a=int(is_reliable)))
    qp.send(begin)
    if is_reliable:
        qp.expect(ACK(psn=0, msn=0))
    bench.settle()
    assert region.read(0, qp.mtu) == begin.said["payload"]
    qp.reconnect()
    qp.send(SEND_ONLY(psn=0, payload=4))
    qp.receives(receives[1], byte_len=4)
    qp.send(SEND_FIRST(psn=1, payload=qp.mtu), SEND_LAST(psn=2, payload=5))
    qp.receives(receives[2], byte_len=qp.mtu + 5)


@case("QPS-04", "RQ-01", smoke=True, targets=SIMULATED)
@over_services
def test_a_queue_pair_that_begins_anew_may_leave_the_queue_and_join_it(
    bench: Bench, service: Service
) -> None:
    qp, other = (bench.connect(each, shared_receive=True) for each in (service, Service.RC))
    region = qp.region()
    shared = [other.post_receive(region, length=64) for _ in range(3)]
    for shares, number in ((True, shared[0]), (False, None), (False, None), (True, shared[1])):
        qp.reconnect(shared_receive=shares)
        if number is None:
            number = qp.post_receive(region, offset=64, length=64)
        qp.send(SEND_ONLY(psn=0, payload=4))
        qp.receives(number, byte_len=4)
    other.send(SEND_ONLY(psn=0, payload=4, a=1))
    other.expect(ACK(psn=0))
    other.receives(shared[2], byte_len=4)


def by_a_fatal_nak(bench: Bench, qp: Connection, region: Region) -> None:
    """A WRITE comes amid the SEND."""
    qp.send(WRITE_ONLY(psn=1, payload=8, a=1, **at(region)))
    qp.expect(NAK(INVALID_REQUEST, psn=1))
    bench.settle()


def by_a_command(bench: Bench, qp: Connection, _region: Region) -> None:
    bench.target.set_state(qp.qp, State.ERR)
    bench.settle()


@case("NAK-08", "QPS-03", smoke=True, targets=SIMULATED, breaks=OUT_OF_ORDER)
@over(
    ("service", "fail"),
    [
        pytest.param(Service.RC, by_a_fatal_nak, id="RC-NAK"),
        pytest.param(Service.RC, by_a_command, id="RC-ERR", marks=needs(Capability.STATES)),
        pytest.param(
            Service.UC, by_a_command, id="UC-ERR", marks=needs(Capability.STATES, Capability.UC)
        ),
    ],
)
def test_a_queue_pair_that_fails_ends_the_receive_in_use_and_no_other(
    bench: Bench, service: Service, fail: Callable[[Bench, Connection, Region], None]
) -> None:
    bad, good = (bench.connect(each, shared_receive=True) for each in (service, Service.RC))
    region = bad.region()
    receives = [bad.post_receive(region) for _ in range(2)]
    bad.send(SEND_FIRST(psn=0, payload=bad.mtu, a=int(service is Service.RC)))
    if service is Service.RC:
        bad.expect(ACK(psn=0))
    bench.settle()
    fail(bench, bad, region)
    ended = [each.wr_id for each in bench.completions(bad, count=1) if each.status != "success"]
    if receives[1] in ended:
        text = "a queue pair that failed ended a receive that waits for all of its shared queue"
        raise bench.failed(text, rules=["QPS-06"])
    if ended != receives[:1]:
        text = "the receive that a message of a failed queue pair had begun to fill did not end"
        raise bench.failed(text, rules=["QPS-03"])
    good.send(SEND_ONLY(psn=0, payload=4, a=1))
    good.expect(ACK(psn=0))
    good.receives(receives[1], byte_len=4)


@case(
    "RQ-01",
    "UC-12",
    needs=[Capability.STATES, Capability.UC],
    smoke=True,
    targets=SIMULATED,
    breaks=OUT_OF_SEQUENCE | OUT_OF_ORDER,
)
@over("is_hole", [True, False], ids=["hole", "another_message"])
def test_the_receive_of_a_torn_message_ends_or_serves_another(bench: Bench, is_hole: bool) -> None:
    torn, good = (bench.connect(each, shared_receive=True) for each in (Service.UC, Service.RC))
    region = torn.region()
    receives = [torn.post_receive(region) for _ in range(2)]
    torn.send(SEND_FIRST(psn=0, payload=torn.mtu))
    torn.send(
        SEND_LAST(psn=2, payload=4) if is_hole else WRITE_ONLY(psn=1, payload=8, **at(region))
    )
    bench.settle()
    bench.target.set_state(torn.qp, State.ERR)
    ended = [each.wr_id for each in bench.completions(torn, count=1)]
    if ended not in ([], receives[:1]):
        raise bench.failed(f"a torn message has one receive; ended: {ended}", rules=["UC-12"])
    for psn, number in enumerate(receives[len(ended) :]):
        good.send(SEND_ONLY(psn=psn, payload=4, a=1))
        good.expect(ACK(psn=psn))
        good.receives(number, byte_len=4)


@case("RQ-01", "QPS-03", smoke=True, targets=SIMULATED)
def test_a_receive_that_is_too_short_ends_with_its_queue_pair(bench: Bench) -> None:
    bad, good = (bench.connect(shared_receive=True) for _ in range(2))
    region = bad.region()
    receives = [bad.post_receive(region, length=length) for length in (4, 64)]
    bad.send(SEND_ONLY(psn=0, payload=8, a=1))
    bad.expect(NAK(INVALID_REQUEST, psn=0))
    bad.receives(receives[0], status="loc_len_err")
    good.send(SEND_ONLY(psn=0, payload=8, a=1))
    good.expect(ACK(psn=0))
    good.receives(receives[1], byte_len=8)


@case("RNR-01", "QPS-06", smoke=True, targets=SIMULATED)
def test_receives_posted_by_way_of_a_failed_queue_pair_serve_others(bench: Bench) -> None:
    bad, good = (bench.connect(shared_receive=True) for _ in range(2))
    region = bad.region(64)
    bad.send(WRITE_ONLY(psn=0, payload=8, a=1, rkey=region.wrong_key(1 << 20)))
    bad.expect(NAK(ACCESS_ERROR, psn=0))
    for psn in range(4):
        number = bad.post_receive(region)
        bench.settle()
        if ended := bench.completions(bad, count=0, within_ns=0):
            told = outcomes_told(ended)
            text = f"a queue pair that failed ended a receive of its shared queue: {told}"
            raise bench.failed(text, rules=["QPS-06"])
        good.send(SEND_ONLY(psn=psn, payload=4, a=1))
        good.expect(ACK(psn=psn))
        good.receives(number, byte_len=4)
