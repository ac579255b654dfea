# SPDX-License-Identifier: BSD-2-Clause
"""What the mutants are tried with: work, stalls, idle times, reconnects and limits.

Each stimulus is deterministic and goes on for a fixed time, whatever the device does.
"""

from __future__ import annotations

from endpoint_bench import qp
from mutant_device import Device

from roceproof.dpi import Flow, PatternPayload
from roceproof.dpi.contract.records import Operation, QpCommand, QpConfig, WorkRequest
from roceproof.verbs.service import PathMtu, Service

LENGTHS = (0, 1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 512, 700, 768, 1021, 1030, 300, 0, 9, 514)
ROUND = 7


def mixed_qps() -> list[QpConfig]:
    """Queue pairs that differ in every field; PSNs wrap in 24 bits, in 16 and at the sign."""
    return [
        qp(0, sq_psn=0xFFFFF8, rq_psn=0x345678),
        qp(1, Service.UC, sq_psn=0x12FFF0, rq_psn=0x777777, path_mtu=PathMtu.MTU_512),
        qp(2, sq_psn=0x7FFFF9, path_mtu=PathMtu.MTU_1024, traffic_class=0x10, hop_limit=255),
        qp(3, Service.UC, sq_psn=0xFFFFF0, remote_gid="10.1.2.3", traffic_class=0x02),
    ]


def mixed_traffic(device: Device) -> None:
    """Every operation at many lengths on queue pairs that take turns."""
    configs = mixed_qps()
    device.activate(*configs)
    for index in range(3 * len(LENGTHS)):
        device.post(
            configs[index % 4],
            Operation(index // 4 % 4),
            LENGTHS[index % len(LENGTHS)],
            solicited=index % 3 == 0,
        )
        if index % ROUND == ROUND - 1:
            device.run(800)
    device.run(3_000)


def stalled_traffic(device: Device) -> None:
    """The same while every stream stalls."""
    device.port.flow(Flow(tx_stall=40, payload_gap=30, wr_gap=30, cpl_stall=50, rx_gap=30))
    mixed_traffic(device)
    device.run(12_000)


def idle_times(device: Device) -> None:
    """Bursts with long pauses, while a timer could run."""
    configs = [qp(0, ack_timeout=1), qp(1, Service.UC)]
    device.activate(*configs)
    for length in (300, 0, 600):
        for config in configs:
            device.post(config, Operation.WRITE_IMM, length)
        device.run(9_000)


def reconnects(device: Device) -> None:
    """The same contexts opened again with other numbers, other services and old work behind."""
    for number, service in enumerate((Service.RC, Service.UC, Service.RC, Service.RC)):
        configs = [
            qp(
                index,
                service,
                sq_psn=0x1000 * (4 - number) + index,
                remote_qpn=0x200 + 16 * number + index,
                local_qpn=0x10 * (number + 1) + index,
                remote_mac=f"02:00:00:00:01:{number:02x}",
                udp_sport=0xC100 + number,
                traffic_class=4 * number,
                ip_id=0x100 * number,
                path_mtu=PathMtu(1 + number),
            )
            for index in range(2)
        ]
        device.activate(*configs)
        for length in (700, 0, 30):
            for config in configs:
                device.post(config, Operation.WRITE, length)
        device.run(1_000)
        device.post(configs[0], Operation.WRITE, 9_000)
        device.run(128, answering=False)
    device.port.configure(qp(0, command=QpCommand.RESET, local_qpn=0x40))
    device.run(500)
    device.post(configs[0], Operation.SEND, 20)
    device.run(500)


def refused_work(device: Device) -> None:
    """Work that must not be sent, between work that must."""
    configs = [qp(0), qp(1, Service.UC), qp(2, Service.UC, remote_gid="2001:db8::2")]
    stranger = qp(0, local_qpn=0x110)
    device.activate(*configs)
    for config in (*configs, stranger):
        device.post(config, Operation.WRITE, 300)
        huge = WorkRequest(
            wr_id=7, qpn=config.local_qpn, operation=Operation.WRITE, length=(1 << 31) + 1
        )
        device.port.post(huge, payload=bytes(8))
        device.post(config, Operation.SEND, 5)
        device.run(1_500)


def full_windows(device: Device) -> None:
    """As many messages as a queue pair may have outstanding, and as many PSNs."""
    many, large = qp(0), qp(1)
    device.activate(many, large)
    for _ in range(20):
        device.post(many, Operation.WRITE, 3)
    device.run(2_500, answering=False)
    device.run(2_500)
    device.post(large, Operation.WRITE, 3)
    device.port.post(
        WorkRequest(wr_id=8, qpn=large.local_qpn, operation=Operation.WRITE, length=1 << 31),
        payload=PatternPayload(seed=1, length=1 << 31),
    )
    device.run(1_500, answering=False)


def reset_amid_life(device: Device) -> None:
    """Work before the device is reset, and behind that, though nobody has configured it again."""
    configs = [qp(index, Service.UC) for index in range(16)]
    device.activate(*configs)
    for _ in range(2):
        for config in configs:
            device.post(config, Operation.SEND, 5)
        device.run(3_000)
        device.port.reset(cycles=8)
        device.run(1_000)


TRAFFIC = (
    *(mixed_traffic, stalled_traffic, idle_times, reconnects),
    *(refused_work, full_windows, reset_amid_life),
)
