# SPDX-License-Identifier: BSD-2-Clause
"""Commands and requests in any cycle of each other: on one queue pair, and beside another."""

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import NamedTuple

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over, over_all_services
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.moments import PARTS, moments, pass_by
from roceproof.conformance.suite.packet_flow import SUCCESS
from roceproof.conformance.suite.pattern import (
    ACK,
    ATOMIC_ACK,
    FETCH_ADD,
    READ_REQUEST,
    RNR,
    SEND_FIRST,
    SEND_LAST,
    SEND_ONLY,
    UD_SEND_ONLY,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP), needs(Capability.RC), needs(Capability.RESET)]

SIMULATED = ["hdl", "model"]
SIZE = 24
RNR_KIND = 1

over_parts = over("part", range(PARTS))


class Request(NamedTuple):
    """What is sent, and what must come of it."""

    packets: list[Pattern]
    answers: list[Pattern]
    spans: int = 1
    receive: int | None = None
    length: int = 0

    def is_served(self, qp: Connection) -> None:
        qp.expect(*self.answers)
        if self.receive is not None:
            qp.receives(self.receive, byte_len=self.length)


def send(qp: Connection, region: Region, psn: int) -> Request:
    """One packet into a receive."""
    receive = qp.post_receive(region)
    return Request([SEND_ONLY(psn=psn, payload=SIZE, a=1)], [ACK(psn=psn)], 1, receive, SIZE)


def long_send(qp: Connection, region: Region, psn: int) -> Request:
    """Two packets into a receive."""
    receive = qp.post_receive(region)
    first = SEND_FIRST(psn=psn, payload=qp.mtu)
    last = SEND_LAST(psn=psn + 1, payload=SIZE, a=1)
    return Request([first, last], [ACK(psn=psn + 1)], 2, receive, qp.mtu + SIZE)


def write(_qp: Connection, region: Region, psn: int) -> Request:
    return Request([WRITE_ONLY(psn=psn, payload=SIZE, a=1, **at(region))], [ACK(psn=psn)])


def read(qp: Connection, region: Region, psn: int, *, size: int = SIZE) -> Request:
    """One response."""
    request = READ_REQUEST(psn=psn, dmalen=size, **at(region))
    responses = read_responses(qp, psn, region.read(0, size))
    return Request([request], responses, len(responses))


def long_read(qp: Connection, region: Region, psn: int) -> Request:
    """Two responses."""
    return read(qp, region, psn, size=qp.mtu + SIZE)


def atomic(_qp: Connection, region: Region, psn: int) -> Request:
    original = int.from_bytes(region.read(0, 8), "little")
    request = FETCH_ADD(psn=psn, swap=1, **at(region))
    return Request([request], [ATOMIC_ACK(psn=psn, original=original)])


Making = Callable[[Connection, Region, int], Request]
REQUESTS: Mapping[Op, tuple[Making, ...]] = {
    Op.SEND: (send, long_send),
    Op.WRITE: (write,),
    Op.READ: (long_read,),
    Op.FETCH_ADD: (atomic,),
}

HELD: Mapping[Op, Making] = {Op.READ: read, Op.FETCH_ADD: atomic}


def requests_of(bench: Bench) -> list[Making]:
    """All that the device executes."""
    executed = executed_of(bench.claims, Service.RC, REQUESTS)
    return [making for op in executed for making in REQUESTS[op]]


def all_is_taken(bench: Bench) -> None:
    """To the cycle in which the device has taken the last frame."""
    target = bench.target
    end = target.now_ns + target.patience.answer_ns
    while target.untaken() and target.now_ns < end:
        pass_by(bench, 1)


def kind_of(packet: Packet) -> int | None:
    """Of an acknowledgement: ACK, RNR NAK or NAK."""
    return None if packet.aeth is None else packet.aeth.syndrome >> 5


def changes(bench: Bench) -> list[Callable[[Connection], None]]:
    """Commands for another queue pair, or for memory of nobody's."""

    def fails(other: Connection) -> None:
        bench.target.set_state(other.qp, State.ERR)
        other.reconnect()

    def comes_and_goes(_other: Connection) -> None:
        bench.target.register(SIZE).deregister()

    found: list[Callable[[Connection], None]] = [Connection.reconnect]
    if Capability.STATES in bench.claims.capabilities:
        found.append(fails)
    if Capability.TOLD_KEYS in bench.claims.capabilities:
        found.append(comes_and_goes)
    return found


def changes_beside(bench: Bench, part: int | None) -> None:
    """Each request is served, whatever is commanded meanwhile."""
    qp, other = bench.connect(), bench.connect()
    region, inbox = qp.region(2 * qp.mtu, filled=True), other.region(SIZE)
    psn = 0
    for making in requests_of(bench):
        other.reconnect()
        for change in changes(bench):
            if other.executes(Op.SEND):
                other.post_receive(inbox)
            for cycles in moments(bench, part):
                request = making(qp, region, psn)
                qp.send(*request.packets)
                pass_by(bench, cycles)
                change(other)
                request.is_served(qp)
                psn += request.spans


@case("QPS-06", "FUZZ-16", smoke=True, targets=SIMULATED)
def test_a_change_beside_a_request_in_any_cycle(bench: Bench) -> None:
    changes_beside(bench, None)


@case("QPS-06", "FUZZ-16", targets=SIMULATED)
@over_parts
def test_every_change_beside_a_request_in_every_cycle(bench: Bench, part: int) -> None:
    changes_beside(bench, part)


def begins_anew(bench: Bench, part: int | None) -> None:
    """A new life serves everything, whatever was under way in the old one."""
    qp = bench.connect()
    region, fresh = qp.region(2 * qp.mtu, filled=True), qp.region(2 * qp.mtu, filled=True)
    for making in requests_of(bench):
        for cycles in moments(bench, part):
            qp.send(*making(qp, region, 0).packets)
            all_is_taken(bench)
            pass_by(bench, cycles)
            qp.reconnect()
            psn = 0
            for again in requests_of(bench):
                request = again(qp, fresh, psn)
                qp.send(*request.packets)
                request.is_served(qp)
                psn += request.spans
            if qp.executes(Op.SEND):
                qp.send(SEND_ONLY(psn=psn, payload=1, a=1))
                qp.expect(RNR(psn=psn))
            qp.reconnect()


@case("QPS-04", "MSN-07", smoke=True, targets=SIMULATED)
def test_a_queue_pair_begins_anew_in_any_cycle_of_a_request(bench: Bench) -> None:
    begins_anew(bench, None)


@case("QPS-04", "MSN-07", targets=SIMULATED)
@over_parts
def test_a_queue_pair_begins_anew_in_every_cycle_of_each_request(bench: Bench, part: int) -> None:
    begins_anew(bench, part)


def begins_beside_an_end(bench: Bench, operations: Iterable[Op], parts: Iterable[int]) -> None:
    """Each queue pair may have one READ or atomic, and has it back when it is answered."""
    makings = [HELD[op] for op in executed_of(bench.claims, Service.RC, operations)]
    pairs = [bench.connect(max_dest_rd_atomic=1) for _ in range(2)]
    regions = [qp.region(SIZE, filled=True) for qp in pairs]
    psn = [0 for _ in pairs]
    for part, first, second in product(parts, makings, makings):
        for cycles in moments(bench, part):
            asked = []
            for n, making in enumerate((first, second)):
                asked.append(making(pairs[n], regions[n], psn[n]))
                pairs[n].send(*asked[n].packets)
                psn[n] += asked[n].spans
                pass_by(bench, cycles * (1 - n))
            for qp, request in zip(pairs, asked, strict=True):
                request.is_served(qp)


@case("READ-06", "READ-12", smoke=True, targets=SIMULATED)
def test_a_read_begins_in_every_cycle_of_the_answer_to_anothers(bench: Bench) -> None:
    begins_beside_an_end(bench, [Op.READ], range(PARTS))


@case("READ-06", "READ-12", targets=SIMULATED)
@over_parts
def test_reads_and_atomics_begin_in_every_cycle_of_each_others_answer(
    bench: Bench, part: int
) -> None:
    begins_beside_an_end(bench, HELD, [part])


def receive_comes(bench: Bench, part: int | None) -> None:
    """The message finds it, or is told to come again and then finds it."""
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp = bench.connect()
    region = qp.region(SIZE)
    for psn, cycles in enumerate(moments(bench, part)):
        only = qp.filled(SEND_ONLY(psn=psn, payload=SIZE, a=1))
        qp.send(only)
        pass_by(bench, cycles)
        receive = qp.post_receive(region)
        answer = qp.peek()
        if answer is not None and kind_of(answer) == RNR_KIND:
            qp.expect(RNR(psn=psn))
            qp.send(only)
        qp.expect(ACK(psn=psn, msn=psn + 1))
        qp.receives(receive, byte_len=SIZE)
        assert region.read(0, SIZE) == only.said["payload"]


@case("RNR-01", "RNR-06", smoke=True, targets=SIMULATED)
def test_a_receive_is_posted_in_any_cycle_of_its_message(bench: Bench) -> None:
    receive_comes(bench, None)


@case("RNR-01", "RNR-06", targets=SIMULATED)
@over_parts
def test_a_receive_is_posted_in_every_cycle_of_its_message(bench: Bench, part: int) -> None:
    receive_comes(bench, part)


def receives_end(bench: Bench, service: Service, part: int | None) -> None:
    """Each once, those that messages have filled with success, and in their order."""
    executed_of(bench.claims, service, [Op.SEND])
    qp = bench.connect(service)
    message = UD_SEND_ONLY if service is Service.UD else SEND_ONLY
    room = SIZE + GRH_BYTES * (service is Service.UD)
    region = qp.region(2 * room)
    for cycles in moments(bench, part):
        receives = [qp.post_receive(region, offset=n * room, length=room) for n in range(2)]
        qp.send(message(psn=0, payload=SIZE, a=int(service is Service.RC)))
        pass_by(bench, cycles)
        bench.target.set_state(qp.qp, State.ERR)
        ended = bench.all_completions(qp, len(receives))
        if [each.wr_id for each in ended] != receives or ended[-1].status == SUCCESS:
            shown = ", ".join(f"{each.wr_id:#x} {each.status}" for each in ended)
            raise bench.failed(f"receives of a queue pair that was told to fail end as: {shown}")
        qp.reconnect()


@case("QPS-03", "QPS-06", needs=[Capability.STATES], smoke=True, targets=SIMULATED)
@over_all_services
def test_receives_end_once_when_a_queue_pair_fails_in_any_cycle_of_a_message(
    bench: Bench, service: Service
) -> None:
    receives_end(bench, service, None)


@case("QPS-03", "QPS-06", needs=[Capability.STATES], targets=SIMULATED)
@over_all_services
@over_parts
def test_receives_end_once_when_a_queue_pair_fails_in_every_cycle(
    bench: Bench, service: Service, part: int
) -> None:
    receives_end(bench, service, part)
