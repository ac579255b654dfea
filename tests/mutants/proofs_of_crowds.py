# SPDX-License-Identifier: BSD-2-Clause
"""What shows faults of full queues, coinciding events and long lives."""

from __future__ import annotations

from endpoint_bench import qp
from mutant_device import Device
from proofs import proves, work

from roceproof.dpi import Flow
from roceproof.dpi.contract.records import SENDING, QpCommand
from roceproof.verbs.service import PathMtu, Service

SEND, SEND_IMM, WRITE, WRITE_IMM = SENDING


@proves(
    "depth-beats-64",
    "moment-gone-before-it-left",
    "width-64-straddle-and-stall",
    "depth-departures",
    "depth-departures-of-3-bits",
)
@proves(
    "depth-beats-512",
    "depth-icrcs",
    "width-512-one-beat-departures",
    "moment-gone-beside-accounted",
    width=512,
)
def full_transmitter(device: Device) -> None:
    """Empty and full messages while frames or completions are not taken."""
    config = qp(0, Service.UC)
    device.activate(config)
    for flow in (
        Flow(tx_stall=97),
        Flow(cpl_stall=97),
        Flow(tx_stall=50, cpl_stall=50),
        Flow(cpl_stall=30),
    ):
        for length in (700, 0):
            device.port.flow(flow)
            for _ in range(40):
                work(device, config, SEND, length)
            device.run(2_500, answering=False)
            device.port.flow(Flow())
            device.run(6_000, answering=False)


@proves("depth-received-frames", "depth-verdicts", "depth-candidates", width=512)
def full_receiver(device: Device) -> None:
    """ACKs for all queue pairs while completions are not taken."""
    configs = [qp(index) for index in range(16)]
    device.activate(*configs)
    for _ in range(2):
        for config in configs:
            work(device, config, SEND, 0)
    device.run(1_000, answering=False)
    for flow in (Flow(cpl_stall=98), Flow()):
        device.port.flow(flow)
        for offset in (0, 1):
            for config in configs:
                device.port.inject(device.peer.response(config, config.sq_psn + offset))
        device.run(4_000, answering=False)
        device.mark("all answered")


@proves("moment-in-and-out-at-once", width=512)
def full_receiver_behind_line_rate(device: Device) -> None:
    """A frame in every cycle, and then ACKs for all while completions are not taken."""
    other = qp(0, remote_qpn=0x77)
    device.activate(other)
    for _ in range(18):
        device.port.inject(device.peer.response(other, 0))
    device.run(256, answering=False)
    full_receiver(device)


@proves("depth-fence-of-3-bits", "moment-second-failure-in-fence", width=512)
def failures_behind_a_stall(device: Device) -> None:
    """Two queue pairs fail while their frames cannot leave."""
    configs = [qp(0), qp(1)]
    device.activate(*configs)
    for config in configs:
        work(device, config, SEND, 0)
    device.run(128, answering=False)
    device.port.flow(Flow(tx_stall=99))
    for _ in range(14):
        work(device, configs[0], SEND, 0)
    device.run(128, answering=False)
    for config in configs:
        device.port.inject(device.peer.response(config, config.sq_psn, syndrome=0x62))
    device.run(512, answering=False)
    device.port.flow(Flow())
    device.run(2_000, answering=False)


@proves("crosstalk-syndrome-of-next", "crosstalk-flush-of-qpn")
def responses_behind_slow_completions(device: Device) -> None:
    """A response waits while another one's messages complete or are flushed."""
    configs = [qp(0), qp(1), qp(2)]
    device.activate(*configs)
    for config in configs:
        for _ in range(3):
            work(device, config, SEND, 0)
    device.run(600, answering=False)
    device.port.flow(Flow(cpl_stall=95))
    for config, syndrome in zip(configs, (0x1F, 0x62, 0x05), strict=True):
        offset = 0 if syndrome == 0x62 else 2
        device.port.inject(device.peer.response(config, config.sq_psn + offset, syndrome=syndrome))
    device.run(2_000, answering=False)


@proves("moment-departure-in-fence-cycle", width=512)
def failures_beside_departures(device: Device) -> None:
    """Queue pairs fail while another's frames leave all the time."""
    busy = qp(15, Service.UC)
    for _ in range(4):
        failing = [qp(index) for index in range(15)]
        device.activate(busy, *failing)
        for config in failing:
            work(device, config, SEND, 0)
        device.run(256, answering=False)
        device.port.flow(Flow(tx_stall=20, cpl_stall=30))
        for number in range(100):
            work(device, busy, SEND, 70 * (number % 3))
        for config in failing:
            device.port.inject(device.peer.response(config, config.sq_psn, syndrome=0x62))
            device.port.inject(bytes(1000))
        device.run(2_000, answering=False)
        device.port.flow(Flow())


@proves("moment-failure-beside-packet", width=512)
def failures_beside_packets(device: Device) -> None:
    """A queue pair fails at many moments of its long message."""
    for moment in range(24):
        config = qp(moment % 16)
        device.activate(config)
        work(device, config, SEND, 0)
        device.run(128, answering=False)
        work(device, config, WRITE, 20_000)
        device.port.inject(bytes(4000 + 64 * moment))
        device.port.inject(device.peer.response(config, config.sq_psn, syndrome=0x62))
        device.run(1_000, answering=False)


@proves("depth-discard-of-8-kib", "moment-reset-while-sending")
def aborted_messages(device: Device) -> None:
    """Queue pairs are reset and started anew while they send."""
    config = qp(0, Service.UC)
    device.activate(config)
    for command in (QpCommand.RESET, QpCommand.ACTIVATE):
        work(device, config, SEND, 30_000)
        device.run(256)
        device.port.configure(qp(0, Service.UC, command=command))
        device.run(5_000)
        device.activate(config)
        work(device, config, SEND, 20)
        device.run(300)


@proves("moment-configured-in-start")
def restart_while_waiting(device: Device) -> None:
    """A queue pair starts anew while a message of it waits for its place."""
    config = qp(0)
    device.activate(config)
    for _ in range(18):
        work(device, config, SEND, 0)
    device.run(600, answering=False)
    device.activate(qp(0, sq_psn=5))
    device.run(1_500, answering=False)


@proves("crosstalk-failure-of-8-beyond", "crosstalk-restart-of-8-beyond")
def eight_beyond(device: Device) -> None:
    """A queue pair fails, and one is started, while the one eight contexts away sends."""
    failing, busy = qp(0), qp(8, Service.UC)
    for _ in range(2):
        device.activate(failing, busy)
        work(device, failing, SEND, 0)
        device.run(128, answering=False)
        work(device, busy, SEND, 10_000)
        device.run(128, answering=False)
        device.receive(device.peer.packet(failing, failing.sq_psn, syndrome=0x62))
        device.run(2_000, answering=False)
        work(device, busy, SEND, 10_000)
        device.run(128, answering=False)
        device.activate(failing)
        device.run(2_000, answering=False)


@proves("moment-last-packet-beside-restart", width=512)
def starts_beside_packets(device: Device) -> None:
    """Another queue pair is started at many moments of dense traffic."""
    busy = qp(0, Service.UC)
    device.activate(busy)
    device.port.flow(Flow(tx_stall=60, qpc_gap=50))
    for moment in range(60):
        for _ in range(6):
            work(device, busy, SEND, 0)
        device.simulation.run(cycles=10 + moment % 17)
        device.port.configure(qp(1, Service.UC))
        device.run(128, answering=False)


@proves("life-message-1024", "life-message-256-of-a-qp")
def many_messages(device: Device) -> None:
    """More than a thousand messages of one queue pair."""
    config = qp(0)
    device.activate(config)
    for _ in range(70):
        for _ in range(15):
            work(device, config, SEND, 0)
        device.run(512)


@proves("life-uc-completion-1024")
def many_datagrams(device: Device) -> None:
    """More than a thousand messages that nobody acknowledges."""
    config = qp(0, Service.UC)
    device.activate(config)
    for _ in range(11):
        for _ in range(100):
            work(device, config, SEND, 0)
        device.run(1_200)


@proves("life-256th-restart", "life-second-wrap", "life-restart-keeps-ip-id")
def many_lives(device: Device) -> None:
    """One context is started again and again, and its PSN wraps in two lives."""
    for life in range(256):
        config = qp(0, sq_psn=0xFFFFFF, ip_id=life)
        device.activate(config)
        if life % 64 == 5 or life == 255:
            for _ in range(2):
                work(device, config, SEND, 300 if life == 5 else 0)
            device.run(512)
        else:
            device.simulation.run(cycles=24)


@proves("life-packet-65536", "life-frame-65536", "depth-outstanding-of-16-bits", width=512)
def more_than_65536_packets(device: Device) -> None:
    """One message of more packets than sixteen bits count, then its ACK."""
    packets = (1 << 16) + 64
    config = qp(0, path_mtu=PathMtu.MTU_256)
    device.activate(config)
    work(device, config, SEND, 256 * packets)
    for _ in range(100):
        device.run(4_500, answering=False)
    device.receive(device.peer.packet(config, config.sq_psn + packets - 1))
    device.mark("all acknowledged")
