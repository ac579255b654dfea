# SPDX-License-Identifier: BSD-2-Clause
"""What the mutants are tried with, from ordinary traffic to the corner where one fault shows.

Each stimulus is deterministic and goes on for a fixed time, whatever the device does.
"""

from __future__ import annotations

from endpoint_bench import qp
from mutant_device import Device

from roceproof.dpi import Flow
from roceproof.dpi.records import Operation, PathMtu, QpConfig, Service

LENGTHS = (0, 1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 512, 700, 768, 1021, 1030, 300, 0, 9)


def mixed_qps() -> list[QpConfig]:
    """Queue pairs that differ in every field; PSNs wrap in 24 and in 16 bits."""
    return [
        qp(0, sq_psn=0xFFFFF8, rq_psn=0x345678),
        qp(1, Service.UC, sq_psn=0x12FFF0, rq_psn=0x777777, path_mtu=PathMtu.MTU_512),
        qp(2, path_mtu=PathMtu.MTU_1024, traffic_class=0x10, hop_limit=255, rq_psn=0x800001),
        qp(3, Service.UC, remote_qpn=0xABCDEF, remote_gid="10.1.2.3", traffic_class=0x02),
    ]


def mixed_traffic(device: Device) -> None:
    """Every operation at many lengths on queue pairs that take turns."""
    configs = mixed_qps()
    device.activate(*configs)
    for index, length in enumerate(LENGTHS * 2):
        device.post(
            configs[index * 7 // 3 % 4], Operation(index % 4), length, solicited=index % 3 == 0
        )
    device.run(6_000)


def stalled_traffic(device: Device) -> None:
    """The same while every stream stalls."""
    device.port.flow(Flow(tx_stall=40, payload_gap=30, wr_gap=30, cpl_stall=50, rx_gap=30))
    mixed_traffic(device)
    device.run(12_000)


STIMULI = (mixed_traffic, stalled_traffic)
