# SPDX-License-Identifier: BSD-2-Clause
"""Two queue pairs, regions or receives, each with its own of every field that it was told.

Either of them is told last, and both are asked: nothing of one is the other's.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import WRONG_LENGTHS
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    ATOMIC_ACK,
    FETCH_ADD,
    INVALID_REQUEST,
    NAK,
    READ_REQUEST,
    READ_RESP_ONLY,
    RNR,
    SEND_ONLY,
    UD_SEND_ONLY,
    WRITE_ONLY,
    Maker,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.framing import DEI
from roceproof.dpi.contract.fields import contract_field
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP), needs(Capability.RESET)]

ODD = 21  # bytes
SIMULATED = ["hdl", "model"]
MESSAGES, HEADER, ROOM, ECN = 256, 40, 64, 3
DEPTHS = (2, 16)
COUNTED = ("MSN-01", "MSN-02", "MSN-03", "MSN-04")
RIGHTS: dict[str, tuple[Op, Maker]] = {
    "remote_write": (Op.WRITE, WRITE_ONLY),
    "remote_read": (Op.READ, READ_REQUEST),
}


def comes_back_soon(qp: Connection) -> None:
    """A message finds no receive."""
    qp.send(SEND_ONLY(psn=0, payload=4, a=1))
    qp.expect(RNR(psn=0, timer=qp.spec.min_rnr_timer))


def is_cut(qp: Connection) -> None:
    """A READ is answered in two packets."""
    region = qp.region(qp.mtu + 1, filled=True)
    qp.send(READ_REQUEST(psn=0, dmalen=region.size, **at(region)))
    qp.expect(*read_responses(qp, 0, region.read(0, region.size)))
    region.deregister()


def is_deep(qp: Connection) -> None:
    """As many READs as were agreed on are under way."""
    region = qp.region(ROOM, filled=True)
    count, data = qp.spec.max_dest_rd_atomic, region.read(0, ROOM)
    qp.send(*(READ_REQUEST(psn=psn, dmalen=ROOM, **at(region)) for psn in range(count)))
    qp.expect(*(READ_RESP_ONLY(psn=psn, payload=data) for psn in range(count)))
    region.deregister()


def is_allowed(qp: Connection) -> None:
    """What it may is done, then what it may not is refused."""
    region = qp.region(ROOM)
    for psn, right in enumerate(sorted(RIGHTS, key=lambda right: right not in qp.spec.access)):
        op, maker = RIGHTS[right]
        payload = {"payload": 8} if op is Op.WRITE else {}
        qp.send(maker(psn=psn, dmalen=8, a=1, **payload, **at(region)))
        if right not in qp.spec.access:
            qp.expect(NAK(INVALID_REQUEST, psn=psn))
            break
        qp.expect(READ_RESP_ONLY(psn=psn) if op is Op.READ else ACK(psn=psn))
    region.deregister()


def counts(qp: Connection) -> None:
    """Its answers say how many messages came before, also to an atomic that comes again."""
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, msn=(qp.spec.completed_messages + 1) % (1 << 24)))
    if not qp.executes(Op.FETCH_ADD):
        return
    region = qp.region(8)
    for _ in range(2):
        qp.send(FETCH_ADD(psn=1, swap=1, **at(region)))
        msn = (qp.spec.completed_messages + 2) % (1 << 24)
        qp.expect(ATOMIC_ACK(psn=1, msn=msn, original=0))
    region.deregister()


def has_its_key(qp: Connection) -> None:
    """A datagram with its Q_Key comes, one with another does not."""
    region = qp.region(HEADER + 16)
    receive = qp.post_receive(region)
    qkey = qp.spec.qkey
    qp.send(UD_SEND_ONLY(psn=0, payload=8, qkey=qkey ^ (1 << 32) - 1))
    qp.send(UD_SEND_ONLY(psn=1, payload=9, qkey=qkey))
    qp.receives(receive, byte_len=HEADER + 9)
    region.deregister()


def reaches(qp: Connection, **said: int) -> None:
    """Its own memory, and the answer goes to its own peer, and says so in these fields."""
    answered(qp, **said)


def answered(qp: Connection, **said: int) -> Packet:
    region = qp.region(ROOM)
    qp.send(WRITE_ONLY(psn=0, payload=8, a=1, **at(region)))
    (answer,) = qp.expect(ACK(psn=0, msn=1, **said))
    region.deregister()
    return answer


def has_its_class(qp: Connection) -> None:
    """Its DSCP: no rule binds the ECN of an answer."""
    came, want = qp.from_device.fields_of(answered(qp))["tos"], qp.spec.traffic_class
    assert came & ~ECN == want, f"tos: want {want}, got {came}"


def has_its_hops(qp: Connection) -> None:
    reaches(qp, ttl=qp.spec.hop_limit)


def has_its_tag(qp: Connection) -> None:
    reaches(qp, vlan=qp.spec.vlan or 0)


class Twins(NamedTuple):
    """What two queue pairs have otherwise, and what shows which each has."""

    rules: tuple[str, ...]
    values: Callable[[Bench], tuple[Any, Any]]
    shows: Callable[[Connection], None]
    operations: tuple[Op, ...] = (Op.WRITE,)
    needs: tuple[Capability, ...] = ()
    service: Service = Service.RC


def unlike(name: str) -> Callable[[Bench], tuple[int, int]]:
    """Two values of a number of a queue pair's record, each bit of which is otherwise."""
    field = contract_field("qp_config_t", name)

    def values(bench: Bench) -> tuple[int, int]:
        one = field.draw(bench.random)
        other = one ^ (1 << field.last.bit_length()) - 1
        return one, min(max(other, field.first), field.last)

    return values


def rights(_bench: Bench) -> tuple[frozenset[str], frozenset[str]]:
    one, other = (FULL_ACCESS - {right} for right in RIGHTS)
    return one, other


def counted(bench: Bench) -> tuple[int, int]:
    one, other = unlike("completed")(bench)
    return one * MESSAGES, other * MESSAGES


def classes(bench: Bench) -> tuple[int, int]:
    """Without a mark of congestion."""
    one, other = (each & ~ECN for each in unlike("traffic_class")(bench))
    return one, other


def tags(bench: Bench) -> tuple[int, int]:
    """With DEI clear."""
    one = bench.random.getrandbits(16) & ~DEI
    return one, one ^ 0xFFFF ^ DEI


_READS = (Op.READ,)
TWINS = {
    "min_rnr_timer": Twins(("RNR-02",), unlike("min_rnr_timer"), comes_back_soon, (Op.SEND,)),
    "path_mtu": Twins(
        ("MTU-10",), lambda b: (min(b.claims.path_mtus), max(b.claims.path_mtus)), is_cut, _READS
    ),
    "max_dest_rd_atomic": Twins(("READ-06",), lambda _: DEPTHS, is_deep, _READS),
    "access": Twins(("OPC-13",), rights, is_allowed, (Op.WRITE, Op.READ)),
    "domain": Twins(("RETH-10",), lambda _: (0, 1), reaches),
    "traffic_class": Twins(("IP-07",), classes, has_its_class),
    "hop_limit": Twins(("IP-06",), unlike("hop_limit"), has_its_hops),
    "udp_sport": Twins(("UDP-04",), unlike("udp_sport"), reaches),
    "remote": Twins(("IP-08", "ETH-05"), lambda b: (b.peers[0], b.peers[1]), reaches),
    "completed_messages": Twins(("MSN-06",), counted, counts, needs=(Capability.MSN_PRESET,)),
    "vlan": Twins(("VLAN-02",), tags, has_its_tag, needs=(Capability.VLAN,)),
    "qkey": Twins(
        ("UD-02",), unlike("qkey"), has_its_key, (Op.SEND,), (Capability.UD,), Service.UD
    ),
}
"""By field of `QpSpec`; numbers and start PSNs differ wherever there are two queue pairs."""


def marks_of(twins: Twins) -> list[pytest.MarkDecorator]:
    """Its rules and needs; and an observer counts messages from 0, wherever they begin."""
    marks = [pytest.mark.rules(*twins.rules), needs(*twins.needs)]
    if Capability.MSN_PRESET in twins.needs:
        reasons = dict.fromkeys(COUNTED, "to the observer a count starts at 0")
        marks.append(pytest.mark.unjudged(reasons=reasons))
    return marks


@case(smoke=True, targets=SIMULATED)
@over(
    "field", [pytest.param(name, id=name, marks=marks_of(twins)) for name, twins in TWINS.items()]
)
def test_each_queue_pair_has_its_own(bench: Bench, field: str) -> None:
    twins = TWINS[field]
    for op in twins.operations:
        executed_of(bench.claims, twins.service, [op])
    qps = [bench.connect(twins.service, **{field: each}) for each in twins.values(bench)]
    for turn in (qps, qps[::-1]):
        for qp in turn:
            qp.reconnect()
        for qp in turn:
            twins.shows(qp)


@case("RETH-07", "RETH-09", needs=[Capability.TOLD_KEYS], smoke=True, targets=SIMULATED)
def test_each_region_has_its_own_rights_and_bounds(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp = bench.connect()
    lacking = FULL_ACCESS - {"remote_write"}
    for size, access in ((ROOM, lacking), (4 * ROOM, FULL_ACCESS)):
        region = bench.target.register(size, access=access)
        other = bench.target.register(5 * ROOM - size, access=FULL_ACCESS)
        least = bench.target.register(8, access=lacking)
        for place, is_good in (
            (at(region, size - 8), access == FULL_ACCESS),
            (at(region, size - 4), False),
            (at(other, other.size - 8), True),
            (at(other, other.size - 4), False),
        ):
            qp.reconnect()
            qp.send(WRITE_ONLY(psn=0, payload=8, a=1, **place))
            qp.expect(ACK(psn=0) if is_good else NAK(ACCESS_ERROR, psn=0))
        for each in (region, other, least):
            each.deregister()


@case("RETH-09", "RETH-12", needs=[Capability.TOLD_KEYS], smoke=True, targets=SIMULATED)
@over("turn", range(2))
def test_regions_at_one_address_are_told_apart_by_their_keys(bench: Bench, turn: int) -> None:
    """At any byte, since not all of them may be changed by atomics."""
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp, size, access = bench.connect(), ODD + turn, FULL_ACCESS - {"remote_atomic"}
    first = bench.target.register(size, access=access)
    closed = bench.target.register_at(first.addr, size, access=access - {"remote_write"})
    regions = [first, bench.target.register_at(first.addr, size, access=access)]
    psn = 0
    for region in (*regions, *regions):
        write = qp.filled(WRITE_ONLY(psn=psn, payload=size, a=1, **at(region)))
        qp.send(write)
        qp.expect(ACK(psn=psn))
        bench.holds(region, write.said["payload"], what="a WRITE to one of two at an address")
        psn += 1
    for region in regions if qp.executes(Op.READ) else ():
        qp.send(READ_REQUEST(psn=psn, dmalen=size, **at(region)))
        qp.expect(READ_RESP_ONLY(psn=psn, payload=region.read(0, size)))
        psn += 1
    qp.send(WRITE_ONLY(psn=psn, payload=size, a=1, **at(closed)))
    qp.expect(NAK(ACCESS_ERROR, psn=psn))
    assert closed.read(0, size) == bytes(size)


@case("QPS-06", "NAK-07", smoke=True, targets=SIMULATED, breaks=WRONG_LENGTHS)
def test_each_receive_has_its_own_place_and_length(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp = bench.connect()
    regions = [qp.region(4 * ROOM) for _ in range(2)]
    for lengths in ((ROOM, 2 * ROOM), (2 * ROOM, ROOM)):
        qp.reconnect()
        places = [(region, n * 8, lengths[n]) for n, region in enumerate(regions)]
        receives = [qp.post_receive(region, offset=n, length=size) for region, n, size in places]
        for psn, (region, offset, size) in enumerate(places):
            send = qp.filled(SEND_ONLY(psn=psn, payload=size, a=1))
            qp.send(send)
            qp.expect(ACK(psn=psn))
            qp.receives(receives[psn], byte_len=size)
            assert region.read(offset, size) == send.said["payload"], f"receive {psn} of two"
    qp.reconnect()
    short = [qp.post_receive(regions[0], length=size) for size in (ROOM, 2 * ROOM)]
    qp.send(SEND_ONLY(psn=0, payload=ROOM + 8, a=1))
    qp.expect(NAK(INVALID_REQUEST, psn=0))
    qp.receives(short[0], status="loc_len_err")
