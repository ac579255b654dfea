# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags of queue pairs side by side, each with its own or with none, from a requester.

Any VID will do: a peer of the bench hears them all, so these cases are for devices in lockstep.
"""

from itertools import cycle

from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over, over_gaps, over_services
from roceproof.conformance.suite.checks.frame_integrity import frames_are_exact, icrcs_are_right
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import CHANGED_ON_THE_WAY
from roceproof.conformance.suite.pattern import ACK
from roceproof.conformance.suite.traffic.storm_crowd import lanes, operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import DEI
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.VLAN), needs(Capability.LOCKSTEP)]

BITS = (*range(12), 13, 14, 15)
"""Those of a VID and a priority."""
WHOLE = sum(1 << bit for bit in BITS)
TAGS = (0, WHOLE, *(1 << bit for bit in BITS), *(WHOLE ^ 1 << bit for bit in BITS))
STALLS = (0, 50)
TURNS, PAIRS, PING, WAITS_NS = 8, 3, 30, 500


def told(qp: Connection, op: Op, length: int) -> None:
    """A message, in each packet of which the tag is looked at."""
    message = qp.post(op, length)
    qp.expect(*(packet.but(vlan=qp.spec.vlan) for packet in message.packets))
    qp.finish(message)


def side_by_side(bench: Bench, service: Service) -> list[Connection]:
    """Queue pairs with tags that have no bit in common, and without; as many as there may be."""
    one = bench.random.choice(TAGS[2:])
    tags = (one, None, WHOLE ^ one)[: bench.claims.qps]
    return [bench.connect(service, vlan=tag) for tag in tags]


@case("VLAN-02", "VLAN-01", needs=[Capability.RESET], smoke=True)
@over_services
def test_every_bit_of_a_tag_is_that_of_the_queue_pair(bench: Bench, service: Service) -> None:
    served(bench, service)
    op, tags = operations(bench, service)[0], bench.random.sample(TAGS, len(TAGS))
    qp = bench.connect(service, vlan=tags[0])
    for tag in (*tags, None, tags[0]):
        qp.reconnect(vlan=tag)
        told(qp, op, 9)
    frames_are_exact(bench)


@case("VLAN-01", "VLAN-02", "VLAN-05", "ICRC-04", smoke=True)
@over_services
def test_packets_with_and_without_a_tag_end_anywhere_in_a_beat(
    bench: Bench, service: Service
) -> None:
    """By turns and without a pause, so that nothing of one is left in the next."""
    served(bench, service)
    pairs = side_by_side(bench, service)
    for op in operations(bench, service):
        for length in (*range(lanes(bench) + 4), pairs[0].mtu + 1):
            for qp, message in [(qp, qp.post(op, length)) for qp in pairs]:
                qp.expect(*(packet.but(vlan=qp.spec.vlan) for packet in message.packets))
                qp.finish(message)
    frames_are_exact(bench)
    icrcs_are_right(bench)


@case("VLAN-02", "ICRC-04", "ETH-07", needs=[Capability.DISTURBANCE])
@over_services
@over("stall", STALLS)
def test_long_messages_side_by_side_keep_their_tags(
    bench: Bench, service: Service, stall: int
) -> None:
    served(bench, service)
    pairs = side_by_side(bench, service)
    bench.target.disturb(tx_stall=stall, payload_gap=stall)
    op = operations(bench, service)[0]
    for rest in range(5):
        for qp, message in [(qp, qp.post(op, 4 * qp.mtu + rest)) for qp in pairs]:
            qp.expect(*(packet.but(vlan=qp.spec.vlan) for packet in message.packets))
            qp.finish(message)
    bench.target.disturb(tx_stall=0, payload_gap=0)
    frames_are_exact(bench)


@case("VLAN-03", "ACK-08", needs=[Capability.RC], breaks=CHANGED_ON_THE_WAY, smoke=True)
@over_gaps
def test_an_ack_with_any_tag_or_none_completes(bench: Bench, gaps: dict[str, int]) -> None:
    served(bench, Service.RC)
    if gaps:
        bench.target.disturb(**gaps)
    op = operations(bench, Service.RC)[0]
    pairs = side_by_side(bench, Service.RC)
    for tag, qp in zip((None, *TAGS, DEI, WHOLE | DEI, None), cycle(pairs), strict=False):
        message = qp.post(op, 5)
        qp.expect_message(message)
        qp.send(ACK(psn=message.packets[-1].said["psn"], vlan=tag))
        qp.completes(message)


@case(
    "VLAN-02",
    "ACK-08",
    "LIVE-01",
    needs=[Capability.PING, Capability.DISTURBANCE],
    smoke=True,
    targets=["hdl"],
)
@over_services
def test_tagged_messages_close_to_answers_to_pings_complete(bench: Bench, service: Service) -> None:
    """They wait together, so that one leaves directly behind the other."""
    served(bench, service)
    play, op = Play(bench), operations(bench, service)[0].name
    play.connect(0, service=service.name, vlan=TAGS[1])
    for length in bench.random.sample(range(2 * lanes(bench)), TURNS):
        play.disturb(tx_stall=95)
        for _ in range(PAIRS):
            play.post(0, op, length)
            play.ask(size=PING)
        play.wait(WAITS_NS)
        play.disturb()
        play.settle()
    play.finish()
