# SPDX-License-Identifier: BSD-2-Clause
"""The endpoint behind its MAC with a peer that pauses it: as fast as that allows, nothing lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from roceproof.common.paths import XGMII_DUT
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.mac_control import global_pause, priority_pause
from roceproof.dpi import (
    Operation,
    PathMtu,
    PatternPayload,
    Port,
    PortOptions,
    QpConfig,
    Service,
    Simulation,
    Status,
    Until,
    WorkRequest,
    load_manifest,
)

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(
        shutil.which("verilator") is None, reason="verilator is not installed: run `make setup`"
    ),
]

PEER_MAC = bytes.fromhex("020000000002")
QUANTUM = 8
MESSAGES, LENGTH = 20, 16_384
PACKETS = MESSAGES * LENGTH // 1024
OVERHEAD = 24  # preamble, FCS and gap
PERIOD = 4000


def post(port: Port, service: Service, *, count: int, ack_timeout: int = 0) -> None:
    port.configure(
        QpConfig(
            local_qpn=1,
            remote_qpn=1,
            service=service,
            path_mtu=PathMtu.MTU_1024,
            ack_timeout=ack_timeout,
        )
    )
    for index in range(count):
        port.post(
            WorkRequest(wr_id=index, qpn=1, operation=Operation.WRITE, length=LENGTH),
            payload=PatternPayload(seed=index, length=LENGTH),
        )


@pytest.mark.parametrize(
    "pause",
    [
        lambda quanta: global_pause(quanta, src_mac=PEER_MAC),
        lambda quanta: priority_pause({0: quanta}, src_mac=PEER_MAC),
    ],
    ids=["PAUSE", "PFC"],
)
def test_a_peer_that_pauses_half_of_the_time_gets_half_of_the_rate_and_all_in_order(
    pause: Callable[[int], bytes],
) -> None:
    with Simulation.start(
        load_manifest(XGMII_DUT), data_width=64, ports=[PortOptions()]
    ) as simulation:
        port = simulation.port(0)
        simulation.run(cycles=200)
        post(port, Service.UC, count=MESSAGES)
        simulation.run(cycles=1000)
        frames = []
        while len(frames) < PACKETS:
            port.inject(pause(PERIOD // 2 // QUANTUM))
            simulation.run(cycles=PERIOD)
            frames += port.take_frames()
        packets = [parse(frame.data) for frame in frames]
        psns = [packet.bth.psn for packet in packets if packet]
        assert psns == [(psns[0] + n) % (1 << 24) for n in range(PACKETS)]
        assert [done.completion.wr_id for done in port.take_completions()] == [*range(MESSAGES)]
    first, *others = (each for each in frames if each.cycle >= frames[0].cycle + PERIOD)
    cycles = [(len(frame.data) + OVERHEAD) / 8 for frame in others]
    rate = sum(cycles) / (others[-1].cycle - first.cycle)
    assert 0.5 <= rate < 0.5 + (max(cycles) + 10) / PERIOD  # which is under way when a pause comes


def test_the_ack_timer_starts_when_a_paused_message_leaves() -> None:
    """The message waits four times as long as its peer may take to acknowledge it."""
    timeout = 1  # 8.192 us
    held = 4 * 1280
    with Simulation.start(
        load_manifest(XGMII_DUT), data_width=64, ports=[PortOptions()]
    ) as simulation:
        port = simulation.port(0)
        simulation.run(cycles=200)
        port.inject(global_pause(held // QUANTUM, src_mac=PEER_MAC))
        simulation.run(cycles=50)
        post(port, Service.RC, count=1, ack_timeout=timeout)
        simulation.run(cycles=held - 100)
        assert port.take_frames() == port.take_completions() == []
        simulation.run(cycles=2500)
        frames = port.take_frames()
        assert len(frames) == LENGTH // 1024
        assert port.take_completions() == []
        simulation.run(cycles=4 * 1280, until=Until.COMPLETION)
        (late,) = port.take_completions()
        assert late.completion.status is Status.RETRY_EXC_ERR
        asks = (each for each in frames if (packet := parse(each.data)) and packet.bth.ack_req)
        assert late.cycle - next(asks).cycle >= 1280
