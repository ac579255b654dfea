# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags around what a responder gets, and around what it answers, queue pair by queue pair.

Any VID will do: a device in lockstep is on no network.
"""

from itertools import cycle

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import (
    RESPONDER,
    case,
    needs,
    over_gaps,
    over_ip_versions,
    over_services,
)
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import CHANGED_ON_THE_WAY, OUT_OF_SEQUENCE
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    ATOMIC_ACK,
    CNP,
    FETCH_ADD,
    NAK,
    READ_REQUEST,
    RNR,
    SEND_ONLY,
    SEQUENCE_ERROR,
    WRITE_ONLY,
)
from roceproof.conformance.suite.traffic.storm_crowd import lanes
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import DEI
from roceproof.conformance.wire.ip import CE
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [RESPONDER, needs(Capability.VLAN), needs(Capability.LOCKSTEP)]

PRIORITY, TAG, OTHER = 5 << 13, 6 << 13 | 0x5A5, 1 << 13 | 0xA5A
TAGS = (None, PRIORITY, TAG, 0, None, OTHER, 0xFFFF, TAG | DEI, 0xEFFF, DEI)
"""No tag, priorities alone, and VIDs; what may be dropped first is as good as what may not."""


def with_their_tags(bench: Bench, *, ipv6: bool = False) -> list[Connection]:
    """Queue pairs with tags and without, as many as there may be."""
    tags = (TAG, None, OTHER)[: bench.claims.qps]
    return [bench.connect(ipv6=ipv6, vlan=tag) for tag in tags]


@case("VLAN-03", "ICRC-04", "ETH-08", breaks=CHANGED_ON_THE_WAY, smoke=True)
@over_services
@over_ip_versions
@over_gaps
def test_requests_with_any_tag_or_none_end_anywhere_in_a_beat(
    bench: Bench, service: Service, ipv6: bool, gaps: dict[str, int]
) -> None:
    """One right behind the other, so that nothing of one is left in the next."""
    executed_of(bench.claims, service, [Op.WRITE])
    if gaps:
        bench.target.disturb(**gaps)
    qp = bench.connect(service, ipv6=ipv6, vlan=TAG)
    lengths = [*range(lanes(bench) + 5), qp.mtu, *range(5)]
    region, wanted = qp.region(qp.mtu * len(lengths)), b""
    for psn, (length, tag) in enumerate(zip(lengths, cycle(TAGS), strict=False)):
        data = qp.random.randbytes(length)
        qp.send(WRITE_ONLY(psn=psn, payload=data, a=0, vlan=tag, **at(region, psn * qp.mtu)))
        wanted += data.ljust(qp.mtu, b"\0")
    qp.fence(len(lengths))
    bench.holds(region, wanted, what="WRITEs with any tag or none")


@case("VLAN-02", "VLAN-03", breaks=CHANGED_ON_THE_WAY, smoke=True)
@over_ip_versions
def test_each_queue_pair_answers_with_its_own_tag(bench: Bench, ipv6: bool) -> None:
    """Whatever tag its requests have, by turns."""
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    pairs = with_their_tags(bench, ipv6=ipv6)
    for psn, tag in enumerate(TAGS):
        for qp in pairs:
            qp.send(WRITE_ONLY(psn=psn, a=1, vlan=tag))
        for qp in pairs:
            qp.expect(ACK(psn=psn, vlan=qp.spec.vlan))


@case("VLAN-02", breaks=OUT_OF_SEQUENCE)
def test_answers_to_several_carry_each_its_tag(bench: Bench) -> None:
    """Long ones, short ones and refusals, which leave one behind the other."""
    for op in (Op.READ, Op.SEND, Op.WRITE):
        executed_of(bench.claims, Service.RC, [op])
    pairs = with_their_tags(bench)
    region = pairs[0].region(3 * pairs[0].mtu + 5, filled=True)
    data = region.read(0, region.size)
    for qp in pairs:
        qp.send(READ_REQUEST(psn=0, dmalen=region.size, **at(region)))
        qp.send(SEND_ONLY(psn=4, payload=8, a=1))
    for qp in pairs:
        tag = qp.spec.vlan
        qp.expect(*(packet.but(vlan=tag) for packet in read_responses(qp, 0, data)))
        qp.expect(RNR(psn=4, vlan=tag))
    for qp in pairs:
        qp.send(WRITE_ONLY(psn=4, a=1), WRITE_ONLY(psn=9, a=1))
    for qp in pairs:
        qp.expect(ACK(psn=4, vlan=qp.spec.vlan), NAK(SEQUENCE_ERROR, psn=5, vlan=qp.spec.vlan))


@case("VLAN-02")
def test_an_atomic_and_its_copy_are_answered_with_the_tag(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.FETCH_ADD])
    for qp in with_their_tags(bench):
        region = qp.region(8)
        region.write(0, bytes(8))
        for _ in range(2):
            qp.send(FETCH_ADD(psn=0, swap=1, **at(region)))
            qp.expect(ATOMIC_ACK(psn=0, original=0, vlan=qp.spec.vlan))


@case("VLAN-02", "CNP-01", needs=[Capability.MARKS], smoke=True)
@over_services
def test_each_queue_pair_is_notified_of_marks_with_its_own_tag(
    bench: Bench, service: Service
) -> None:
    for tag in (TAG, None, OTHER):
        qp = bench.connect(service, vlan=tag)
        qp.send(WRITE_ONLY(psn=0, tos=qp.to_device.tos | CE))
        qp.expect(CNP(vlan=tag))
