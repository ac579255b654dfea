# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs keep to themselves: PSN, path MTU, peer, service, and their restart."""

from __future__ import annotations

from endpoint_bench import Bench, qp

from roceproof.dpi import Flow, Until
from roceproof.dpi.contract.records import SENDING, Operation, QpCommand, QpConfig, Status
from roceproof.verbs.service import PathMtu, Service

LIMIT = 1_000_000


def test_two_queue_pairs_interleave_their_messages(bench: Bench) -> None:
    near = qp(0, Service.RC, path_mtu=PathMtu.MTU_256, sq_psn=0xFFFFFD)
    far = qp(
        1,
        Service.UC,
        path_mtu=PathMtu.MTU_1024,
        sq_psn=0x000001,
        remote_mac="02:00:00:00:77:07",
        remote_gid="10.1.2.3",
        traffic_class=0xB8,
        hop_limit=1,
    )
    bench.activate(near, far)
    for index in range(40):
        length = bench.random.randrange(2100)
        config = near if index % 2 else far
        bench.post(config, Operation(index // 2 % 4), length, offset=index % bench.lanes)
    bench.settle(limit=LIMIT)


def test_sixteen_queue_pairs_each_hold_their_own_state(bench: Bench) -> None:
    configs = [
        qp(
            index,
            Service.UC if index % 3 else Service.RC,
            path_mtu=list(PathMtu)[index % 5],
            remote_mac=f"02:00:00:00:01:{index:02x}",
            remote_gid=f"10.0.{index}.{255 - index}",
            sq_psn=(0xFFFFFF - index) & 0xFFFFFF,
            ip_id=0xFFFF - index,
        )
        for index in range(16)
    ]
    bench.activate(*configs)
    for round_ in range(6):
        for index, config in enumerate(configs):
            length = bench.random.randrange(700)
            bench.post(config, Operation((index + round_) % 4), length)
    bench.settle(limit=LIMIT)


def test_psn_wraps_inside_and_between_messages(bench: Bench) -> None:
    for index, first in enumerate((0xFFFFFD, 0xFFFFFE, 0xFFFFFF)):
        config = qp(index, Service.UC, sq_psn=first)
        bench.activate(config)
        for length in (256, 700, 0, 300):
            bench.post(config, Operation.WRITE_IMM, length)
    bench.settle(limit=LIMIT)
    psns = [packet.bth.psn for packet in bench.packets(qp(0, Service.UC))]
    assert psns == [0xFFFFFD, 0xFFFFFE, 0xFFFFFF, 0, 1, 2, 3]


def test_bits_of_every_number_reach_the_wire(bench: Bench) -> None:
    ones = qp(
        0,
        Service.UC,
        local_qpn=0xFFFFF0,
        remote_qpn=0xFFFFFE,
        sq_psn=0xFFFFFF,
        udp_sport=0xFFFF,
        traffic_class=0xFF,
        hop_limit=255,
        ip_id=0xFFFF,
        remote_gid="255.255.255.254",
        remote_mac="fe:ff:ff:ff:ff:ff",
    )
    zeros = qp(
        1,
        Service.UC,
        local_qpn=0x02,
        remote_qpn=0x02,
        sq_psn=0,
        udp_sport=0xC000,
        traffic_class=0,
        hop_limit=1,
        ip_id=0,
        remote_gid="1.0.0.1",
        remote_mac="02:00:00:00:00:00",
    )
    bench.activate(ones, zeros)
    for operation in SENDING:
        for config in (ones, zeros):
            bench.post(config, operation, 37)
    bench.settle(limit=LIMIT)


def restarted(config: QpConfig, **changes: object) -> QpConfig:
    fields = {name: getattr(config, name) for name in config.__dataclass_fields__}
    return QpConfig(**(fields | changes))


def test_a_restarted_queue_pair_starts_from_its_new_numbers(bench: Bench) -> None:
    config = qp(0, Service.RC)
    bench.activate(config)
    bench.post(config, Operation.WRITE, 600)
    bench.settle(limit=LIMIT)
    for psn in (0x000042, 0xABCDEF, 0x000042):
        config = restarted(config, sq_psn=psn, ip_id=psn & 0xFFF, path_mtu=PathMtu.MTU_512)
        bench.activate(config)
        bench.post(config, Operation.SEND, 700)
        bench.settle(limit=LIMIT)


def test_a_restart_flushes_what_was_waiting_for_an_acknowledgement(bench: Bench) -> None:
    config = qp(0, Service.RC)
    bench.activate(config)
    for _ in range(3):
        bench.post(config, Operation.SEND, 10, outcome=Status.WR_FLUSH_ERR)
    while len(bench.sent[config.remote_qpn]) < 3:
        bench.run(100)
    again = restarted(config, sq_psn=0x777777, ip_id=5)
    bench.activate(again)
    bench.post(again, Operation.SEND, 11)
    bench.settle(limit=LIMIT)


def test_no_frame_follows_the_flush_that_a_restart_causes(bench: Bench) -> None:
    config = qp(0, Service.RC, path_mtu=PathMtu.MTU_512)
    bench.activate(config)
    bench.port.flow(Flow(tx_stall=80))
    request = bench.post(
        config, Operation.WRITE, 20 * 512, outcome=Status.WR_FLUSH_ERR, sends=False
    )
    bench.run(LIMIT, until=Until.FRAME)
    again = restarted(config, sq_psn=0x777777, remote_qpn=0x0A0B0C)
    bench.activate(again)
    bench.run(LIMIT, until=Until.COMPLETION)
    flushed = bench.completion_cycles[request.wr_id]
    bench.run(2000)
    interrupted = bench.sent.pop(config.remote_qpn)
    assert 1 <= len(interrupted) < 20
    assert max(bench.frame_cycles[frame] for frame in interrupted) <= flushed
    bench.post(again, Operation.SEND, 11)
    bench.settle(limit=LIMIT)


def test_a_reset_queue_pair_refuses_work_and_sends_nothing(bench: Bench) -> None:
    config = qp(0, Service.UC)
    other = qp(1, Service.UC)
    bench.activate(config, other)
    bench.post(config, Operation.SEND, 300)
    bench.settle(limit=LIMIT)
    bench.port.configure(restarted(config, command=QpCommand.RESET))
    bench.post(config, Operation.SEND, 300, outcome=Status.LOC_QP_OP_ERR, sends=False)
    bench.post(other, Operation.WRITE, 300)
    bench.settle(limit=LIMIT)


def test_a_queue_pair_never_activated_refuses_work(bench: Bench) -> None:
    active, idle = qp(0, Service.UC), qp(1, Service.UC)
    bench.activate(active)
    bench.post(idle, Operation.SEND, 500, outcome=Status.LOC_QP_OP_ERR, sends=False)
    bench.post(active, Operation.SEND, 500)
    # Same context, other number: not the queue pair that was activated.
    alias = restarted(active, local_qpn=active.local_qpn + 0x100)
    bench.post(alias, Operation.SEND, 20, outcome=Status.LOC_QP_OP_ERR, sends=False)
    bench.post(active, Operation.WRITE, 20)
    bench.settle(limit=LIMIT)
