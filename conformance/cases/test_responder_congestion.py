# SPDX-License-Identifier: BSD-2-Clause
"""Congestion notification: what a device says to those whose packets came marked."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_services
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.pattern import ACK, CNP, WRITE_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service

pytestmark = RESPONDER

NOT_ECT, ECT_1, ECT_0, CE = range(4)
MARKED = 100


def marked(qp: Connection, ecn: int) -> int:
    """The type of service of this connection with that ECN field."""
    return qp.to_device.tos & ~CE | ecn


@case("CNP-02", smoke=True)
@over_services
@over("ecn", [NOT_ECT, ECT_1, ECT_0], ids=["not_ECT", "ECT_1", "ECT_0"])
def test_packets_that_are_not_marked_draw_no_notification(
    bench: Bench, service: Service, ecn: int
) -> None:
    qp = bench.connect(service)
    for psn in range(8):
        qp.send(WRITE_ONLY(psn=psn, tos=marked(qp, ecn)))
    qp.fence(8)
    qp.expect_silence()


@case("CNP-01", "CNP-09", needs=[Capability.MARKS], smoke=True, breaks=["BTH-02"])
@over_services
def test_a_marked_packet_draws_a_notification_to_its_queue_pair(
    bench: Bench, service: Service
) -> None:
    bystander, qp = bench.connect(service), bench.connect(service)
    qp.send(WRITE_ONLY(psn=0, tos=marked(qp, CE), se=1))
    packet, *_ = qp.expect(
        CNP(qpn=qp.spec.remote_qpn, se=0, pad=0, tver=0, fecn=0, a=0, pkey=0xFFFF)
    )
    assert packet.bth.psn == 0, f"its PSN is {packet.bth.psn:#x}"
    bystander.expect_silence()
    qp.fence(1)


@case("CNP-10", needs=[Capability.MARKS])
def test_a_notification_has_becn_and_no_migreq(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, tos=marked(qp, CE)))
    qp.expect(CNP(becn=1, m=0))


@case("CNP-03", "CNP-04", needs=[Capability.MARKS])
def test_notifications_are_prompt_and_fewer_than_marks(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(*(WRITE_ONLY(psn=psn, tos=marked(qp, CE)) for psn in range(MARKED)))
    qp.send(WRITE_ONLY(psn=MARKED, a=1))
    qp.expect(CNP())
    qp.expect(ACK(psn=MARKED), allowing=[CNP()])
    bench.settle()
    count = len(bench.frames_sent()) - 1
    assert count < MARKED, f"{count} notifications for {MARKED} marked packets"


@case("CNP-05", needs=[Capability.MARKS])
def test_a_notification_does_not_carry_the_mark_on(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, tos=marked(qp, CE)))
    packet, *_ = qp.expect(CNP())
    assert qp.from_device.fields_of(packet)["tos"] & CE != CE, "the notification is marked itself"
