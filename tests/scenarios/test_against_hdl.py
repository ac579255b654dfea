# SPDX-License-Identifier: BSD-2-Clause
"""The event model's sender against the endpoint in HDL, behind its MAC at 10 Gb/s: within 1 %.

Three regimes: a full line, a window over a long way, and a far end that is narrower and pauses.
The way, and the far end's FIFO, are this file's own here; the event model has them in C.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from functools import cache
from heapq import heappop, heappush

import pytest

from roceproof.common.paths import XGMII_DUT
from roceproof.conformance.scenarios.event_model import play
from roceproof.conformance.scenarios.line import line_bytes
from roceproof.conformance.scenarios.network import GBPS, SECOND, US, Flow, Network, Port
from roceproof.conformance.wire.acknowledgement import acknowledgement
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.mac_control import LONGEST, global_pause
from roceproof.dpi import (
    Operation,
    PathMtu,
    PatternPayload,
    PortOptions,
    QpConfig,
    Service,
    Simulation,
    Until,
    WorkRequest,
    load_manifest,
)

pytestmark = [
    pytest.mark.sim,
    pytest.mark.whole,
    pytest.mark.skipif(
        shutil.which("verilator") is None, reason="verilator is not installed: run `make setup`"
    ),
]

CYCLE = 6400
PEER_MAC = bytes.fromhex("020000000002")
XOFF, XON = 20_000, 10_000
LINE = Port(rate=10 * GBPS)


@dataclass(frozen=True)
class Load:
    service: Service
    mtu: int
    size: int
    depth: int = 1
    rtt: int = 0
    narrow: int = 0
    """Bits a second of the far end, or 0."""

    @property
    def messages(self) -> int:
        return max(6 * self.depth, (150 if self.rtt == 0 else 40) * 4096 // self.size, 6)

    @property
    def warm(self) -> int:
        return max(self.depth, self.messages // 4)


@dataclass
class FarEnd:
    """A FIFO that pauses who fills it, in cycles; and when each of its packets has left it."""

    rate: int
    bytes_: float = 0
    seen: int = 0
    free: float = 0
    is_pausing: bool = False
    left: list[float] = field(default_factory=list)

    @property
    def bytes_per_cycle(self) -> float:
        return self.rate / 8 * CYCLE / SECOND

    def drain(self, now: int) -> None:
        self.bytes_ = max(0.0, self.bytes_ - (now - self.seen) * self.bytes_per_cycle)
        self.seen = now

    def take(self, now: int, size: int) -> None:
        self.drain(now)
        self.bytes_ += size
        self.free = max(self.free, now) + size / self.bytes_per_cycle
        self.left.append(self.free)


def hdl(load: Load) -> float:
    """Payload bits a second of the endpoint."""
    far = FarEnd(load.narrow) if load.narrow else None
    events: list[tuple[int, bytes]] = []  # what comes to the endpoint, and when
    ends: list[float] = []
    posted = 0
    with Simulation.start(
        load_manifest(XGMII_DUT), data_width=64, ports=[PortOptions()]
    ) as simulation:
        port = simulation.port(0)
        now = simulation.run(cycles=200).cycle
        port.configure(
            QpConfig(
                local_qpn=1,
                remote_qpn=1,
                service=load.service,
                path_mtu=PathMtu[f"MTU_{load.mtu}"],
            )
        )

        def post(until: int) -> None:
            nonlocal posted
            for index in range(posted, min(until, load.messages)):
                port.post(
                    WorkRequest(wr_id=index, qpn=1, operation=Operation.WRITE, length=load.size),
                    payload=PatternPayload(seed=index, length=load.size),
                )
                posted = index + 1

        post(load.depth if load.service is Service.RC else load.messages)
        while len(ends) < load.messages:
            wait = events[0][0] - now if events else 1_000_000
            now = simulation.run(cycles=max(1, wait), until=Until.FRAME | Until.COMPLETION).cycle
            for frame in port.take_frames():
                packet = parse(frame.data)
                assert packet is not None
                if far:
                    far.take(frame.cycle, len(frame.data) + 24)
                    if far.bytes_ > XOFF and not far.is_pausing:
                        far.is_pausing = True
                        port.inject(global_pause(LONGEST, src_mac=PEER_MAC))
                        heappush(events, (now + resume_after(far), b""))
                if load.service is Service.RC and packet.bth.ack_req:
                    due = frame.cycle + load.rtt // CYCLE
                    heappush(events, (due, acknowledgement(packet, qpn=1)))
                elif load.service is Service.UC and is_last(packet):
                    ends.append(far.left[-1] if far else frame.cycle)
            while events and events[0][0] <= now:
                _, frame_in = heappop(events)
                if frame_in:
                    port.inject(frame_in)
                elif far:
                    far.drain(now)
                    if far.bytes_ <= XON:
                        far.is_pausing = False
                        port.inject(global_pause(0, src_mac=PEER_MAC))
                    else:
                        heappush(events, (now + resume_after(far), b""))
            for done in port.take_completions() if load.service is Service.RC else ():
                ends.append(done.cycle)
                post(posted + 1)
    cycles = ends[-1] - ends[load.warm - 1]
    return 8 * load.size * (load.messages - load.warm) * SECOND / (cycles * CYCLE)


def resume_after(far: FarEnd) -> int:
    return max(1, int((far.bytes_ - XON) / far.bytes_per_cycle) + 1)


def is_last(packet: Packet) -> bool:
    return packet.bth.opcode & 0x1F in (0x08, 0x0A)


@cache
def own_latency() -> int:
    """From an acknowledgement to the next message's first byte, in picoseconds, of one message.

    The event model has none; it is part of the way that a scenario calls its round trip.
    """
    load = Load(Service.RC, 1024, 4096)
    period = round(8 * load.size * SECOND / hdl(load))
    return period - line_bytes(load.size, load.mtu) * 8 * SECOND // LINE.rate


def model(load: Load) -> float:
    """The same of the event model."""
    ports = (LINE,)
    if load.narrow:
        ports = (Port(rate=10 * GBPS, xoff=XOFF, xon=XON), Port(rate=load.narrow))
    flow = Flow(
        kind=load.service.name.lower(),
        path=tuple(range(len(ports))),
        mtu=load.mtu,
        size=load.size,
        depth=load.depth,
        messages=load.messages,
        warm=load.warm,
        back=load.rtt + own_latency() if load.service is Service.RC else 0,
        timeout=SECOND,
    )
    network = Network(ports=ports, flows=(flow,), until=SECOND)
    return play(network).goodput(0, flow)


FULL = [Load(Service.UC, mtu, size) for mtu in (1024, 4096) for size in (1024, 16_384, 65_536)]
WINDOWED = [
    Load(Service.RC, 1024, size, depth, rtt * US)
    for rtt in (100, 200)
    for size, depth in ((4096, 1), (4096, 4), (16_384, 2))
]
NARROW = [
    Load(Service.UC, mtu, 65_536, narrow=gbps * GBPS // 10)
    for mtu in (1024, 4096)
    for gbps in (49, 77)
]


@pytest.mark.parametrize("regime", [FULL, WINDOWED, NARROW], ids=["full", "windowed", "narrow"])
def test_the_event_model_is_within_a_percent(regime: list[Load], subtests) -> None:
    for load in regime:
        with subtests.test(str(load)):
            got, want = hdl(load), model(load)
            print(f"{load}: {got / GBPS:.4f} Gb/s, the model says {want / GBPS:.4f}")
            assert abs(got / want - 1) <= 0.01
