# SPDX-License-Identifier: BSD-2-Clause
"""A requester on an unreliable connection, to which nobody answers."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.pattern import INVALID_REQUEST, NAK, SEQUENCE_ERROR
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.UC)]

MTU = 256
PUSHES = (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM)


@case("UC-01", needs=[Capability.WRITE, Capability.SEND], smoke=True)
def test_work_completes_when_it_has_left(bench: Bench) -> None:
    qp = bench.connect(Service.UC, path_mtu=MTU)
    messages = [qp.post(op, length) for length in (700, 0, 5, 256) for op in (Op.WRITE, Op.SEND)]
    qp.completes(*messages)
    qp.follow(*messages)


@case("UC-01", needs=[Capability.WRITE])
def test_far_more_leaves_than_a_window_would_hold(bench: Bench) -> None:
    qp = bench.connect(Service.UC, path_mtu=MTU)
    for _ in range(10):
        messages = [qp.post(Op.WRITE, length) for length in (5, 8 * MTU, 0, 700) * 2]
        qp.completes(*messages)
        qp.follow(*messages)


@case("UC-01", needs=[Capability.WRITE], breaks=WRONG_ANSWERS)
@over("code", [SEQUENCE_ERROR, INVALID_REQUEST])
def test_no_response_stops_or_repeats_anything(bench: Bench, code: int) -> None:
    qp = bench.connect(Service.UC, path_mtu=MTU)
    for psn in range(0, 12, 3):
        message = qp.post(Op.WRITE, 700)
        qp.send(NAK(code, psn=psn, msn=0))
        qp.follow(message)
        qp.completes(message)
    qp.expect_silence()


@case("UC-02", needs=[Capability.WRITE, Capability.SEND, Capability.WRITE_IMM])
@over("op", [Op.WRITE, Op.SEND, Op.WRITE_IMM])
def test_nothing_asks_for_an_acknowledgement(bench: Bench, op: Op) -> None:
    qp = bench.connect(Service.UC, path_mtu=MTU)
    for length in (0, 5, MTU, 700):
        message = qp.post(op, length)
        qp.expect(*(packet.but(a=0) for packet in message.packets))
        qp.finish(message)


@case("OPC-11", needs=[Capability[op.name] for op in PUSHES])
def test_every_packet_has_an_opcode_of_a_send_or_a_write(bench: Bench) -> None:
    qp = bench.connect(Service.UC, path_mtu=MTU)
    messages = [qp.post(op, length) for op in PUSHES for length in (0, MTU, 2 * MTU, 700)]
    qp.completes(*messages)
    qp.follow(*messages)


@case("UC-14", "UC-01", needs=[Capability.WRITE])
@over("packets", [1, 2, 3, 5])
def test_messages_of_whole_packets_go_on_over_the_wrap(bench: Bench, packets: int) -> None:
    qp = bench.connect(Service.UC, path_mtu=MTU, sq_psn=0xFFFFFF - 2 * packets - packets // 2)
    messages = [qp.post(Op.WRITE, packets * MTU) for _ in range(6)]
    bench.settle()
    qp.follow(*messages)
    qp.completes(*messages)
