# SPDX-License-Identifier: BSD-2-Clause
"""Lockstep: the test owns simulated time, and nothing else matters."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from scapy.utils import RawPcapNgReader

from roceproof.dpi import (
    Flow,
    Frame,
    Inbound,
    Operation,
    PatternPayload,
    Port,
    PortOptions,
    QpCommand,
    QpConfig,
    Simulation,
    Status,
    Stop,
    Until,
    WorkRequest,
)

pytestmark = pytest.mark.sim

SIZES = (1, 59, 60, 61, 127, 128, 129, 1514, 4200, 9000, 9216)
STALLED = Flow(tx_stall=60, rx_gap=50, payload_gap=70, qpc_gap=90, wr_gap=80, cpl_stall=90)
WRITE = Operation.WRITE


def random_frame(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def echoed(frame: bytes) -> bytes:
    padded = frame.ljust(60, b"\0")
    return padded[6:12] + padded[:6] + padded[12:]


def run_until_frames(simulation: Simulation, port: Port, count: int) -> list[Frame]:
    frames: list[Frame] = []
    while len(frames) < count:
        stop = simulation.run(cycles=100_000, until=Until.FRAME)
        assert stop.reason == Until.FRAME, f"{len(frames)} of {count} frames came"
        frames += port.take_frames()
    return frames


@pytest.mark.parametrize(
    "data_width", [64, *(pytest.param(width, marks=pytest.mark.slow) for width in (512, 1024))]
)
@pytest.mark.parametrize("flow", [Flow(), STALLED], ids=["free", "stalled"])
def test_frames_of_every_size_come_back_unchanged(start_echo, data_width, flow):
    simulation = start_echo(PortOptions(flow=flow), data_width=data_width)
    port = simulation.port(0)
    sent = [random_frame(size, size) for size in SIZES]
    for frame in sent:
        port.inject(frame)
    frames = run_until_frames(simulation, port, len(sent))
    assert [frame.data for frame in frames] == [echoed(frame) for frame in sent]


@pytest.mark.parametrize("flow", [Flow(), STALLED], ids=["free", "stalled"])
def test_payload_follows_the_order_of_work_requests_at_any_offset(start_echo, flow):
    simulation = start_echo(PortOptions(flow=flow))
    port = simulation.port(0)
    port.configure(QpConfig(local_qpn=5))
    payloads = [random_frame(i, size) for i, size in enumerate((60, 200, 0, 121, 128, 3000))]
    for i, payload in enumerate(payloads):
        request = WorkRequest(
            wr_id=i, qpn=5, operation=WRITE, length=len(payload), payload_offset=i + 2
        )
        port.post(request, payload=payload)
    completions = []
    while len(completions) < len(payloads):
        assert simulation.run(cycles=100_000, until=Until.COMPLETION).reason == Until.COMPLETION
        completions += port.take_completions()
    assert [c.completion.wr_id for c in completions] == list(range(len(payloads)))
    assert {c.completion.status for c in completions} == {Status.SUCCESS}
    assert [f.data for f in port.take_frames()] == [p for p in payloads if p]


def test_configuration_sent_before_a_work_request_is_taken_first(start_echo):
    simulation = start_echo(PortOptions(flow=Flow(qpc_gap=99)))
    port = simulation.port(0)
    for i in range(16):
        port.configure(QpConfig(local_qpn=i))
        port.post(WorkRequest(wr_id=i, qpn=i, operation=WRITE, length=0))
    simulation.run(cycles=20_000)
    statuses = [c.completion.status for c in port.take_completions()]
    assert statuses == [Status.SUCCESS] * 16


def test_work_request_on_a_reset_qp_is_refused(start_echo):
    simulation = start_echo()
    port = simulation.port(0)
    port.configure(QpConfig(local_qpn=1))
    port.configure(QpConfig(local_qpn=1, command=QpCommand.RESET))
    port.post(WorkRequest(wr_id=1, qpn=1, operation=WRITE, length=64), payload=bytes(64))
    simulation.run(cycles=1000, until=Until.COMPLETION)
    (completion,) = port.take_completions()
    assert completion.completion.status == Status.LOC_QP_OP_ERR
    assert port.take_frames() == []


def test_pattern_payload_is_the_same_in_c_and_python(start_echo):
    simulation = start_echo()
    port = simulation.port(0)
    port.configure(QpConfig(local_qpn=1))
    pattern = PatternPayload(seed=2**64 - 3, length=9001)
    port.post(
        WorkRequest(wr_id=1, qpn=1, operation=WRITE, length=pattern.length, payload_offset=5),
        payload=pattern,
    )
    (frame,) = run_until_frames(simulation, port, 1)
    assert frame.data == bytes(pattern)


def test_run_stops_after_exactly_its_cycles(start_echo):
    simulation = start_echo()
    assert simulation.run(cycles=1) == Stop(1, Until.CYCLES)
    assert simulation.run(cycles=70_000) == Stop(70_001, Until.CYCLES)


def test_run_stops_right_after_the_frame_it_waits_for(start_echo):
    simulation = start_echo()
    port = simulation.port(0)
    for _ in range(2):
        port.inject(bytes(64))
    stop = simulation.run(cycles=1000, until=Until.FRAME | Until.COMPLETION)
    (frame,) = port.take_frames()
    assert stop == Stop(frame.cycle + 1, Until.FRAME)


def test_discarded_frames_are_neither_sent_nor_lost_from_the_counters(start_echo):
    simulation = start_echo()
    port = simulation.port(0)
    port.inject(bytes(64), discard=True)
    port.configure(QpConfig(local_qpn=1))
    misbehave = WorkRequest(wr_id=1, qpn=1, operation=WRITE, length=80, remote_addr=4)
    port.post(misbehave, payload=bytes(80))
    simulation.run(cycles=1000)
    assert port.take_frames() == []
    (statistics,) = simulation.statistics().ports
    assert (statistics.frames_in, statistics.discarded_out) == (1, 1)


def test_ports_of_one_simulation_are_independent(start_echo):
    simulation = start_echo(PortOptions(flow=Flow(tx_stall=99)), PortOptions())
    slow, fast = simulation.port(0), simulation.port(1)
    slow.inject(random_frame(1, 4000))
    fast.inject(random_frame(2, 300))
    simulation.run(cycles=2000)
    assert slow.take_frames() == []
    assert [frame.data for frame in fast.take_frames()] == [echoed(random_frame(2, 300))]
    simulation.run(cycles=200_000, until=Until.FRAME)
    assert [frame.data for frame in slow.take_frames()] == [echoed(random_frame(1, 4000))]


@pytest.mark.slow  # a build of its own; two ports are looked at below
def test_four_ports_work_side_by_side(start_echo):
    simulation = start_echo(*[PortOptions()] * 4, data_width=128)
    for index in range(4):
        simulation.port(index).inject(random_frame(index, 200))
    simulation.run(cycles=1000)
    for index in range(4):
        (frame,) = simulation.port(index).take_frames()
        assert frame.data == echoed(random_frame(index, 200)), f"port {index}"


def traffic(start_echo, capture: Path, seed: int) -> bytes:
    simulation = start_echo(PortOptions(flow=STALLED, capture=capture), seed=seed)
    port = simulation.port(0)
    for size in (64, 300, 1500):
        port.inject(random_frame(size, size))
    simulation.run(cycles=20_000)
    simulation.close()
    return capture.read_bytes()


def test_one_seed_gives_one_capture_and_another_seed_another(start_echo, tmp_path):
    first = traffic(start_echo, tmp_path / "first.pcapng", 7)
    again = traffic(start_echo, tmp_path / "again.pcapng", 7)
    other = traffic(start_echo, tmp_path / "other.pcapng", 8)
    assert first == again
    assert first.replace(b"seed 7", b"seed 8") != other


def test_capture_time_is_the_cycle_times_the_clock_period(start_echo, tmp_path):
    capture = tmp_path / "two.pcapng"
    options = PortOptions(flow=STALLED, capture=capture)
    simulation = start_echo(options, options)
    sent = {0: random_frame(1, 100), 1: random_frame(2, 1000)}
    for index, frame in sent.items():
        simulation.port(index).inject(frame)
    simulation.run(cycles=20_000)
    cycles = {index: simulation.port(index).take_frames()[0].cycle for index in sent}
    simulation.close()
    out = {}
    with RawPcapNgReader(str(capture)) as reader:
        for data, meta in reader:
            port = int(meta.ifname.decode().removeprefix("port"))
            time_ns = meta.tshigh << 32 | meta.tslow
            if meta.direction == 2:
                out[port] = time_ns
                assert data == echoed(sent[port])
            else:
                assert meta.direction == 1
                assert data == sent[port]
    assert out == {index: cycle * 6400 // 1000 for index, cycle in cycles.items()}


@pytest.mark.parametrize("flow", [Flow(), STALLED], ids=["free", "stalled"])
def test_what_the_device_takes_is_told_with_its_cycle(start_echo, flow):
    simulation = start_echo(PortOptions(flow=flow), data_width=64)
    port = simulation.port(0)
    for size in (64, 128):
        port.inject(random_frame(size, size))
    port.configure(QpConfig(local_qpn=0x11))
    port.post(WorkRequest(wr_id=1, qpn=0x11, operation=WRITE, length=0))
    start = simulation.run(cycles=1).cycle
    simulation.run(cycles=5000)
    taken = port.take_taken()
    assert port.take_taken() == []
    frames, configurations, requests = (
        [each.cycle for each in taken if each.stream is stream]
        for stream in (Inbound.FRAME, Inbound.CONFIGURATION, Inbound.WORK_REQUEST)
    )
    assert [len(frames), len(configurations), len(requests)] == [2, 1, 1]
    assert start + 64 // 8 <= frames[0] <= frames[1] - 128 // 8
    assert configurations[0] < requests[0]
