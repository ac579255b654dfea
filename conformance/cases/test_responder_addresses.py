# SPDX-License-Identifier: BSD-2-Clause
"""Packets and messages across the powers of two of addresses, for peers and in the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    READ_REQUEST,
    SEND_FIRST,
    SEND_LAST,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_ONLY,
)
from roceproof.conformance.suite.responses import read_responses
from roceproof.conformance.suite.within_limits import executed_of
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = RESPONDER

TOLD = 1 << 17
"""Bytes of a region for a device that is told of its memory."""
NEEDED = {Op.WRITE: "remote_write", Op.SEND: "local_write", Op.READ: "remote_read"}
LOWEST, HIGHEST = 8, 64  # bits of an address; a packet crosses all below


class Place(NamedTuple):
    """Bytes of a region."""

    region: Region
    offset: int
    length: int


def regions(bench: Bench, right: str) -> Iterator[tuple[Region, set[int]]]:
    """Memory with a right, and where it begins: for peers, and in the device if that is known."""
    bases = {each.rkey: each.base for each in bench.claims.built_in}
    asked = [(each.length, each.access) for each in bench.claims.built_in if right in each.access]
    for length, access in asked if bases else [(TOLD, FULL_ACCESS)]:
        region = bench.target.register(min(length, TOLD), access=access)
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


@case("RETH-12", "READ-02", smoke=True)
@over("op", NEEDED, ids=lambda op: op.name)
def test_every_power_of_two_of_an_address_is_crossed(bench: Bench, op: Op) -> None:
    executed_of(bench.claims, Service.RC, [op])
    qp = bench.connect()
    psn = 0
    for region, origins in regions(bench, NEEDED[op]):
        for place in places(region, origins, qp.mtu):
            moves(bench, qp, op, place, psn)
            psn += -(-place.length // qp.mtu)


def moves(bench: Bench, qp: Connection, op: Op, place: Place, psn: int) -> None:
    """A message of that length puts its bytes there, or fetches them."""
    region, offset, length = place
    if op is Op.READ:
        region.write(offset, data := drawn(qp.random, length))
        qp.send(READ_REQUEST(psn=psn, dmalen=length, **at(region, offset)))
        qp.expect(*read_responses(qp, psn, data))
        return
    is_send = op is Op.SEND
    number = qp.post_receive(region, offset=offset, length=length) if is_send else None
    named = {} if is_send else {**at(region, offset), "dmalen": length}
    first, last, only = (
        (SEND_FIRST, SEND_LAST, SEND_ONLY) if is_send else (WRITE_FIRST, WRITE_LAST, WRITE_ONLY)
    )
    data = drawn(qp.random, length)
    if length <= qp.mtu:
        qp.send(only(psn=psn, payload=data, a=1, **named))
    else:
        qp.send(first(psn=psn, payload=data[: qp.mtu], **named))
        psn += 1
        qp.send(last(psn=psn, payload=data[qp.mtu :], a=1))
    qp.expect(ACK(psn=psn))
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


def drawn(random: Random, length: int) -> bytes:
    """Bytes none of which is what memory holds at first."""
    return bytes(random.randrange(1, 256) for _ in range(length))
