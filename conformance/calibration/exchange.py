# SPDX-License-Identifier: BSD-2-Clause
"""Device and peers over a link with a tap, in simulated time: a plan becomes a capture.

What the device sends passes its transmitter, which may have faults; then the part
of the way before the tap, the tap, and the part behind it.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from random import Random
from typing import Protocol

from roceproof.conformance.calibration.plan import Plan
from roceproof.conformance.calibration.queue_pair import QueuePair
from roceproof.conformance.faults.icrc.packet import Packet, right_icrc
from roceproof.conformance.faults.psn.counting import Counting

_NS_PER_BYTE = 0.32
_DELAY_NS = 1_500
_LAST_NS = 100_000_000


class Transmitter(Protocol):
    """What stands between the queue pairs of a device and its wire."""

    def send(self, packet: Packet) -> Sequence[Packet]:
        """What leaves now; more or less than came in, if packets wait inside."""

    def drain(self) -> Sequence[Packet]:
        """What waits inside at the end."""


class Healthy:
    def send(self, packet: Packet) -> Sequence[Packet]:
        """The packet with its ICRC."""
        packet.icrc = right_icrc(packet)
        return (packet,)

    def drain(self) -> Sequence[Packet]:
        return ()


@dataclass
class Captured:
    """What the tap saw, and what the network did to it."""

    frames: list[tuple[int, bytes]] = field(default_factory=list)
    flipped: set[int] = field(default_factory=set)
    """Numbers (from 1) of frames with a changed bit."""
    lost_before: int = 0
    """How many packets the tap never saw."""


class _Station:
    def __init__(self, transmitter: Transmitter) -> None:
        self.transmitter = transmitter
        self.pairs: deque[QueuePair] = deque()
        self.free_at = 0

    def next_packet(self, now: int) -> Packet | None:
        for _ in range(len(self.pairs)):
            pair = self.pairs[0]
            self.pairs.rotate(-1)
            if pair.replies:
                return pair.replies.pop(0)
            packet = pair.request(now)
            if packet is not None:
                return packet
        return None


class Exchange:
    """One capture in the making."""

    def __init__(self, plan: Plan, counting: Counting, transmitter: Transmitter) -> None:
        self._plan = plan
        self._counting = counting
        self._captured = Captured()
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        self._entries = 0
        self._now = 0
        self._random = Random(f"way {plan.seed}")
        self._device = _Station(transmitter)
        self._peers: dict[bytes, _Station] = {}
        self._ident = Random(f"ident {plan.seed}").randrange(1 << 16)

    def run(self) -> Captured:
        """Play the plan to its end, or until enough has been captured."""
        for index, pair in enumerate(self._plan.pairs):
            self._at(pair.begins_ns, partial(self._connect, index))
        while self._agenda and len(self._captured.frames) < self._plan.frames:
            self._now, _, action = heappop(self._agenda)
            if self._now > _LAST_NS:
                break
            action()
        for packet in self._device.transmitter.drain():
            self._leave(packet, True, None)
        return self._captured

    def _at(self, time: int, action: Callable[[], None]) -> None:
        self._entries += 1
        heappush(self._agenda, (max(time, self._now), self._entries, action))

    def _connect(self, index: int) -> None:
        pair, peer = self._plan.pairs[index], self._plan.peer
        mac = pair.ends[1].face.ethernet[6:12]
        other = self._peers.setdefault(mac, _Station(Healthy()))
        healthy = Counting(Random(0))
        near = QueuePair(pair, 0, self._counting, strict=True)
        far = QueuePair(pair, 1, healthy, strict=peer.strict)
        if self._plan.ident_counts:
            near.ident = far.ident = self._ident + 7 * index & 0xFFFF
            near.ident_step = far.ident_step = 1
        for station, queue_pair in ((self._device, near), (other, far)):
            station.pairs.append(queue_pair)
            self._wake(station, queue_pair)

    def _wake(self, station: _Station, pair: QueuePair) -> None:
        time = pair.wakes()
        if pair.replies:
            time = self._now
        if time is not None:
            self._at(max(time, station.free_at), lambda: self._serve(station))

    def _serve(self, station: _Station) -> None:
        if self._now < station.free_at:
            return
        packet = station.next_packet(self._now)
        if packet is None:
            return
        own = station is self._device
        pair = station.pairs[-1]
        for leaving in station.transmitter.send(packet):
            size = len(leaving.frame()) + 24
            station.free_at = max(self._now, station.free_at) + int(size * _NS_PER_BYTE)
            self._leave(leaving, own, pair)
        for each in station.pairs:
            self._wake(station, each)

    def _leave(self, packet: Packet, own: bool, pair: QueuePair | None) -> None:
        way, random = self._plan.way, self._random
        loss = (way.loss_before, way.loss_behind)
        if not own:
            loss = (loss[1], loss[0])
        if random.random() < loss[0]:
            self._captured.lost_before += 1
            return
        damaged = packet.icrc != right_icrc(packet)
        frame = packet.frame()
        number = len(self._captured.frames) + 1
        if random.random() < way.flips:
            frame = _flipped(frame, packet, random)
            self._captured.flipped.add(number)
            damaged = True
        elif own:
            damaged = damaged and self._plan.peer.checks_icrc
        self._captured.frames.append((self._now, frame))
        if random.random() < loss[1]:
            return
        far = self._receiver(packet, own)
        if far is not None:
            queue_pair, station = far
            self._at(
                self._now + _DELAY_NS,
                lambda: self._arrive(queue_pair, station, packet, damaged, own),
            )

    def _receiver(self, packet: Packet, own: bool) -> tuple[QueuePair, _Station] | None:
        stations = [*self._peers.values()] if own else [self._device]
        for station in stations:
            for pair in reversed(station.pairs):
                if pair.end.queue == packet.queue and pair.end.face.source == _destination(packet):
                    return pair, station
        return None

    def _arrive(
        self, pair: QueuePair, station: _Station, packet: Packet, damaged: bool, own: bool
    ) -> None:
        peer = self._plan.peer
        if own and not peer.answers:
            return
        if own and peer.marks and self._random.random() < peer.marks:
            pair.replies.append(pair.notification())
        pair.hear(packet, self._now, damaged=damaged)
        self._wake(station, pair)


def _destination(packet: Packet) -> bytes:
    return bytes(packet.ip[16:20] if packet.is_ipv4 else packet.ip[24:40])


def _flipped(frame: bytes, packet: Packet, random: Random) -> bytes:
    """The frame with one bit changed that the ICRC covers, and that leaves it a RoCE frame."""
    udp = len(packet.ip)
    bth = udp + len(packet.udp)
    end = bth + len(packet.bth) + len(packet.behind_bth) + len(packet.icrc)
    header = (*range(2, 8), *range(12, 20)) if packet.is_ipv4 else (4, 5, *range(8, 40))
    ends = (udp, udp + 1, udp + 4, udp + 5)
    places = (*header, *ends, *(at for at in range(bth, end) if at != bth + 4))
    at = len(packet.in_front) + random.choice(places)
    changed = bytearray(frame)
    changed[at] ^= 1 << random.randrange(8)
    return bytes(changed)
