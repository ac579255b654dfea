# SPDX-License-Identifier: BSD-2-Clause
"""The BTH of what a requester sends, field by field."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, over, over_services
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import parse
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = REQUESTER

PUSHES = (Op.SEND, Op.WRITE, Op.WRITE_IMM)
LENGTHS = (0, 1, 2, 3, 256, 257, 700)
NEEDS = (Capability.SEND, Capability.WRITE, Capability.WRITE_IMM)


@case("BTH-01", "BTH-04", "BTH-06", "BTH-08", needs=NEEDS, smoke=True)
@over_services
def test_the_opcode_has_its_service_and_the_constant_fields_are_constant(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service, path_mtu=256)
    for op in PUSHES:
        for length in LENGTHS:
            qp.transfer(op, length)


@case("BTH-06", "BTH-08", needs=[Capability.WRITE])
@over_services
def test_a_field_of_ones_spills_into_no_other(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, remote_qpn=0xFFFFFE, sq_psn=0xFFFFFF, traffic_class=0xFC)
    ones = {"remote_addr": (1 << 64) - 8, "rkey": (1 << 32) - 1}
    for _ in range(3):
        qp.transfer(Op.WRITE, b"\xff" * 5, **ones)


@case("BTH-03", needs=NEEDS)
@over_services
def test_all_packets_say_the_same_of_migration(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=256)
    for op in PUSHES:
        qp.transfer(op, 700)
        qp.transfer(op, 5)
    packets = [parse(frame) for frame in bench.frames_sent()]
    assert len({packet.bth.migreq for packet in packets if packet is not None}) == 1


@case("BTH-02", needs=NEEDS)
@over_services
@over("op", PUSHES)
def test_solicited_event_marks_the_last_packet_that_can_complete_a_receive(
    bench: Bench, service: Service, op: Op
) -> None:
    qp = bench.connect(service, path_mtu=256)
    for length in LENGTHS:
        qp.transfer(op, length, solicited=True)
        qp.transfer(op, length, solicited=False)


@case("BTH-10", "QPS-07", needs=[Capability.WRITE])
@over_services
@over("qpn", [0x000002, 0x0000FF, 0x00FF00, 0x010000, 0x010203, 0xFFFFFE], ids=hex)
def test_the_peers_qpn_is_whole(bench: Bench, service: Service, qpn: int) -> None:
    qp = bench.connect(service, remote_qpn=qpn, path_mtu=256)
    qp.transfer(Op.WRITE, 700)


@case("BTH-14", "RETH-04", needs=[Capability.WRITE_IMM], smoke=True)
@over_services
def test_numbers_go_out_with_their_most_significant_byte_first(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service, remote_qpn=0x010203, sq_psn=0x040506)
    posted = qp.post(
        Op.WRITE_IMM,
        qp.random.randbytes(0x0104),
        remote_addr=0x1112131415161718,
        rkey=0x21222324,
        immediate=0x31323334,
    )
    packet = qp.expect_message(posted)[0]
    assert packet.reth is not None
    bth, reth = packet.bth.pack(), packet.reth.pack()
    for name, rule, want, sent in (
        ("qpn", "BTH-14", "010203", bth[5:8]),
        ("psn", "BTH-14", "040506", bth[9:12]),
        ("va", "RETH-04", "1112131415161718", reth[:8]),
        ("rkey", "RETH-04", "21222324", reth[8:12]),
        ("dmalen", "RETH-02", "00000104", reth[12:]),
    ):
        if sent.hex() != want:
            raise bench.failed(f"{name}: want {want}, got {sent.hex()}", rules=[rule])
    qp.finish(posted)
