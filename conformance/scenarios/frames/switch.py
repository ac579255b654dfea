# SPDX-License-Identifier: BSD-2-Clause
"""Devices around a switch, each with a link to it and one from it, that go on side by side.

A line from the switch that has thresholds pauses whoever sends to the switch (802.1Qbb, class 0,
until it is lifted). The pause goes over the line to the device, whose port obeys it between
frames: what the device has sent waits there, so that any device can be paused.
"""

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import NamedTuple, Protocol

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.record import Flow, Record
from roceproof.conformance.scenarios.frames.link import Line, Link
from roceproof.conformance.scenarios.network import SECOND
from roceproof.conformance.targets.interface import Arrival
from roceproof.conformance.wire.mac_control import LONGEST, priority_pause
from roceproof.verbs.addresses import Host

_PS = 1000
_STEP_NS = 500
"""How far devices may be apart; no link is shorter than that."""
_KEPT = 128
"""Of each frame in a capture: its headers."""
_MAC = bytes.fromhex("0200000000f0")
_HOLD, _LIFT = (priority_pause({0: quanta}, src_mac=_MAC) for quanta in (LONGEST, 0))


class Plugged(Protocol):
    """What a switch needs of a device: `interface.Target` says what each promises."""

    host: Host

    @property
    def now_ns(self) -> int: ...

    def plays(self, host: Host) -> None: ...

    def send(self, frame: bytes) -> None: ...

    def receive(self, timeout_ns: int) -> Arrival | None: ...


class Port(NamedTuple):
    """A device, and its two lines."""

    device: Plugged
    to_switch: Line
    from_switch: Line


class _Gate:
    """What a device has sent and its port holds: while it is paused, and while its line is busy."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[int, bytes, int]] = deque()  # when it was sent, and its record
        self._opened, self._is_shut = 0, False

    def begin(self, time: int, free: int) -> tuple[int, bytes, int] | None:
        """The frame that begins by a time on a line that is free from another, and when."""
        if self._is_shut or not self.waiting:
            return None
        sent, frame, place = self.waiting[0]
        start = max(sent, free, self._opened)
        if start > time:
            return None
        self.waiting.popleft()
        return start, frame, place

    def obey(self, *, is_shut: bool, time: int) -> None:
        """A pause came, or was lifted."""
        self._opened, self._is_shut = time, is_shut


class Switch:
    """Knows its ports by their MAC addresses."""

    def __init__(self, ports: Sequence[Port], *, seed: int) -> None:
        self.records: list[Record] = []
        self.ups = [Link(port.to_switch, seed=2 * n + seed) for n, port in enumerate(ports)]
        self.downs = [Link(port.from_switch, seed=2 * n + seed + 1) for n, port in enumerate(ports)]
        self.sent = [0] * len(ports)
        """How many frames each device has sent."""
        self.harmed: list[bytes] = []
        """Frames that did not arrive, or not as they were sent."""
        self._devices = [port.device for port in ports]
        self._begun = [device.now_ns for device in self._devices]
        self._ports = {device.host.mac: number for number, device in enumerate(self._devices)}
        self.pauses = 0
        """How often a queue has paused the others."""
        self._gates = [_Gate() for _ in self._devices]
        self._full: set[int] = set()  # the ports whose queues pause all others
        self._held: set[int] = set()
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
        return not (self._inside or self._due or any(gate.waiting for gate in self._gates))

    def _step(self) -> None:
        self._now += _STEP_NS
        for number, device in enumerate(self._devices):
            while (left := self._now + self._begun[number] - device.now_ns) > 0:
                arrival = device.receive(left)
                if arrival is not None:
                    self._take(number, arrival.frame, arrival.time_ns - self._begun[number])
        now = self._now * _PS
        while self._due and self._due[0][0] <= now:
            time, _, frame, number = heappop(self._due)
            if frame in (_HOLD, _LIFT):
                self._leave(number, time)
                self._gates[number].obey(is_shut=frame == _HOLD, time=time)
            else:
                self._devices[number].send(frame)
        for number in range(len(self._devices)):
            self._leave(number, now)
        while self._inside and self._inside[0][0] <= now:
            time, _, frame, record = heappop(self._inside)
            self._lift(time)
            self._pass(frame, time, record)
        self._lift(now)

    def _take(self, number: int, frame: bytes, time_ns: int) -> None:
        self.sent[number] += 1
        place = self._record(number, time_ns, Flow.OUTBOUND, frame)
        self._gates[number].waiting.append((time_ns * _PS, frame, place))

    def _leave(self, number: int, until: int) -> None:
        """Put what begins by then on the line to the switch."""
        link = self.ups[number]
        while (begun := self._gates[number].begin(until, link.free)) is not None:
            time, frame, place = begun
            for there, copy in self._carried(link, frame, time, place, "to the switch"):
                heappush(self._inside, (there, next(self._numbers), copy, place))

    def _pass(self, frame: bytes, time: int, place: int) -> None:
        number = self._ports.get(frame[:6])
        if number is None:
            self._note(place, "dropped: no port has its address")
            return
        link = self.downs[number]
        for due, copy in self._carried(link, frame, time, place, "from the switch"):
            heappush(self._due, (due, next(self._numbers), copy, number))
        waiting = link.waiting(time)
        if link.line.xoff and waiting >= link.line.xoff and number not in self._full:
            self._full.add(number)
            self.pauses += 1
            self._tell(time, f"{waiting} bytes wait for port {number}")

    def _lift(self, time: int) -> None:
        """Let senders go on if all queues have drained by then."""
        for number in sorted(self._full):
            link = self.downs[number]
            drained = link.free - link.line.xon * 8 * SECOND // link.line.rate
            if drained <= time:
                self._full.remove(number)
                self._tell(drained, f"{link.line.xon} bytes wait for port {number}")

    def _tell(self, time: int, reason: str) -> None:
        """Pause the ports that send to a full queue and are not paused yet, or let them go on."""
        for number, link in enumerate(self.downs):
            is_held = bool(self._full - {number})
            if is_held != (number in self._held):
                self._held ^= {number}
                pause = _HOLD if is_held else _LIFT
                self._record(number, time // _PS, Flow.INBOUND, pause, reason)
                for due, copy in link.carry(pause, time).arrivals:
                    heappush(self._due, (due, next(self._numbers), copy, number))

    def _record(
        self, number: int, time_ns: int, flow: Flow, frame: bytes, comment: str = ""
    ) -> int:
        place = len(self.records)
        self.records.append(
            Record(
                f"port {number}",
                time_ns,
                flow,
                frame[:_KEPT],
                comment,
                bytes_cut=max(0, len(frame) - _KEPT),
                number=place + 1,
                interface_index=number,
            )
        )
        return place

    def _carried(
        self, link: Link, frame: bytes, time: int, place: int, where: str
    ) -> tuple[tuple[int, bytes], ...]:
        passage = link.carry(frame, time)
        if passage.is_harmed:
            self.harmed.append(frame)
        if passage.comment:
            self._note(place, f"{where}: {passage.comment}")
        return passage.arrivals

    def _note(self, place: int, comment: str) -> None:
        record = self.records[place]
        self.records[place] = record._replace(
            comment="; ".join(filter(None, (record.comment, comment)))
        )

    def write(self, path: Path) -> None:
        """Leave the headers of what all devices have sent, with what became of it."""
        write_pcapng(path, sorted(self.records, key=lambda record: record.time_ns))
