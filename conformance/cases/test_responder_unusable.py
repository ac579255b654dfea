# SPDX-License-Identifier: BSD-2-Clause
"""Receives whose memory may not be written, or only by its owner, on every service."""

from collections.abc import Callable
from functools import partial
from itertools import count

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over_all_services
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.pattern import (
    ACK,
    NAK,
    OPERATIONAL_ERROR,
    SEND_ONLY,
    SEND_ONLY_INV,
    UD_SEND_ONLY,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Beyond
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = RESPONDER

SIMULATED = ["hdl", "model"]
SIZE, UNSAID = 8, 20  # bytes: of a message, and of those in front of a datagram unused
ROOM = 256
KEY_BITS = 32


def post(qp: Connection, region: Region, *, offset: int = 0, key_mask: int = 0) -> Region:
    """A receive that the message just fills."""
    header = GRH_BYTES if qp.spec.service is Service.UD else 0
    qp.post_receive(region, offset=offset, length=header + SIZE, key_mask=key_mask)
    return region


def not_writable(_bench: Bench, qp: Connection) -> Region:
    """Its region may only be read."""
    return post(qp, qp.region(ROOM, access=FULL_ACCESS - {"local_write"}))


def forgotten(_bench: Bench, qp: Connection) -> Region:
    """Its region is there no more."""
    region = post(qp, qp.region(ROOM))
    region.deregister()
    return region


def invalidated(bench: Bench, qp: Connection) -> Region:
    """A SEND to another queue pair has ended its region."""
    if Capability.INVALIDATE not in bench.claims.capabilities:
        raise Beyond("no SEND ends a region")
    region, other = post(qp, qp.region(ROOM)), bench.connect()
    number = other.post_receive(other.region())
    other.send(SEND_ONLY_INV(psn=0, inv=region.rkey, a=1))
    other.expect(ACK(psn=0))
    other.receives(number, byte_len=0, invalidated=region.rkey)
    return region


def of_another_domain(bench: Bench, qp: Connection) -> Region:
    """Its region belongs to other queue pairs."""
    return post(qp, bench.target.register_elsewhere(ROOM))


def named_by_the_key_of_peers(_bench: Bench, qp: Connection) -> Region:
    """Its key is the one that requests have."""
    region = qp.region(ROOM)
    if region.lkey in (0, region.rkey):
        raise Beyond("its regions have one key")
    return post(qp, region, key_mask=region.lkey ^ region.rkey)


def ends_behind_its_region(_bench: Bench, qp: Connection) -> Region:
    """By a byte."""
    region = qp.region(ROOM)
    header = GRH_BYTES if qp.spec.service is Service.UD else 0
    return post(qp, region, offset=region.extent - header - SIZE + 1)


def begins_in_front_of_its_region(_bench: Bench, qp: Connection) -> Region:
    """By a byte, and by what of a datagram's header may hold anything."""
    return post(qp, qp.region(ROOM), offset=-1 - (UNSAID if qp.spec.service is Service.UD else 0))


def turned_in(first: int, bench: Bench, qp: Connection) -> Region:
    """One of eight bits of its key, from that one on."""
    region = qp.region(ROOM)
    mask = 1 << first + bench.random.randrange(8)
    return post(qp, region, key_mask=region.wrong_key(mask) ^ region.rkey)


def message(service: Service) -> Pattern:
    """One that takes a receive."""
    maker = UD_SEND_ONLY if service is Service.UD else SEND_ONLY
    return maker(psn=0, payload=SIZE, a=int(service is Service.RC))


SPOILT: list[Callable[[Bench, Connection], Region]] = [
    not_writable,
    forgotten,
    invalidated,
    of_another_domain,
    named_by_the_key_of_peers,
    ends_behind_its_region,
    begins_in_front_of_its_region,
    *(partial(turned_in, first) for first in range(0, KEY_BITS, 8)),
]


@case("NAK-07", "RETH-12", "UD-07", needs=[Capability.RESET], smoke=True, targets=SIMULATED)
@over_all_services
def test_a_receive_in_memory_that_must_not_be_written(bench: Bench, service: Service) -> None:
    executed_of(bench.claims, service, [Op.SEND])
    qp, bystander = bench.connect(service), bench.bystander()
    fences = count()
    for spoil in bench.random.sample(SPOILT, len(SPOILT)):
        qp.reconnect()
        try:
            region = spoil(bench, qp)
        except Beyond:
            continue
        before = region.read(0, region.extent)
        qp.send(message(service))
        if service is Service.RC:
            qp.expect(NAK(OPERATIONAL_ERROR, psn=0))
        bystander.fence(next(fences))
        qp.expect_silence()
        assert region.read(0, region.extent) == before, "a receive was written into"


@case("RQ-01", "ACK-01", smoke=True)
@over_all_services
def test_a_receive_needs_no_right_of_peers(bench: Bench, service: Service) -> None:
    executed_of(bench.claims, service, [Op.SEND])
    qp, header = bench.connect(service), GRH_BYTES if service is Service.UD else 0
    region = qp.region(ROOM, access=frozenset({"local_write"}))
    number = qp.post_receive(region)
    send = qp.filled(message(service))
    qp.send(send)
    if service is Service.RC:
        qp.expect(ACK(psn=0))
    qp.receives(number, byte_len=header + SIZE)
    assert region.read(header, SIZE) == send.said["payload"]
