# SPDX-License-Identifier: BSD-2-Clause
"""Which responses complete a work request, and which must not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from endpoint_bench import QUIET_CYCLES, Bench, qp

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.ip import Ipv4, checksum
from roceproof.dpi import Flow, Until
from roceproof.dpi.contract.records import Operation, QpConfig
from roceproof.verbs.service import Service

LIMIT = 20_000
MODULUS = 1 << 24
UC_ENDS = (0x28, 0x2A)  # WRITE Last, WRITE Only


def send_all(bench: Bench, config: QpConfig, *lengths: int) -> list[int]:
    """Post messages, wait until they have left, and give the PSN of each one's last packet."""
    for length in lengths:
        bench.post(config, Operation.WRITE, length)
    start = bench.cycle
    while len(bench.sent[config.remote_qpn]) < len(bench.frames_expected(config)):
        assert bench.cycle < start + LIMIT, f"messages have not left within {LIMIT} cycles"
        bench.run(50)
    bench.run(QUIET_CYCLES)
    return [packet.bth.psn for packet in bench.packets(config) if packet.bth.ack_req][
        -len(lengths) :
    ]


def completes(bench: Bench, *frames: bytes) -> int:
    """How many completions these frames bring about."""
    before = len(bench.completions)
    for frame in frames:
        bench.port.inject(frame)
    bench.run(QUIET_CYCLES + 40 * len(frames))
    return len(bench.completions) - before


def test_one_ack_completes_all_messages_up_to_its_psn(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    psns = send_all(bench, config, 0, 5, 700, 256, 257)
    assert completes(bench, bench.peer.response(config, psns[3])) == 4
    assert completes(bench, bench.peer.response(config, psns[4])) == 1
    bench.settle()


def test_a_message_completes_only_with_its_last_packet(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    (last,) = send_all(bench, config, 3 * 256)
    for psn in (last - 2, last - 1):
        assert completes(bench, bench.peer.response(config, psn)) == 0
    assert completes(bench, bench.peer.response(config, last)) == 1
    bench.settle()


def test_every_credit_code_is_an_acknowledgement(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    for code in range(32):
        (psn,) = send_all(bench, config, 8)
        assert completes(bench, bench.peer.response(config, psn, syndrome=code)) == 1
        assert bench.completions[-1].syndrome == code
    bench.settle()


def test_acks_of_psns_not_outstanding_are_ignored(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    send_all(bench, config, 700)
    first, last = 0x123456, 0x123458
    for psn in (last + 1, last + 1000, last + (1 << 23) - 1, first - 1, first - 1000):
        assert completes(bench, bench.peer.response(config, psn)) == 0, hex(psn)
    assert completes(bench, bench.peer.response(config, last)) == 1
    old = [bench.peer.response(config, psn) for psn in (first, last, last)]
    assert completes(bench, *old) == 0
    bench.post(config, Operation.SEND, 3)
    bench.settle()


def test_acks_are_compared_across_the_wrap(bench: Bench) -> None:
    config = qp(sq_psn=0xFFFFFD)
    bench.activate(config)
    psns = send_all(bench, config, 256, 512, 256, 10)
    assert psns == [0xFFFFFD, 0xFFFFFF, 0x000000, 0x000001]
    assert completes(bench, bench.peer.response(config, 0xFFFFFE)) == 1
    assert completes(bench, bench.peer.response(config, 0x000001)) == 3
    assert completes(bench, bench.peer.response(config, 0xFFFFFF)) == 0
    bench.settle()


def test_an_ack_may_come_in_the_cycle_after_its_packet(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    for length in (0, 8, 256):
        bench.post(config, Operation.SEND, length)
        bench.run(LIMIT, until=Until.FRAME)
        bench.answer()
    bench.settle()


def test_an_ack_that_overtakes_its_packet_does_not_count(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    bench.port.flow(Flow(tx_stall=99))
    bench.post(config, Operation.WRITE, 3 * 256)
    early = [bench.peer.response(config, config.sq_psn + i) for i in (2, 1, 0)]
    bench.run(60)
    for frame in early:
        bench.port.inject(frame)
    while len(bench.sent[config.remote_qpn]) < 3:
        assert bench.completions == []
        bench.run(50)
    assert completes(bench, bench.peer.response(config, config.sq_psn + 2)) == 1
    bench.settle()


def test_an_ack_in_the_middle_of_a_message_does_not_disturb_it(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    bench.post(config, Operation.WRITE, 12 * 256)
    for index in range(11):
        bench.run(LIMIT, until=Until.FRAME)
        bench.port.inject(bench.peer.response(config, config.sq_psn + index))
    bench.settle()


def stranger(packet: Packet) -> Packet:
    assert isinstance(packet.ip, Ipv4)
    return replace(packet, ip=replace(packet.ip, src=bytes((192, 168, 1, 99))))


def to_another_address(packet: Packet) -> Packet:
    assert isinstance(packet.ip, Ipv4)
    return replace(packet, ip=replace(packet.ip, dst=bytes((192, 168, 1, 77))))


def to_qpn(packet: Packet, change: int) -> Packet:
    return replace(packet, bth=replace(packet.bth, dest_qpn=packet.bth.dest_qpn ^ change))


FOREIGN: dict[str, Callable[[Packet], Packet]] = {
    "from another host": stranger,
    "to another address": to_another_address,
    "to another station": lambda p: replace(p, dst_mac=b"\x02\0\0\0\x99\x99"),
    "to an unused queue pair": lambda p: to_qpn(p, 0x000001),
    "to an alias of the context": lambda p: to_qpn(p, 0x000100),
    "to an alias in the top byte": lambda p: to_qpn(p, 0x800000),
    "with a request opcode": lambda p: replace(p, bth=replace(p.bth, opcode=0x04)),
    "with a UC opcode": lambda p: replace(p, bth=replace(p.bth, opcode=0x31)),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_ack_is_ignored(bench: Bench, name: str) -> None:
    config = qp()
    bench.activate(config)
    (psn,) = send_all(bench, config, 20)
    ack = bench.peer.packet(config, psn)
    assert completes(bench, build(FOREIGN[name](ack))) == 0
    assert completes(bench, build(ack)) == 1
    bench.settle()


def with_ip_checksum(frame: bytes) -> bytes:
    blank = frame[:24] + b"\0\0" + frame[26:34]
    return frame[:24] + checksum(blank[14:]).to_bytes(2, "big") + frame[26:]


def flip(frame: bytes, bit: int) -> bytes:
    bent = bytearray(frame)
    bent[bit // 8] ^= 1 << bit % 8
    return with_ip_checksum(bytes(bent))


def test_no_covered_bit_of_an_ack_may_flip(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    (psn,) = send_all(bench, config, 20)
    ack = bench.peer.response(config, psn)
    masked = {15, 22, 24, 25, 40, 41, 46}
    covered = [bit for bit in range(14 * 8, len(ack) * 8) if bit // 8 not in masked]
    bent = [flip(ack, bit) for bit in covered]
    assert all(icrc.check(frame).judgement is not icrc.Judgement.OK for frame in bent)
    assert completes(bench, *bent) == 0
    assert completes(bench, ack) == 1
    bench.settle()


def test_bits_that_routers_rewrite_do_not_matter(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    bits = [byte * 8 + bit for byte in (15, 22, 46) for bit in range(8)]
    for bit in bits:
        (psn,) = send_all(bench, config, 4)
        frame = flip(bench.peer.response(config, psn), bit)
        assert completes(bench, frame) == 1, f"byte {bit // 8} bit {bit % 8}"
    bench.settle()


def test_a_truncated_or_discarded_ack_is_ignored(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    (psn,) = send_all(bench, config, 20)
    ack = bench.peer.response(config, psn)
    assert completes(bench, *(ack[:size] for size in range(1, len(ack)))) == 0
    bench.port.inject(ack, discard=True)
    bench.run(QUIET_CYCLES)
    assert bench.completions == []
    assert completes(bench, ack) == 1
    bench.settle()


def test_bytes_behind_the_icrc_do_not_matter(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    for extra in (1, 2, 3, 7, 8, 9, 46, 64, 65):
        (psn,) = send_all(bench, config, 4)
        frame = bench.peer.response(config, psn) + bench.random.randbytes(extra)
        assert completes(bench, frame) == 1, f"{extra} bytes"
    bench.settle()


def test_reserved_bits_and_migreq_of_an_ack_do_not_matter(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    changes: list[dict[str, object]] = [
        {"migreq": False},
        {"reserved6": 63, "fecn": True, "becn": True},
        {"reserved7": 127},
        {"pkey": 0x7FFF},
    ]
    for change in changes:
        (psn,) = send_all(bench, config, 4)
        packet = bench.peer.packet(config, psn)
        bth = replace(packet.bth, **change)  # type: ignore[arg-type]
        assert completes(bench, build(replace(packet, bth=bth))) == 1, str(change)
    bench.settle()


def test_the_message_number_alone_completes_nothing(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    first, second = send_all(bench, config, 10, 10)
    packet = bench.peer.packet(config, first)
    for msn in (0, 2, 0xFFFFFF):
        bold = replace(packet, extensions=(Aeth(0x1F, msn),))
        bench.port.inject(build(bold))
    bench.run(QUIET_CYCLES)
    assert len(bench.completions) == 1
    assert completes(bench, bench.peer.response(config, second)) == 1
    bench.settle()


def test_a_uc_queue_pair_completes_when_its_last_packet_has_left(bench: Bench) -> None:
    config = qp(0, Service.UC)
    bench.activate(config)
    for length in (0, 300, 256):
        request = bench.post(config, Operation.WRITE, length)
        bench.settle(answering=False)
        left = bench.frame_cycles[bench.sent[config.remote_qpn][-1]]
        assert bench.completion_cycles[request.wr_id] >= left
        assert bench.completions[-1].syndrome == 0xFF
    assert completes(bench, bench.peer.response(config, config.sq_psn)) == 0


def test_a_uc_completion_waits_while_the_wire_is_stalled(bench: Bench) -> None:
    bench.port.flow(Flow(tx_stall=97))
    config = qp(0, Service.UC)
    bench.activate(config)
    for length in (0, 1, 256, 300):
        bench.post(config, Operation.WRITE, length)
    bench.settle(limit=LIMIT, answering=False)
    ends = [i for i, packet in enumerate(bench.packets(config)) if packet.bth.opcode in UC_ENDS]
    left = [bench.frame_cycles[bench.sent[config.remote_qpn][i]] for i in ends]
    completed = [bench.completion_cycles[c.wr_id] for c in bench.completions]
    assert all(done >= gone for done, gone in zip(completed, left, strict=True))


def test_acks_for_sixteen_queue_pairs_find_their_own(bench: Bench) -> None:
    configs = [qp(index, sq_psn=0x500) for index in range(16)]
    bench.activate(*configs)
    for config in configs:
        send_all(bench, config, 300)
    for config in reversed(configs):
        assert completes(bench, bench.peer.response(config, 0x501)) == 1
        assert bench.completions[-1].qpn == config.local_qpn
    bench.settle()
