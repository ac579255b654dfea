# SPDX-License-Identifier: BSD-2-Clause
"""A requester as a station on the link: asked twice, in bad company, behind a bad cable."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over, over_services
from roceproof.conformance.suite.checks.recovery import write_all
from roceproof.conformance.suite.checks.station import answers_ping
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.pattern import (
    ACK,
    CNP,
    INVALID_REQUEST,
    NAK,
    SEND_ONLY,
    WRITE_ONLY,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.frame_edits import set_udp
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.WRITE)]

MTU = 256
FOREIGN = 40  # packets, more than a device may keep


def answers(bench: Bench, times: int = 1) -> None:
    """The device answers ARP and ping."""
    for index in range(times):
        peer = bench.peers[index % len(bench.peers)]
        answers_ping(bench, peer, what=f"ARP and ping number {index + 1} were")


def foreign(bench: Bench, qp: Connection) -> None:
    """Good packets to queue pairs that the device does not have."""
    nobody = qp.qp.qpn + bench.claims.qps
    for index in range(FOREIGN // 4):
        for make in (WRITE_ONLY, SEND_ONLY, CNP, ACK):
            frame = qp.frame(make(psn=index, qpn=nobody))
            bench.send(frame, flow=qp.to_device, is_void=True)


@case("LIVE-01", needs=[Capability.PING])
@over_services
def test_a_device_that_is_asked_again_answers_again(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    answers(bench, times=3)
    qp.transfer(Op.WRITE, 700)
    answers(bench, times=3)


@case("LIVE-01", "LIVE-03", needs=[Capability.PING])
@over_services
def test_packets_for_others_do_not_pile_up(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    foreign(bench, qp)
    answers(bench)
    foreign(bench, qp)
    qp.transfer(Op.WRITE, 700)


@case("FUZZ-19", "LIVE-03", needs=[Capability.RC])
@over("port", [0, 53, 4790, 4792, 0xB712])
def test_an_ack_to_another_udp_port_is_none(bench: Bench, port: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    for _ in range(2):
        (message,) = write_all(qp, 700)
        good = ACK(psn=message.last_psn, msn=message.ordinal)
        qp.ignores(message, good.resealed(set_udp(2, port.to_bytes(2, "big"))))


@case("ETH-09", needs=[Capability.RC, Capability.DAMAGE], smoke=True)
def test_a_damaged_frame_says_nothing(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    for _ in range(3):
        (message,) = write_all(qp, 700)
        for response in (
            ACK(psn=message.last_psn, msn=message.ordinal),
            NAK(INVALID_REQUEST, psn=message.psn),
        ) * 5:
            bench.send_damaged(qp.frame(response), flow=qp.to_device)
        qp.does_not_complete()
        qp.finish(message)


@case("ETH-09", needs=[Capability.DAMAGE])
@over_services
def test_damaged_frames_leave_nothing_behind(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    for size in (14, 15, 42, 60, 62, 64, 65, 1514, 9014):
        bench.send_damaged(bench.target.host.mac + bench.random.randbytes(size - 6))
        bench.send_damaged(qp.frame(ACK(psn=0, msn=1)))
        qp.transfer(Op.WRITE, size)
