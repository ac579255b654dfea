# SPDX-License-Identifier: BSD-2-Clause
"""What a queue pair answers in each of its states, and what RESET clears."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import (
    RESPONDER,
    case,
    needs,
    over,
    over_services,
    over_ways_anew,
)
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import (
    ANYTHING,
    OTHER_OPCODES,
    OUT_OF_SEQUENCE,
    UNASKED,
    WRONG_LENGTHS,
)
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
    UD_SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Beyond
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = RESPONDER

RECEIVES = 20
"""More than some devices hold."""
FIRST_QPN, LAST_QPN = 2, 0xFFFFFE
JAMMED = 40
"""Completions, more than wait inside."""
UNRELIABLE = [
    pytest.param(each, id=each.name, marks=needs(Capability[each.name]))
    for each in (Service.UC, Service.UD)
]


@case(
    "QPS-01",
    needs=[Capability.STATES],
    smoke=True,
    breaks=OUT_OF_SEQUENCE | OTHER_OPCODES | UNASKED,
)
@over_services
@over("state", [State.RESET, State.INIT], ids=["RESET", "INIT"])
def test_a_queue_pair_that_is_not_ready_to_receive_drops_everything(
    bench: Bench, service: Service, state: State
) -> None:
    qp = bench.connect(service, state=state)
    region = qp.region(filled=True)
    before = region.read(0, 8)
    qp.send(
        WRITE_ONLY(psn=0, payload=8, a=1, **at(region)),
        READ_REQUEST(psn=0, dmalen=8, **at(region)),
        WRITE_ONLY(psn=5, a=1),
    )
    qp.expect_silence()
    assert region.read(0, 8) == before
    bench.target.set_state(qp.qp, State.RTR)
    qp.fence(0)


@case("QPS-01", needs=[Capability.STATES, Capability.UD])
@over("state", [State.RESET, State.INIT], ids=["RESET", "INIT"])
def test_a_datagram_to_a_queue_pair_that_is_not_ready_is_dropped(
    bench: Bench, state: State
) -> None:
    qp = bench.connect(Service.UD, state=state)
    region = qp.region()
    if state is State.RESET:
        qp.send(UD_SEND_ONLY(psn=0, payload=9))
        qp.expect_silence()
        bench.target.set_state(qp.qp, State.INIT)
    receive = qp.post_receive(region)
    qp.send(UD_SEND_ONLY(psn=0, payload=9))
    qp.expect_silence()
    bench.target.set_state(qp.qp, State.RTR)
    qp.send(UD_SEND_ONLY(psn=1, payload=8))
    qp.receives(receive, byte_len=48)
    bench.target.set_state(qp.qp, State.RTS)
    receive = qp.post_receive(region)
    qp.send(UD_SEND_ONLY(psn=2, payload=7))
    qp.receives(receive, byte_len=47)


@case("QPS-02", "RQ-01", needs=[Capability.STATES], smoke=True)
@over_services
def test_a_queue_pair_that_is_ready_to_receive_serves_requests(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service, state=State.INIT)
    region = qp.region()
    early = qp.post_receive(region)
    bench.target.set_state(qp.qp, State.RTR)
    late = qp.post_receive(region)
    for psn, receive in enumerate((early, late)):
        qp.send(SEND_ONLY(psn=psn, payload=8))
        qp.receives(receive, byte_len=8)
    qp.fence(2)
    bench.target.set_state(qp.qp, State.RTS)
    qp.fence(3)


@case("QPS-03", needs=[Capability.STATES], smoke=True)
def test_a_queue_pair_in_error_answers_nothing(bench: Bench) -> None:
    qp, bystander = bench.connect(), bench.bystander()
    region = qp.region()
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0))
    bench.target.set_state(qp.qp, State.ERR)
    qp.drops(
        WRITE_ONLY(psn=0, a=1),
        WRITE_ONLY(psn=1, payload=8, a=1, **at(region)),
        *_read(qp, psn=2, region=region),
        WRITE_ONLY(psn=9, a=1),
        fence=None,
    )
    bystander.fence(0)
    qp.expect_silence()
    assert region.read(0, 8) == bytes(8)


@case("QPS-03", smoke=True, needs=[Capability.STATES])
@over("service", UNRELIABLE)
def test_an_unreliable_queue_pair_in_error_takes_nothing(bench: Bench, service: Service) -> None:
    qp, bystander = bench.connect(service), bench.bystander()
    region = qp.region()
    receive = qp.post_receive(region)
    bench.target.set_state(qp.qp, State.ERR)
    qp.receives(receive, status="wr_flush_err")
    qp.send(
        UD_SEND_ONLY(psn=0, payload=9)
        if service is Service.UD
        else WRITE_ONLY(psn=0, payload=9, **at(region))
    )
    bystander.fence(0)
    qp.expect_silence()
    assert region.read(0, 64) == bytes(64)


@case("QPS-03", "NAK-08", smoke=True, breaks=OUT_OF_SEQUENCE | WRONG_LENGTHS)
def test_a_queue_pair_that_sent_a_fatal_nak_answers_nothing_more(bench: Bench) -> None:
    qp, bystander = bench.connect(), bench.bystander()
    region = qp.region()
    qp.send(WRITE_ONLY(psn=0, payload=8, dmalen=4, a=1, **at(region)))
    qp.expect(NAK(INVALID_REQUEST, psn=0))
    qp.send(
        WRITE_ONLY(psn=0, payload=8, a=1, **at(region)),
        WRITE_ONLY(psn=1, payload=8, a=1, **at(region)),
        *_read(qp, psn=0, region=region),
    )
    bystander.fence(0)
    qp.expect_silence()
    assert region.read(0, 8) == bytes(8)


def in_a_send(qp: Connection) -> None:
    qp.post_receive(qp.region())
    qp.send(SEND_FIRST(psn=0, payload=qp.mtu, a=1))
    qp.expect(ACK(psn=0))


def in_a_write(qp: Connection) -> None:
    region = qp.region()
    qp.send(WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=3 * qp.mtu, a=1, **at(region)))
    qp.expect(ACK(psn=0))


def behind_a_sequence_nak(qp: Connection) -> None:
    """A sequence NAK is pending."""
    qp.send(WRITE_ONLY(psn=3, a=1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=0))


def behind_an_rnr_nak(qp: Connection) -> None:
    """An RNR NAK is pending."""
    qp.send(SEND_ONLY(psn=0, payload=8, a=1))
    qp.expect(RNR(psn=0))


def behind_a_fatal_nak(qp: Connection) -> None:
    """The queue pair is in error."""
    qp.send(WRITE_MIDDLE(psn=0, payload=qp.mtu, a=1))
    qp.expect(NAK(INVALID_REQUEST, psn=0))


def behind_a_read_and_an_atomic(qp: Connection) -> None:
    """Results are kept for duplicates."""
    region = qp.region()
    size = 2 * qp.mtu + 188
    qp.send(READ_REQUEST(psn=0, dmalen=size, **at(region)))
    qp.expect(*read_responses(qp, 0, bytes(size)))
    qp.send(FETCH_ADD(psn=3, swap=1, **at(region)))
    qp.expect(ATOMIC_ACK(psn=3))


@case("QPS-04", "MSN-07", smoke=True, breaks=OUT_OF_SEQUENCE)
@over(
    "state",
    [
        *(in_a_send, in_a_write, behind_a_sequence_nak),
        *(behind_an_rnr_nak, behind_a_fatal_nak, behind_a_read_and_an_atomic),
    ],
)
@over_ways_anew
def test_reset_leaves_nothing_behind(
    bench: Bench, state: Callable[[Connection], None], *, straight: bool
) -> None:
    qp = bench.connect()
    state(qp)
    qp.reconnect(straight=straight)
    serves_everything(qp)


def serves_everything(qp: Connection) -> None:
    """A new connection does all that it should, its PSN and MSN beginning anew."""
    region = qp.region(filled=True)
    behind, size = qp.mtu + 8, 2 * qp.mtu + 188
    data = region.read(behind, size)
    qp.send(WRITE_ONLY(psn=2, a=1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=0, msn=0))
    qp.send(SEND_ONLY(psn=0, payload=8, a=1))
    qp.expect(RNR(psn=0, msn=0))
    receive = qp.post_receive(region)
    qp.send(SEND_FIRST(psn=0, payload=qp.mtu), SEND_LAST(psn=1, payload=8, a=1))
    qp.expect(ACK(psn=1, msn=1))
    qp.receives(receive, byte_len=qp.mtu + 8)
    qp.send(READ_REQUEST(psn=2, dmalen=size, **at(region, behind)))
    qp.expect(*read_responses(qp, 2, data, msn=2))
    qp.send(FETCH_ADD(psn=5, swap=1, **at(region)))
    qp.expect(ATOMIC_ACK(psn=5, msn=3))
    qp.send(
        WRITE_FIRST(psn=6, payload=qp.mtu, dmalen=qp.mtu + 1, **at(region)),
        WRITE_LAST(psn=7, payload=1, a=1),
    )
    qp.expect(ACK(psn=7, msn=4))


@case("QPS-04", "DUP-12", smoke=True, breaks=OUT_OF_SEQUENCE)
@over_ways_anew
def test_reset_forgets_what_was_acknowledged(bench: Bench, *, straight: bool) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0))
    qp.reconnect(straight=straight)
    qp.send(WRITE_ONLY(psn=-1, a=1), WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, msn=1), allowing=[ACK(psn=-1, msn=0)])


@case("QPS-04", needs=[Capability.UC], smoke=True, breaks=OUT_OF_SEQUENCE)
@over("family", ["SEND", "WRITE"])
@over("torn", [False, True], ids=["open", "torn"])
@over_ways_anew
def test_reset_ends_an_open_message_of_an_unreliable_connection(
    bench: Bench, family: str, *, torn: bool, straight: bool
) -> None:
    qp = bench.connect(Service.UC)
    region = qp.region()
    if family == "SEND":
        qp.post_receive(region)
        qp.send(SEND_FIRST(psn=0, payload=qp.mtu))
    else:
        qp.send(WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=3 * qp.mtu, **at(region)))
    if torn:
        qp.send(WRITE_LAST(psn=7, payload=8))
    bench.settle()
    qp.reconnect(straight=straight)
    receive = qp.post_receive(region)
    qp.send(SEND_FIRST(psn=0, payload=qp.mtu), SEND_LAST(psn=1, payload=8))
    qp.receives(receive, byte_len=qp.mtu + 8)
    qp.fence(2)


@case("QPS-04", "QPS-06", smoke=True, targets=["hdl", "model"], breaks=ANYTHING)
@over(
    "shared",
    [False, pytest.param(True, marks=needs(Capability.SHARED_RECEIVE))],
    ids=["own", "shared"],
)
def test_another_number_takes_the_place_of_a_queue_pair_that_was_reset(
    bench: Bench, *, shared: bool
) -> None:
    """Low bits may select the place; nothing of the life before is there."""
    old = bench.connect(shared_receive=shared)
    region = old.region()
    add = FETCH_ADD(psn=0, swap=1, **at(region))
    old.send(add)
    old.expect(ATOMIC_ACK(psn=0))
    old.post_receive(region)
    old.send(SEND_FIRST(psn=1, payload=old.mtu, a=1))
    old.expect(ACK(psn=1))
    bench.target.set_state(old.qp, State.RESET)
    number = bench.random.choice([*numbers_beside(old.qp.qpn, bench.claims.qps)])
    start = (old.spec.rq_psn + 1) % (1 << 24)
    new = bench.connect(local_qpn=number, rq_psn=start, shared_receive=shared)
    for late, gone in ((old, add.but(psn=2)), (new, add.but(psn=-1))):
        late.send(gone)
        late.expect_silence()
    serves_everything(new)


def numbers_beside(qpn: int, places: int) -> Iterator[int]:
    """Those in the same place of a table, each of whose other bits may differ."""
    for step in (places << bit for bit in range(24)):
        yield from (each for each in (qpn + step, qpn - step) if FIRST_QPN <= each <= LAST_QPN)


@case("QPS-04", smoke=True, needs=[Capability.RESET], targets=["hdl", "model"])
def test_a_new_connection_is_answered_on_its_own_path(bench: Bench) -> None:
    """Of what need not be the queue pair's, that which was in its first life is in each other."""
    qp = bench.connect(hop_limit=91, traffic_class=0x94)
    qp.send(WRITE_ONLY(psn=0, a=1))
    (answer,) = qp.expect(ACK(psn=0, msn=1))
    came = qp.from_device.fields_of(answer)
    follows = [name for name, value in path_told(qp.spec).items() if came[name] == value]
    spec = qp.spec
    for turn in (1, 2):
        qp.reconnect(
            udp_sport=0xC000 | (spec.udp_sport ^ turn) & 0x3FFF,
            traffic_class=spec.traffic_class ^ turn << 2,
            hop_limit=spec.hop_limit + turn,
            remote_qpn=spec.remote_qpn ^ turn << 4,
        )
        told = path_told(qp.spec)
        qp.send(WRITE_ONLY(psn=0, a=1))
        fields = {name: told[name] for name in follows}
        qp.expect(ACK(psn=0, msn=1, qpn=qp.spec.remote_qpn, **fields))


@case("QPS-04", smoke=True, needs=[Capability.RESET], targets=["hdl", "model"])
@over_ways_anew
def test_a_life_may_be_of_another_kind_than_the_one_before(bench: Bench, *, straight: bool) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp, size = bench.connect(), max(bench.claims.path_mtus) + 8
    regions = {0: qp.region(size)}
    with suppress(Beyond):
        regions[1] = bench.target.register(size, domain=1)
    first = {name: getattr(qp.spec, name) for name in KINDS}
    lives = [said for needed, said in others(bench) if needed <= bench.claims.capabilities]
    lives = [said for said in lives if said.get("domain", 0) in regions]
    for said in (*bench.random.sample(lives, len(lives)), {}):
        qp.reconnect(straight=straight, **first | said)
        serves_its_kind(bench, qp, regions[qp.spec.domain])


KINDS = ("service", "path_mtu", "remote", "vlan", "domain")
TAG = 0xA234


def others(bench: Bench) -> Iterator[tuple[set[Capability], dict[str, Any]]]:
    """What may change from life to life, and what a device claims that can do it."""
    yield {Capability.UC}, {"service": Service.UC}
    yield {Capability.UD}, {"service": Service.UD}
    yield set(), {"path_mtu": max(bench.claims.path_mtus)}
    yield set(), {"remote": bench.peer(1)}
    yield {Capability.VLAN}, {"vlan": TAG, "remote": bench.peer(2, vlan=TAG)}
    yield {Capability.IPV6}, {"remote": bench.peer(1, ipv6=True)}
    yield set(), {"domain": 1}


def serves_its_kind(bench: Bench, qp: Connection, region: Region) -> None:
    """What comes to memory is of its path MTU and domain; what is told goes to its peer."""
    spec = qp.spec
    data = qp.random.randbytes(qp.mtu + 8)
    if spec.service is Service.UD:
        if qp.executes(Op.SEND):
            number = qp.post_receive(region, length=GRH_BYTES + 8)
            qp.send(UD_SEND_ONLY(psn=0, payload=8))
            qp.receives(number, byte_len=GRH_BYTES + 8)
        return
    if not qp.executes(Op.WRITE):
        return
    is_reliable = spec.service is Service.RC
    qp.send(
        WRITE_FIRST(psn=0, payload=data[: qp.mtu], dmalen=len(data), **at(region)),
        WRITE_LAST(psn=1, payload=data[qp.mtu :], a=int(is_reliable)),
    )
    told: dict[str, Any] = {"dst_ip": spec.remote.ip, "dst_mac": spec.remote.mac, "vlan": spec.vlan}
    if is_reliable:
        qp.expect(ACK(psn=1, **told))
    bench.holds(region, data, what="a WRITE in a life of another kind")
    if is_reliable and qp.executes(Op.READ):
        qp.send(READ_REQUEST(psn=2, dmalen=len(data), **at(region)))
        qp.expect(*(each.but(**told) for each in read_responses(qp, 2, data)))
    if not is_reliable:
        qp.expect_silence()


def path_told(spec: QpSpec) -> dict[str, int]:
    """What responses may have of the queue pair, by its record; others are warned of at most."""
    return {"sport": spec.udp_sport, "tos": spec.traffic_class, "ttl": spec.hop_limit}


@case("QPS-03", smoke=True, needs=[Capability.STATES])
def test_receives_that_wait_for_room_are_flushed_too(bench: Bench) -> None:
    qp, bystander = bench.connect(), bench.bystander()
    region = qp.region()
    most = bench.claims.receives
    numbers = [
        qp.post_receive(region, length=8, may_wait=n >= most)
        for n in range(min(RECEIVES, most + 1))
    ]
    bench.target.set_state(qp.qp, State.ERR)
    for number in numbers:
        qp.receives(number, status="wr_flush_err")
    bystander.fence(0)


@case("QPS-03", smoke=True, needs=[Capability.STATES, Capability.DISTURBANCE])
def test_receives_of_a_failed_queue_pair_are_flushed_while_completions_hardly_move(
    bench: Bench,
) -> None:
    qp, bystander = bench.connect(), bench.bystander()
    region = qp.region()
    bench.target.set_state(qp.qp, State.ERR)
    bench.target.disturb(cpl_stall=99)
    numbers = [qp.post_receive(region, length=8, may_wait=True) for _ in range(JAMMED)]
    bench.settle()
    bench.target.disturb()
    for number in numbers:
        qp.receives(number, status="wr_flush_err")
    bystander.fence(0)


@case("QPS-04", "QPS-06", smoke=True, needs=[Capability.RESET], targets=["hdl"])
def test_a_receive_that_waits_for_room_keeps_nobody_waiting_behind_a_reset(bench: Bench) -> None:
    qp, other = bench.connect(), bench.connect()
    region, most = qp.region(), bench.claims.receives
    for turn in range(min(RECEIVES, most + 1)):
        qp.post_receive(region, length=8, may_wait=turn >= most)
    bench.settle()
    bench.target.set_state(qp.qp, State.RESET)
    receive = other.post_receive(region, length=8, may_wait=True)
    bench.settle()
    other.send(SEND_ONLY(psn=0, payload=8, a=1))
    bench.settle()
    answer = other.peek()
    if answer is not None and answer.aeth is not None and answer.aeth.syndrome >> 5 == 1:
        text = "a receive behind one that waited for room is not taken when that one's queue pair"
        raise bench.failed(f"{text} has been reset", rules=["QPS-04", "QPS-06"])
    other.expect(ACK(psn=0, msn=1))
    other.receives(receive, byte_len=8)


@case("QPS-05", smoke=True, breaks=OUT_OF_SEQUENCE)
@over("step", [1000, -1000], ids=["old_ones_are_behind", "old_ones_are_ahead"])
def test_late_packets_of_the_connection_before_do_no_harm(bench: Bench, step: int) -> None:
    qp = bench.connect()
    region = qp.region()
    old = [qp.filled(WRITE_ONLY(psn=n, payload=8, **at(region, 8 * n))) for n in range(4)]
    answers = [ACK(psn=3)]
    old[-1] = old[-1].but(a=1)
    if qp.executes(Op.READ):
        old.append(READ_REQUEST(psn=4, dmalen=8, **at(region)))
        answers.append(READ_RESP_ONLY(psn=4))
    if qp.executes(Op.FETCH_ADD):
        old.append(FETCH_ADD(psn=len(old), **at(region)))
        answers.append(ATOMIC_ACK(psn=len(old) - 1))
    qp.send(*old)
    qp.expect(*answers)
    region.write(0, bytes(64))
    qp.reconnect(rq_psn=(qp.spec.rq_psn + step) % (1 << 24))
    late = [packet.but(psn=n - step) for n, packet in enumerate(old)]
    qp.send(WRITE_ONLY(psn=0, a=1), *late, WRITE_ONLY(psn=1, a=1))
    allowed = [NAK(SEQUENCE_ERROR, psn=1)] if step < 0 else [ACK(psn=0), ACK(psn=range(-step, 0))]
    qp.expect(ACK(psn=0, msn=1), ACK(psn=1, msn=2), allowing=allowed)
    assert region.read(0, 64) == bytes(64), "a packet of the connection before was executed"


@case("QPS-06", needs=[Capability.STATES], smoke=True)
def test_opening_and_closing_another_queue_pair_changes_nothing(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(6 * qp.mtu)
    data = qp.random.randbytes(region.size)
    parts = [data[start : start + qp.mtu] for start in range(0, len(data), qp.mtu)]
    qp.send(WRITE_FIRST(psn=0, payload=parts[0], dmalen=len(data), **at(region)))
    for psn, part in enumerate(parts[1:-1], start=1):
        other = bench.connect()
        other.fence(0, msn=1)
        qp.send(WRITE_MIDDLE(psn=psn, payload=part, a=1))
        qp.expect(ACK(psn=psn, msn=0))
        bench.target.set_state(other.qp, (State.RESET, State.ERR)[psn % 2])
    qp.send(WRITE_LAST(psn=5, payload=parts[5], a=1))
    qp.expect(ACK(psn=5, msn=1))
    assert region.read(0, len(data)) == data


def _read(qp: Connection, *, psn: int, region: Region) -> list[Pattern]:
    """A READ, where the device has any."""
    return [READ_REQUEST(psn=psn, dmalen=8, **at(region))] * qp.executes(Op.READ)
