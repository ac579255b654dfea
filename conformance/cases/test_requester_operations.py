# SPDX-License-Identifier: BSD-2-Clause
"""What the extension headers of requests say: RETH, immediate data, keys to invalidate."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, over, over_services
from roceproof.conformance.suite.checks.recovery import copies
from roceproof.conformance.suite.pattern import (
    NAK,
    READ_REQUEST,
    SEND_FIRST,
    SEND_LAST_IMM,
    SEND_LAST_INV,
    SEND_ONLY_IMM,
    SEND_ONLY_INV,
    SEQUENCE_ERROR,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_LAST_IMM,
    WRITE_MIDDLE,
    WRITE_ONLY_IMM,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.headers import ImmDt
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = REQUESTER

MTU = 256
BTH = 42  # in an untagged frame over IPv4
ADDRESS, KEY = 0x0102030405060708, 0x11121314
ADDRESSES = (0, 1, 7, 0xFFFFFFFF, 0x100000000, 0x123456789ABCDEF1, (1 << 64) - 1024)
IMMEDIATES = (0x01020304, 0x00000000, 0xFFFFFFFF, 0x80000000, 0x000000FF)


@case("RETH-01", needs=[Capability.WRITE])
@over_services
@over("length", [5, 300], ids=["only", "first"])
def test_a_reth_follows_the_bth_most_significant_byte_first(
    bench: Bench, service: Service, length: int
) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    message = qp.transfer(Op.WRITE, length, remote_addr=ADDRESS, rkey=KEY)
    reth = bench.frames_sent()[0][BTH + 12 :][:16]
    assert reth.hex() == "010203040506070811121314" + f"{message.work.size:08x}"


@case("RETH-01", needs=[Capability.RC, Capability.READ])
def test_the_reth_of_a_read_follows_the_bth_most_significant_byte_first(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    qp.serve()
    message = qp.post(Op.READ, 300, remote_addr=ADDRESS, rkey=KEY)
    bench.settle()
    qp.expect(READ_REQUEST(psn=0, va=ADDRESS, rkey=KEY, dmalen=300, payload=0))
    qp.completes(message)


@case("RETH-02", "RETH-03", needs=[Capability.WRITE], smoke=True)
@over_services
def test_one_reth_says_the_length_of_the_whole_message(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    message = qp.post(Op.WRITE, 3 * MTU + 5)
    data, mtu = message.work.data, qp.mtu
    qp.expect(
        WRITE_FIRST(psn=0, payload=MTU, va=message.work.remote_addr, dmalen=3 * MTU + 5),
        WRITE_MIDDLE(psn=1, payload=data[mtu : 2 * mtu]),
        WRITE_MIDDLE(psn=2, payload=data[2 * mtu : 3 * mtu]),
        WRITE_LAST(psn=3, payload=data[3 * mtu :]),
    )
    qp.finish(message)


@case("RETH-04", needs=[Capability.WRITE])
@over_services
def test_each_message_has_its_own_address_and_key(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    qp.serve()
    messages = [
        qp.post(Op.WRITE, length, remote_addr=address)
        for length, address in zip((700, 5, 0, 512, 257, 1, 700), ADDRESSES, strict=True)
    ]
    bench.settle()
    qp.follow(*messages)
    qp.completes(*messages)


@case("RETH-04", needs=[Capability.WRITE])
@over_services
def test_messages_of_queue_pairs_that_take_turns_have_their_own_address_and_key(
    bench: Bench, service: Service
) -> None:
    pairs = [bench.connect(service, path_mtu=MTU) for _ in range(2)]
    messages = [(qp, qp.post(Op.WRITE, length)) for length in (700, 5, 257) for qp in pairs]
    bench.settle()
    for qp, message in messages:
        qp.follow(message)
        qp.finish(message)


@case("RETH-13", needs=[Capability.WRITE, Capability.ALIGNMENT], smoke=True)
@over_services
@over("length", [1, 3, 64, 130, 257, 700])
def test_the_payload_starts_at_the_right_byte_of_its_source(
    bench: Bench, service: Service, length: int
) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    lanes = (bench.claims.data_width or 512) // 8
    for offset in range(0, lanes, max(1, lanes // 16)):
        qp.transfer(Op.WRITE, length, offset=offset)
        qp.transfer(Op.WRITE, length, offset=lanes - 1 - offset)


@case("IMM-01", "IMM-02", needs=[Capability.WRITE_IMM, Capability.SEND_IMM])
@over_services
@over("value", IMMEDIATES, ids=hex)
def test_immediate_data_stand_behind_the_other_headers_as_they_were_given(
    bench: Bench, service: Service, value: int
) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    kinds = (Op.SEND_IMM, Op.SEND_IMM, Op.WRITE_IMM, Op.WRITE_IMM)
    values = [value ^ turn * 0x11111111 for turn in range(4)]
    qp.serve()
    for op, length, each in zip(kinds, (5, 300) * 2, values, strict=True):
        qp.post(op, length, immediate=each)
    packets = qp.expect(
        SEND_ONLY_IMM(psn=0, imm=values[0], payload=5),
        SEND_FIRST(psn=1, payload=MTU),
        SEND_LAST_IMM(psn=2, imm=values[1], payload=44),
        WRITE_ONLY_IMM(psn=3, dmalen=5, imm=values[2], payload=5),
        WRITE_FIRST(psn=4, dmalen=300, payload=MTU),
        WRITE_LAST_IMM(psn=5, imm=values[3], payload=44),
    )
    frames = bench.frames_sent()
    behind = (BTH + 12, BTH + 12, BTH + 28, BTH + 12)
    carrying = [f for f, p in zip(frames, packets, strict=True) if p.immediate is not None]
    for frame, at, each in zip(carrying, behind, values, strict=True):
        assert frame[at : at + 4] == each.to_bytes(4, "big")


@case("IMM-03", needs=[Capability.WRITE_IMM, Capability.SEND_IMM])
@over_services
@over("op", [Op.SEND_IMM, Op.WRITE_IMM])
def test_first_and_middle_have_no_immediate_data(bench: Bench, service: Service, op: Op) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    message = qp.post(op, 3 * MTU)
    packets = qp.expect_message(message)
    headers = [type(header) for header in packets[0].extensions + packets[1].extensions]
    assert ImmDt not in headers
    qp.finish(message)


@case("IMM-05", needs=[Capability.WRITE_IMM])
@over_services
def test_an_empty_write_with_immediate_has_its_reth(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    message = qp.post(Op.WRITE_IMM, 0, immediate=0x01020304)
    packet = qp.expect(WRITE_ONLY_IMM(psn=0, dmalen=0, imm=0x01020304, payload=0))[0]
    assert packet.udp_length == 44
    qp.finish(message)


@case("IMM-06", needs=[Capability.RC, Capability.WRITE_IMM, Capability.RETRANSMISSION], smoke=True)
@over("op", [Op.WRITE_IMM, Op.SEND_IMM])
@over("lost", [0, 2, 3])
def test_immediate_data_survive_a_retransmission(bench: Bench, op: Op, lost: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    messages = [qp.post(op, length, immediate=length) for length in (700, 5, 300)]
    qp.expect_message(*messages)
    qp.send(NAK(SEQUENCE_ERROR, psn=lost))
    qp.expect(*copies(messages, first=lost))
    qp.finish(*messages)


@case("INV-01", needs=[Capability.RC, Capability.SEND_INV])
def test_the_key_to_invalidate_stands_behind_the_bth(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    messages = [qp.post(Op.SEND_INV, length, invalidate=0x01020304) for length in (5, 300)]
    qp.expect(
        SEND_ONLY_INV(psn=0, inv=0x01020304, payload=5),
        SEND_FIRST(psn=1, payload=MTU),
        SEND_LAST_INV(psn=2, inv=0x01020304, payload=44),
    )
    assert bench.frames_sent()[0][BTH + 12 : BTH + 16].hex() == "01020304"
    qp.finish(*messages)
