# SPDX-License-Identifier: BSD-2-Clause
"""Lengths: of packets against the path MTU, of messages, and of the pad."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over, over_mtus, over_services
from roceproof.conformance.suite.checks.frame_integrity import frames_are_exact
from roceproof.conformance.suite.limits.within_limits import several_mtus
from roceproof.conformance.suite.pattern import WRITE_FIRST, WRITE_MIDDLE
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = REQUESTER

IN_SMOKE = (17, 20)
"""Bits of a length above which counters of beats and bytes end."""
ETHERNET_BYTES = 14
HEADER_BYTES = {4: 64, 16: 84}  # most between path MTU and IP packet, by the address's size

over_pushes = pytest.mark.parametrize(
    "op",
    [
        pytest.param(op, id=op.name, marks=needs(Capability[op.name]))
        for op in (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM)
    ],
)
"""Run a case with every message that carries its payload, and that RC and UC have."""


@case("OPC-01", "MTU-01", "MTU-02", "MTU-03", "MTU-04", "MTU-07", needs=[Capability.WRITE])
@over_services
@over_mtus()
def test_a_message_fills_every_packet_but_its_last(
    bench: Bench, service: Service, mtu: int
) -> None:
    qp = bench.connect(service, path_mtu=mtu)
    for length in (0, 1, mtu - 1, mtu, mtu + 1, 2 * mtu - 1, 2 * mtu, 2 * mtu + 1, 3 * mtu):
        qp.transfer(Op.WRITE, length)


@case("MTU-01", "MTU-03", "MTU-04", smoke=True)
@over_services
@over_pushes
def test_every_kind_of_message_is_cut_alike(bench: Bench, service: Service, op: Op) -> None:
    qp = bench.connect(service, path_mtu=256)
    for length in (0, 1, 255, 256, 257, 512, 513):
        qp.transfer(op, length)


@case("MTU-05", needs=[Capability.WRITE])
@over_services
def test_each_queue_pair_has_its_own_path_mtu(bench: Bench, service: Service) -> None:
    mtus = several_mtus(bench.claims)
    pairs = [bench.connect(service, path_mtu=mtu) for mtu in (mtus[-1], *mtus[:2])]
    messages = [qp.post(Op.WRITE, mtus[-1] + 1) for qp in pairs]
    bench.settle()
    for qp, message in zip(pairs, messages, strict=True):
        qp.expect_message(message)
        qp.finish(message)


@case("MTU-05", needs=[Capability.WRITE])
@over_services
def test_a_new_connection_has_its_new_path_mtu(bench: Bench, service: Service) -> None:
    smallest, *_, largest = several_mtus(bench.claims)
    qp = bench.connect(service, path_mtu=largest)
    for mtu in (largest, smallest, largest):
        qp.reconnect(path_mtu=mtu)
        qp.transfer(Op.WRITE, 2 * mtu + 1)


@case("MTU-07", "RETH-02", needs=[Capability.WRITE, Capability.WRITE_IMM])
@over_services
@over("op", [Op.WRITE, Op.WRITE_IMM])
def test_the_payloads_of_a_write_add_up_to_its_length(
    bench: Bench, service: Service, op: Op
) -> None:
    qp = bench.connect(service, path_mtu=256)
    for length in (3, 257, 511, 514, 765):
        message = qp.post(op, length)
        packets = qp.expect_message(message)
        reth = packets[0].reth
        assert reth is not None and reth.length == sum(len(packet.payload) for packet in packets)
        qp.finish(message)


@case("RETH-13", "MTU-02", needs=[Capability.WRITE], targets=["hdl", "model"])
@over_services
@over("packets", [pytest.param(20, marks=pytest.mark.smoke), 80, 300])
def test_the_payload_of_a_long_message_is_right_to_its_end(
    bench: Bench, service: Service, packets: int
) -> None:
    qp = bench.connect(service)
    qp.serve()
    limits = bench.claims.limits
    packets = min(packets, limits.outstanding_packets or packets)
    message = qp.post(Op.WRITE, limits.bend(packets * qp.mtu - 1))
    qp.expect_message(message)
    qp.completes(message)


@case("MTU-08", smoke=True, needs=[Capability.RC, Capability.WRITE], targets=["hdl", "model"])
def test_a_message_of_two_gigabytes_begins(bench: Bench) -> None:
    qp = bench.connect()
    qp.begin(Op.WRITE, length=LONGEST_MESSAGE)
    qp.expect(WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=LONGEST_MESSAGE))


@case("MTU-03", "OPC-01", "RETH-02", needs=[Capability.WRITE], targets=["hdl"])
@over_services
@over("bit", [pytest.param(n, marks=[pytest.mark.smoke] * (n in IN_SMOKE)) for n in range(16, 31)])
def test_a_message_begins_alike_whatever_bit_of_its_length_is_set(
    bench: Bench, service: Service, bit: int
) -> None:
    qp = bench.connect(service)
    qp.begin(Op.WRITE, length=1 << bit)
    qp.expect(WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=1 << bit))
    qp.expect(*(WRITE_MIDDLE(psn=psn, payload=qp.mtu) for psn in (1, 2)))


@case("MTU-08", needs=[Capability.RC, Capability.WRITE], targets=["hdl", "model"], smoke=True)
def test_a_longer_one_is_refused(bench: Bench) -> None:
    qp = bench.connect()
    for length in (LONGEST_MESSAGE + 1, LONGEST_MESSAGE + qp.mtu, (1 << 32) - 1):
        qp.refuses(Op.WRITE, 2 * qp.mtu, length=length, status="loc_len_err")
    qp.transfer(Op.WRITE, 5)


@case("MTU-09", needs=[Capability.WRITE_IMM])
@over_services
@over_mtus()
def test_no_packet_is_longer_than_path_mtu_and_headers(
    bench: Bench, service: Service, mtu: int
) -> None:
    qp = bench.connect(service, path_mtu=mtu)
    for length in (mtu - 1, mtu, 3 * mtu):
        qp.transfer(Op.WRITE_IMM, length)
    most = mtu + HEADER_BYTES[len(bench.target.host.ip)]
    assert max(len(frame) - ETHERNET_BYTES for frame in bench.frames_sent()) <= most


@case("PAD-01", "PAD-02", "PAD-03", smoke=True)
@over_services
@over_pushes
def test_zeros_round_a_payload_up_to_four_bytes(bench: Bench, service: Service, op: Op) -> None:
    qp = bench.connect(service, path_mtu=256)
    for length in (*range(1, 10), *range(253, 260)):
        qp.transfer(op, b"\xff" * length)
    frames_are_exact(bench)


@case("PAD-04", needs=[Capability.WRITE, Capability.SEND])
@over_services
@over("op", [Op.WRITE, Op.SEND])
def test_only_the_last_packet_has_a_pad(bench: Bench, service: Service, op: Op) -> None:
    qp = bench.connect(service, path_mtu=256)
    for length in (1, 2, 3):
        message = qp.post(op, qp.random.randbytes(2 * qp.mtu + length))
        packets = qp.expect_message(message)
        assert [packet.bth.pad_count for packet in packets] == [0, 0, -length % 4]
        qp.finish(message)


@case("PAD-05", needs=[Capability.WRITE])
@over_services
def test_an_empty_message_has_no_pad_whatever_was_before(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    for length in (1, 0, 2, 0, 3, 0):
        qp.transfer(Op.WRITE, length)


@case("PAD-05", needs=[Capability.RC, Capability.WRITE, Capability.READ, Capability.ATOMIC])
@over("op", [Op.READ, Op.CMP_SWAP, Op.FETCH_ADD])
def test_a_request_without_payload_has_no_pad_whatever_was_before(bench: Bench, op: Op) -> None:
    qp = bench.connect()
    qp.serve()
    messages = [qp.post(Op.WRITE, 5), qp.post(op, 5)]
    bench.settle()
    qp.expect_message(*messages)
    qp.completes(*messages)
