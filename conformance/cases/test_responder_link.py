# SPDX-License-Identifier: BSD-2-Clause
"""Ethernet and VLAN around what a responder gets, and around what it answers."""

from collections.abc import Sequence

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over_ip_versions, over_services
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    NAK,
    READ_REQUEST,
    SEND_ONLY,
    SEQUENCE_ERROR,
    WRITE_ONLY,
)
from roceproof.conformance.suite.sweep import accepts_each
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.verbs.service import Service

pytestmark = RESPONDER

VLAN = 7
TAG = 3 << 13 | VLAN
LONGEST_TRAILER = 46


def write_burst(bench: Bench, qp: Connection, sizes: Sequence[int]) -> None:
    """WRITEs of these sizes at no distance; each fills its own place, and nothing beside it."""
    mtu = qp.mtu
    region = qp.region(mtu * len(sizes))
    wanted = b""
    for psn, size in enumerate(sizes):
        data = qp.random.randbytes(size)
        wanted += data.ljust(mtu, b"\0")
        qp.send(WRITE_ONLY(psn=psn, payload=data, a=0, **at(region, psn * mtu)))
    qp.fence(len(sizes))
    bench.holds(region, wanted, what="WRITEs at no distance")


@case("ETH-03", smoke=True)
@over_ip_versions
def test_bytes_behind_the_packet_do_not_matter(bench: Bench, ipv6: bool) -> None:
    counts = range(1, LONGEST_TRAILER + 1)
    trailers = [bytes(count) for count in counts] + [bench.random.randbytes(c) for c in counts]
    packet = WRITE_ONLY(payload=8, **at(bench.target.register(64)))
    qp = bench.connect(ipv6=ipv6)
    accepts_each(qp, [packet.corrupted(edits.Trailer(data)) for data in trailers])


@case("ETH-03", smoke=True)
def test_bytes_behind_a_packet_are_never_delivered(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    number = qp.post_receive(region)
    data = qp.random.randbytes(5)
    qp.send(SEND_ONLY(psn=0, payload=data, a=1).corrupted(edits.Trailer(b"\xee" * LONGEST_TRAILER)))
    qp.expect(ACK(psn=0))
    qp.receives(number, byte_len=5)
    assert region.read(0, 64) == data + bytes(59)


@case("ETH-08", smoke=True)
@over_services
def test_a_short_packet_leaves_nothing_of_a_long_one(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    shrinking = [qp.mtu, 4, 3, 2, 1, 0]
    write_burst(bench, qp, [*shrinking, *reversed(shrinking), qp.mtu, 1, qp.mtu, 0, 5])


@case("VLAN-03", needs=[Capability.VLAN])
def test_a_priority_tag_makes_no_difference(bench: Bench) -> None:
    tags = [None, *(priority << 13 for priority in range(8)), None]
    accepts_each(bench.connect(), [WRITE_ONLY(vlan=tag) for tag in tags])


@case("VLAN-03", needs=[Capability.VLAN])
def test_the_priority_within_a_vlan_makes_no_difference(bench: Bench) -> None:
    tags = [priority << 13 | VLAN for priority in range(8)]
    accepts_each(bench.connect(vlan=TAG), [WRITE_ONLY(vlan=tag) for tag in tags])


@case("VLAN-02", needs=[Capability.VLAN], breaks=OUT_OF_SEQUENCE)
def test_answers_of_all_kinds_carry_the_tag(bench: Bench) -> None:
    qp = bench.connect(vlan=TAG)
    region = qp.region(2 * qp.mtu)
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, vlan=TAG))
    qp.send(READ_REQUEST(psn=1, dmalen=region.size, **at(region)))
    qp.expect(*(r.but(vlan=TAG) for r in read_responses(qp, 1, bytes(region.size))))
    qp.send(WRITE_ONLY(psn=5, a=1))
    qp.expect(NAK(SEQUENCE_ERROR, psn=3, vlan=TAG))
    qp.send(WRITE_ONLY(psn=3, payload=8, va=region.addr, rkey=region.wrong_key(1), a=1))
    qp.expect(NAK(ACCESS_ERROR, psn=3, vlan=TAG))
