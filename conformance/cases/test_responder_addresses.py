# SPDX-License-Identifier: BSD-2-Clause
"""Across the powers of two of addresses, for peers and in the device, and of lengths."""

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import NamedTuple

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    INVALID_REQUEST,
    NAK,
    READ_REQUEST,
    READ_RESP_FIRST,
    READ_RESP_MIDDLE,
    SEND_FIRST,
    SEND_LAST,
    SEND_MIDDLE,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_LAST_IMM,
    WRITE_MIDDLE,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.psn import packet_count
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = RESPONDER

TOLD = 1 << 17
"""Bytes of a region for a device that is told of its memory."""
NEEDED = {
    Op.WRITE: "remote_write",
    Op.WRITE_IMM: "remote_write",
    Op.SEND: "local_write",
    Op.READ: "remote_read",
}
LOWEST, HIGHEST = 8, 64  # bits of an address; a packet crosses all below
PACKETS = {
    Op.WRITE: (WRITE_ONLY, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST),
    Op.SEND: (SEND_ONLY, SEND_FIRST, SEND_MIDDLE, SEND_LAST),
    Op.WRITE_IMM: (WRITE_ONLY_IMM, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMM),
}
TO_ADDRESSES = (Op.WRITE, Op.SEND)
REPORTED = (Op.SEND, Op.WRITE_IMM)
"""Messages whose receive tells their length."""
REST = 5
MANY = 1 << 12  # packets that wait at once
SIMULATED = ["hdl", "model"]
LONG, LONGEST, WORD = 12, 61, 8
"""Bits of the length of a region, and bytes of a message to one."""
LONGEST_RECEIVE = (1 << 32) - 1
PLACES, SMALL = 48, 4096
"""Regions so many that some end at 2^32 and at 2^64, and some begin at 0 or lie across 2^32."""


class Place(NamedTuple):
    region: Region
    offset: int
    length: int


def regions(bench: Bench, right: str, *, most: int = TOLD) -> Iterator[tuple[Region, set[int]]]:
    """Memory with a right, and where it begins: for peers, and in the device if that is known."""
    bases = {each.rkey: each.base for each in bench.claims.built_in}
    asked = [(each.length, each.access) for each in bench.claims.built_in if right in each.access]
    for length, access in asked or [(most, FULL_ACCESS)]:
        region = bench.target.register(min(length, most), access=access)
        yield region, {region.addr, bases.get(region.rkey, region.addr)}


def crossings(origins: Iterable[int], extent: int) -> list[int]:
    """The first offset at which each bit of an address becomes 1, those below it 0."""
    found = set()
    for origin in origins:
        for power in (1 << bit for bit in range(LOWEST, HIGHEST)):
            offset = (power - origin) % (2 * power)
            found.add(offset if offset else 2 * power)
    return sorted(offset for offset in found if offset < extent)


def places(region: Region, origins: set[int], mtu: int) -> Iterator[Place]:
    """At each crossing a packet that goes across it, and two that meet there."""
    size = min(mtu, region.extent)
    for offset in crossings(origins, region.extent) or [size // 2]:
        before = min(offset, size // 2 - 3)
        yield Place(region, min(offset - before, region.extent - size), size)
        if mtu <= offset < region.extent:
            yield Place(region, offset - mtu, mtu + min(mtu // 2 + 1, region.extent - offset))


def crosses(bench: Bench, op: Op) -> None:
    """Messages across each power of two of an address in every region."""
    executed_of(bench.claims, Service.RC, [op])
    qp = bench.connect()
    psn = 0
    for region, origins in regions(bench, NEEDED[op]):
        for place in places(region, origins, qp.mtu):
            moves(bench, qp, op, place, psn)
            psn += -(-place.length // qp.mtu)


def passes(
    bench: Bench, op: Op, service: Service = Service.RC, *, most: int = TOLD, is_all: bool = True
) -> None:
    """Messages just longer than each power of two, or the last, as far as the region goes."""
    executed_of(bench.claims, service, [op])
    qp = bench.connect(service, path_mtu=(max if is_all else min)(bench.claims.path_mtus))
    places = regions(bench, NEEDED[op], most=most)
    region, _ = max(places, key=lambda each: each[0].size)
    sizes = [(1 << bit) + REST for bit in range(LOWEST, HIGHEST)]
    lengths = [size for size in sizes if qp.mtu < size <= region.size] or [region.size]
    lengths = lengths if is_all else lengths[-1:]
    psn = 0
    for length in lengths:
        moves(bench, qp, op, Place(region, 0, length), psn)
        psn += -(-length // qp.mtu)
    if op is Op.SEND and is_all:
        for room in lengths:
            moves(bench, qp, op, Place(region, 0, min(room, qp.mtu + REST)), psn, room=room)
            psn += 1 + (room > qp.mtu)


@case("RETH-12", smoke=True)
@over("op", TO_ADDRESSES, ids=lambda op: op.name)
def test_every_power_of_two_of_an_address_is_crossed(bench: Bench, op: Op) -> None:
    crosses(bench, op)


@case("RETH-11", "MTU-06", smoke=True)
@over("op", TO_ADDRESSES, ids=lambda op: op.name)
def test_every_power_of_two_of_a_length_is_passed(bench: Bench, op: Op) -> None:
    passes(bench, op)


@case("IMM-04", "RETH-11", smoke=True)
def test_every_power_of_two_of_a_length_is_reported(bench: Bench) -> None:
    passes(bench, Op.WRITE_IMM)


@case("IMM-04", "UC-03", smoke=True, targets=SIMULATED, needs=[Capability.UC])
@over("op", REPORTED, ids=lambda op: op.name)
def test_uc_reports_a_length_of_more_than_16_bits(bench: Bench, op: Op) -> None:
    passes(bench, op, Service.UC, is_all=False)


@case("IMM-04", "READ-02", "RETH-12", targets=SIMULATED)
@over(
    ("op", "bits"),
    [
        *(pytest.param(op, 18, marks=pytest.mark.smoke) for op in (*REPORTED, Op.READ)),
        *((op, 20) for op in (Op.SEND, Op.READ)),
        (Op.WRITE_IMM, 24),
    ],
    ids=str,
)
def test_a_message_is_longer_than_most(bench: Bench, op: Op, bits: int) -> None:
    passes(bench, op, most=2 << bits, is_all=False)


@case("READ-02", smoke=True)
@over("go", [crosses, passes], ids=["addresses", "lengths"])
def test_reads_go_across_every_power_of_two(bench: Bench, go: Callable[[Bench, Op], None]) -> None:
    go(bench, Op.READ)


@case("RETH-07", smoke=True, targets=["hdl"])
def test_a_region_is_as_long_as_it_says(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp = bench.connect()
    for bit in reversed(range(LONG, LONGEST)):
        size = (1 << bit) + bench.random.choice([-1, 0, 1])
        region = bench.target.register(size)
        near = [(1 << lower) - WORD for lower in (32, 48) if 1 << lower < size]
        offsets = [*near, 0, size - WORD]
        for psn, offset in enumerate(offsets):
            moves(bench, qp, Op.WRITE, Place(region, offset, WORD), psn)
        behind = at(region, size - WORD + 1)
        qp.send(WRITE_ONLY(psn=len(offsets), payload=WORD, a=1, **behind))
        qp.expect(NAK(ACCESS_ERROR, psn=len(offsets)))
        qp.reconnect()
        region.deregister()


@case("RQ-01", smoke=True, needs=[Capability.TOLD_KEYS], targets=["hdl"])
def test_a_receive_is_as_long_as_it_says(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.SEND])
    qp = bench.connect()
    region = bench.target.register(LONGEST_RECEIVE)
    rooms = [(1 << bit) - less for bit in range(TOLD.bit_length(), 32) for less in (0, 1)]
    for psn, room in enumerate([*rooms, LONGEST_RECEIVE]):
        moves(bench, qp, Op.SEND, Place(region, 0, WORD), psn, room=room)


@case("RETH-07", smoke=True, targets=["hdl"])
def test_memory_is_reached_wherever_it_lies(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp = bench.connect()
    for number in range(PLACES):
        region = bench.target.register(SMALL)
        moves(bench, qp, Op.WRITE, Place(region, 0, WORD), 2 * number)
        moves(bench, qp, Op.WRITE, Place(region, region.extent - WORD, WORD), 2 * number + 1)
        region.deregister()


@case("RETH-11", smoke=True, needs=[Capability.TOLD_KEYS], targets=["hdl"])
def test_the_longest_message_of_all_may_begin(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp = bench.connect()
    region = bench.target.register(LONGEST_MESSAGE)
    first = WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=LONGEST_MESSAGE, a=1, **at(region))
    qp.send(first)
    qp.expect(ACK(psn=0, msn=0))


@case("FUZZ-08", "NAK-07", smoke=True, needs=[Capability.TOLD_KEYS], targets=["hdl"])
def test_a_message_longer_than_any_is_refused_though_its_region_has_room(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp = bench.connect()
    region = bench.target.register(2 * LONGEST_MESSAGE)
    longer = LONGEST_MESSAGE + 1
    qp.send(WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=longer, a=1, **at(region)))
    qp.expect(NAK(INVALID_REQUEST, psn=0))


@case("FUZZ-08", "NAK-07", smoke=True, needs=[Capability.TOLD_KEYS], targets=["hdl"])
def test_a_read_of_more_than_any_message_has_is_refused_though_its_region_has_room(
    bench: Bench,
) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    qp = bench.connect()
    region = bench.target.register(2 * LONGEST_MESSAGE)
    qp.send(READ_REQUEST(psn=0, dmalen=LONGEST_MESSAGE + 1, **at(region)))
    qp.expect(NAK(INVALID_REQUEST, psn=0))


@case("RETH-07", "READ-09", smoke=True, targets=["hdl", "model"])
def test_a_read_that_ends_behind_its_region_is_refused_whatever_its_length(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    qp = bench.connect()
    region = qp.region()
    before = [READ_RESP_FIRST(), READ_RESP_MIDDLE()]
    for beyond in (1, qp.mtu, 2 * qp.mtu):
        for length in (qp.mtu + 1, 2 * qp.mtu, 2 * qp.mtu + 1, 3 * qp.mtu):
            if beyond >= length:
                continue
            where = at(region, region.extent - length + beyond)
            qp.send(READ_REQUEST(psn=0, dmalen=length, **where))
            refusal = NAK(ACCESS_ERROR, psn=range(packet_count(length, qp.mtu)))
            qp.expect(refusal, allowing=before)
            qp.reconnect()


def moves(
    bench: Bench, qp: Connection, op: Op, place: Place, psn: int, *, room: int | None = None
) -> None:
    """A message of that length puts its bytes there, or fetches them; its receive may be longer."""
    region, offset, length = place
    data = drawn(qp.random, length)
    if op is Op.READ:
        region.write(offset, data)
        qp.send(READ_REQUEST(psn=psn, dmalen=length, **at(region, offset)))
        qp.expect(*read_responses(qp, psn, data))
        return
    number = None
    if op in REPORTED:
        number = qp.post_receive(region, offset=offset, length=room or length)
    packets = cut(qp, op, data, {} if op is Op.SEND else at(region, offset))
    for turn, packet in enumerate(packets):
        qp.send(packet.but(psn=psn + turn))
        if turn % MANY == MANY - 1:
            bench.drain()
    if qp.spec.service is Service.RC:
        qp.expect(ACK(psn=psn + len(packets) - 1))
    if number is not None:
        qp.receives(number, byte_len=length)
    found = region.read(offset, length)
    if found != data:
        wrong = next(number for number in range(length) if found[number] != data[number])
        raise bench.failed(
            f"a {op.name} to addresses from {region.addr + offset:#x} on left other bytes"
            f" from {region.addr + offset + wrong:#x} on",
            rules=["RETH-12"],
        )


def cut(qp: Connection, op: Op, data: bytes, place: dict[str, int]) -> list[Pattern]:
    """The packets of a message to a place, the last of which asks for an ACK on RC."""
    only, first, middle, last = PACKETS[op]
    asks = int(qp.spec.service is Service.RC)
    named = {**place, "dmalen": len(data)} if place else {}
    parts = [data[start : start + qp.mtu] for start in range(0, len(data), qp.mtu)]
    if len(parts) == 1:
        return [only(payload=data, a=asks, **named)]
    middles = [middle(payload=part) for part in parts[1:-1]]
    return [first(payload=parts[0], **named), *middles, last(payload=parts[-1], a=asks)]


def drawn(random: Random, length: int) -> bytes:
    """Bytes none of which is what memory holds at first."""
    return random.randbytes(length).replace(b"\0", b"\1")
