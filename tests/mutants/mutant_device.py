# SPDX-License-Identifier: BSD-2-Clause
"""One endpoint, healthy or with one fault, and the list of all that it was seen to do.

Time passes in slices of fixed length, and the peer answers between them, so that one stimulus
meets every device in the same way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from endpoint_bench import PORT_IPV4, PORT_MAC, START_CYCLES
from wire_peer import Peer

from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.dpi import Port, PortOptions, Simulation, SimulationError
from roceproof.dpi.contract.records import Operation, QpConfig, WorkRequest
from roceproof.dpi.manifest.dut import Manifest
from roceproof.verbs.addresses import parse_gid, parse_mac

SLICE_CYCLES = 128


class Differs(Exception):
    """The device did something else than it was expected to."""


@dataclass(frozen=True)
class Station:
    """The addresses that the device has."""

    mac: str = PORT_MAC
    ipv4: str = PORT_IPV4


class Device:
    """What stimuli act on. `seen` holds frames, completions and marks in their order.

    Where `expected` is given, the first event that is another one raises Differs.
    """

    def __init__(
        self,
        simulation: Simulation,
        *,
        clock_ps: int,
        lanes: int,
        station: Station,
        expected: Sequence[object] | None = None,
    ) -> None:
        self.simulation = simulation
        self.port: Port = simulation.port(0)
        self.clock_ps = clock_ps
        self.lanes = lanes
        self.station = station
        self._expected = expected
        self.peer = Peer(parse_mac(station.mac), parse_gid(station.ipv4)[-4:])
        self.random = random.Random(1)
        self.seen: list[object] = []
        self.run(START_CYCLES)

    def activate(self, *configs: QpConfig) -> None:
        """Configure queue pairs in the device and at the peer."""
        for config in configs:
            self.peer.know(config)
            self.port.configure(config)

    def post(
        self, config: QpConfig, operation: Operation, length: int, *, solicited: bool = False
    ) -> None:
        """Post one message of random bytes; where its payload starts depends on its length."""
        self.port.post(
            WorkRequest(
                wr_id=self.random.getrandbits(64),
                qpn=config.local_qpn,
                operation=operation,
                length=length,
                remote_addr=self.random.getrandbits(64),
                rkey=self.random.getrandbits(32),
                immediate=self.random.getrandbits(32),
                solicited=solicited,
                payload_offset=length % 7 if length else 0,
            ),
            payload=self.random.randbytes(length),
        )

    def run(self, cycles: int, *, answering: bool = True) -> None:
        """Let time pass while the peer acknowledges what asks for it."""
        for _ in range(cycles // SLICE_CYCLES + 1):
            self.simulation.run(cycles=SLICE_CYCLES)
            self._take()
            if answering:
                for ack in self.peer.coalesced_acks():
                    self.port.inject(ack)

    def wait(self, microseconds: float, *, answering: bool = False) -> None:
        """Let simulated time pass."""
        self.run(int(microseconds * 1e6 / self.clock_ps), answering=answering)

    def mark(self, text: str) -> None:
        """Part what came before from what comes after."""
        self._note(text)

    def receive(self, *frames: Packet | bytes, discard: bool = False) -> None:
        """Hand over frames one at a time, wait for what each does, and mark it."""
        for frame in frames:
            data = build(frame) if isinstance(frame, Packet) else frame
            self.port.inject(data, discard=discard)
            self.run(3 * SLICE_CYCLES, answering=False)
            self.mark(data.hex())

    def _take(self) -> None:
        frames = [(frame.cycle, 0, frame.data) for frame in self.port.take_frames()]
        done = [(timed.cycle, 1, timed.completion) for timed in self.port.take_completions()]
        for _, _, event in sorted([*frames, *done], key=lambda event: event[:2]):
            self._note(event)
            packet = parse(event) if isinstance(event, bytes) else None
            if packet is not None:
                self.peer.take(packet)

    def _note(self, event: object) -> None:
        at = len(self.seen)
        self.seen.append(event)
        if self._expected is not None and self._expected[at : at + 1] != [event]:
            raise Differs


Stimulus = Callable[[Device], None]


@contextmanager
def open_device(
    manifest: Manifest,
    data_width: int,
    *,
    plusargs: Sequence[str] = (),
    capture: Path | None = None,
    expected: Sequence[object] | None = None,
    station: Station = Station(),
) -> Iterator[Device]:
    """A freshly started device."""
    options = PortOptions(mac=station.mac, ipv4=station.ipv4, link="lockstep", capture=capture)
    clock_ps = manifest.clock_ps_at(data_width)
    with Simulation.start(
        manifest, data_width=data_width, ports=[options], plusargs=plusargs
    ) as simulation:
        yield Device(
            simulation,
            clock_ps=clock_ps,
            lanes=data_width // 8,
            station=station,
            expected=expected,
        )


def station_of(stimulus: Stimulus) -> Station:
    """The addresses that a stimulus wants for the device; `at` says so."""
    station: Station = getattr(stimulus, "station", Station())
    return station


def at(station: Station) -> Callable[[Stimulus], Stimulus]:
    """Give a stimulus a device of other addresses."""

    def mark(stimulus: Stimulus) -> Stimulus:
        stimulus.station = station  # type: ignore[attr-defined]
        return stimulus

    return mark


def seen(
    manifest: Manifest, data_width: int, stimulus: Stimulus, *, plusargs: Sequence[str] = ()
) -> list[object]:
    """What the healthy device does about a stimulus."""
    with open_device(
        manifest, data_width, plusargs=plusargs, station=station_of(stimulus)
    ) as device:
        stimulus(device)
        return device.seen


def differs(
    manifest: Manifest,
    data_width: int,
    stimulus: Stimulus,
    *,
    plusarg: str,
    healthy: Sequence[object],
) -> bool:
    """Whether a mutant does anything else than the healthy device, dying of it included."""
    try:
        with open_device(
            manifest,
            data_width,
            plusargs=[plusarg],
            expected=healthy,
            station=station_of(stimulus),
        ) as device:
            stimulus(device)
            return len(device.seen) < len(healthy)
    except (Differs, SimulationError):
        return True
