# SPDX-License-Identifier: BSD-2-Clause
"""Devices around a switch, each with a link to it and one from it, that go on side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import NamedTuple

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.model.device import Device
from roceproof.conformance.scenarios.frames.link import Line, Link, Passage
from roceproof.conformance.scenarios.line import AROUND_FRAME
from roceproof.conformance.targets.interface import Arrival, Target
from roceproof.conformance.targets.model.device import ModelTarget

_PS = 1000
_STEP_NS = 500
"""How far devices may be apart; no link is shorter than that."""
_KEPT = 128
"""Of each frame in a capture: its headers."""


class Server(ModelTarget):
    """The reference model of unreliable services, which sends nothing, at a port of any rate.

    What comes has waited for its line before.
    """

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self._came: list[tuple[int, int]] = []

    def send(self, frame: bytes) -> None:
        self._came.append((self._now, len(frame) + AROUND_FRAME))
        self.device.receive(frame, self._now)

    def receive(self, timeout_ns: int) -> Arrival | None:
        self._now += timeout_ns
        return None

    def line_rate(self) -> float:
        """Bits of line a second that came, over the middle half of the frames."""
        middle = self._came[len(self._came) // 4 : 3 * len(self._came) // 4]
        elapsed = middle[-1][0] - middle[0][0]
        return 8e9 * sum(size for _, size in middle[1:]) / elapsed


class Port(NamedTuple):
    """A device, and its two lines."""

    device: Target
    to_switch: Line
    from_switch: Line


class Switch:
    """Knows its ports by their MAC addresses."""

    def __init__(self, ports: Sequence[Port], *, seed: int) -> None:
        self.records: list[Record] = []
        self.ups = [Link(port.to_switch, seed=2 * n + seed) for n, port in enumerate(ports)]
        self.downs = [Link(port.from_switch, seed=2 * n + seed + 1) for n, port in enumerate(ports)]
        self.harmed: list[bytes] = []
        """Frames that did not arrive, or not as they were sent."""
        self._devices = [port.device for port in ports]
        self._begun = [device.now_ns for device in self._devices]
        self._ports = {device.host.mac: number for number, device in enumerate(self._devices)}
        self._numbers = count()
        self._inside: list[tuple[int, int, bytes, int]] = []
        self._due: list[tuple[int, int, bytes, int]] = []
        self._now = 0
        for device in self._devices:
            for other in self._devices:
                device.plays(other.host)

    def run(self, *, until: Callable[[], bool], most_ns: int) -> bool:
        """Let all go on until something holds; False if it did not in that time."""
        end = self._now + most_ns
        while not until():
            if self._now >= end:
                return False
            self._step()
        return True

    @property
    def is_empty(self) -> bool:
        """Whether no frame is under way."""
        return not self._inside and not self._due

    def _step(self) -> None:
        self._now += _STEP_NS
        for number, device in enumerate(self._devices):
            while (left := self._now + self._begun[number] - device.now_ns) > 0:
                arrival = device.receive(left)
                if arrival is not None:
                    self._leave(number, arrival.frame, arrival.time_ns - self._begun[number])
        now = self._now * _PS
        while self._inside and self._inside[0][0] <= now:
            time, _, frame, record = heappop(self._inside)
            self._pass(frame, time, record)
        while self._due and self._due[0][0] <= now:
            _, _, frame, number = heappop(self._due)
            self._devices[number].send(frame)

    def _leave(self, number: int, frame: bytes, time_ns: int) -> None:
        arrivals, comment = self._carried(self.ups[number], frame, time_ns * _PS)
        place = len(self.records)
        self.records.append(
            Record(
                f"port {number}",
                time_ns,
                Flow.OUTBOUND,
                frame[:_KEPT],
                comment and f"to the switch: {comment}",
                bytes_cut=max(0, len(frame) - _KEPT),
                number=place + 1,
                interface_index=number,
            )
        )
        for time, copy in arrivals:
            heappush(self._inside, (time, next(self._numbers), copy, place))

    def _pass(self, frame: bytes, time: int, place: int) -> None:
        number = self._ports.get(frame[:6])
        if number is None:
            self._note(place, "dropped: no port has its address")
            return
        arrivals, comment = self._carried(self.downs[number], frame, time)
        if comment:
            self._note(place, f"from the switch: {comment}")
        for due, copy in arrivals:
            heappush(self._due, (due, next(self._numbers), copy, number))

    def _carried(self, link: Link, frame: bytes, time: int) -> Passage:
        passage = link.carry(frame, time)
        if not passage.arrivals or passage.arrivals[0][1] != frame:
            self.harmed.append(frame)
        return passage

    def _note(self, place: int, comment: str) -> None:
        record = self.records[place]
        self.records[place] = record._replace(
            comment="; ".join(filter(None, (record.comment, comment)))
        )

    def write(self, path: Path) -> None:
        """Leave the headers of what all devices have sent, with what became of it."""
        write_pcapng(path, sorted(self.records, key=lambda record: record.time_ns))
