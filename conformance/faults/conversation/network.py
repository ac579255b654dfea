# SPDX-License-Identifier: BSD-2-Clause
"""A link between two stations in simulated time, with a tap at the first one.

What the first station sends is seen by the tap before anything can happen to
it; what the second one sends passes a switch first, which may mark it CE or
lose it unseen. Both may be lost behind the tap, too.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple, Protocol

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.framing import locate
from roceproof.conformance.wire.ip import Ipv4, checksum
from roceproof.conformance.wire.opcodes import Transport

_BITS_PER_NS = 25
_GAP_BYTES = 24  # preamble, FCS and inter-packet gap
_PROPAGATION_NS = 2_000
_CE, _ECT = 3, (1, 2)


class TimedFrame(NamedTuple):
    """A frame with the time at which the tap saw it."""

    time_ns: int
    frame: bytes


class Fate(Enum):
    """What becomes of one packet on its way, apart from chance."""

    DELIVERED = auto()
    LOST = auto()
    CORRUPTED = auto()


class Sending(NamedTuple):
    """A packet that a source hands to its port."""

    packet: Packet
    fate: Fate = Fate.DELIVERED


class Receive(Protocol):
    """What a station does with a packet that arrives."""

    def __call__(self, packet: Packet, *, corrupted: bool) -> None:
        """Take the packet; a corrupted one has a wrong ICRC."""


class Transmit(Protocol):
    """A stage behind the right transmitter that may corrupt what leaves."""

    def __call__(self, time_ns: int, frame: bytes) -> bytes:
        """The frame that leaves in place of the right one."""


class Source(Protocol):
    """Something that has packets to send now and then."""

    def next_packet(self, now: int) -> Sending | None:
        """The packet to send now, if there is one."""


class Network:
    """The clock, the link and the tap."""

    def __init__(self, *, loss: float, unseen_loss: float, ce_rate: float, seed: int) -> None:
        self.now = 0
        self.seen: list[TimedFrame] = []
        self._random = Random(seed)
        self._loss = loss
        self._unseen_loss = unseen_loss
        self._ce_rate = ce_rate
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        self._entries = 0

    def at(self, time: int, action: Callable[[], None]) -> None:
        """Do something at a time, in the order of asking where times are equal."""
        self._entries += 1
        heappush(self._agenda, (max(time, self.now), self._entries, action))

    def run(self) -> list[TimedFrame]:
        """Play until nothing is left to happen; what the tap saw."""
        while self._agenda:
            self.now, _, action = heappop(self._agenda)
            action()
        return self.seen

    def lost(self) -> bool:
        """Whether the next packet gets lost."""
        return self._random.random() < self._loss

    def lost_unseen(self, packet: Packet) -> bool:
        """Whether the switch loses it; RC only, for on UC it would look like a sender's fault."""
        reliable = packet.bth.opcode >> 5 == Transport.RC
        return reliable and self._random.random() < self._unseen_loss

    def through_switch(self, packet: Packet) -> Packet:
        """The packet behind a switch that may be congested."""
        if self._random.random() >= self._ce_rate:
            return packet
        header = packet.ip
        if isinstance(header, Ipv4):
            marked = header.tos & 3 in _ECT
            return replace(packet, ip=replace(header, tos=header.tos | _CE)) if marked else packet
        marked = header.traffic_class & 3 in _ECT
        ce = replace(header, traffic_class=header.traffic_class | _CE)
        return replace(packet, ip=ce) if marked else packet


class Port:
    """A station's transmitter: takes one packet at a time from its sources in turn."""

    def __init__(self, network: Network, *, at_tap: bool, transmit: Transmit | None = None) -> None:
        self.network = network
        self.at_tap = at_tap
        self._transmit = transmit
        self.receive: Receive
        self.peer: Port
        self._sources: deque[Source] = deque()
        self._free_at = 0

    def attach(self, source: Source) -> None:
        """Let a source send through this port."""
        self._sources.append(source)

    def wake(self, time: int) -> None:
        """Look at the sources again at that time."""
        self.network.at(time, self._serve)

    def _serve(self) -> None:
        now = self.network.now
        if now < self._free_at:
            return
        for _ in range(len(self._sources)):
            source = self._sources[0]
            self._sources.rotate(-1)
            sending = source.next_packet(now)
            if sending is not None:
                self._send(*sending)
                return

    def _send(self, packet: Packet, fate: Fate) -> None:
        network = self.network
        if not self.at_tap:
            packet = network.through_switch(packet)
        right = frame = build(packet)
        if self._transmit is not None:
            frame = self._transmit(network.now, frame)
        self._free_at = network.now + (len(frame) + _GAP_BYTES) * 8 // _BITS_PER_NS
        self.wake(self._free_at)
        if self.at_tap:
            network.seen.append(TimedFrame(network.now, frame))
            lost = network.lost()
        else:
            lost = network.lost_unseen(packet)
        if fate is Fate.LOST or lost:
            return
        if fate is Fate.CORRUPTED:
            frame = _corrupted(frame)
        arrival = self._free_at + _PROPAGATION_NS
        network.at(arrival, lambda: self._arrive(packet, frame, right))

    def _arrive(self, packet: Packet, frame: bytes, right: bytes) -> None:
        network = self.network
        if not self.at_tap:
            network.seen.append(TimedFrame(network.now, frame))
            if network.lost():
                return
        if frame == right:
            self.peer.receive(packet, corrupted=False)
        elif _reaches_roce(frame):
            sound = icrc.check(frame).judgement is icrc.Judgement.OK
            self.peer.receive(packet, corrupted=not sound)


def _reaches_roce(frame: bytes) -> bool:
    """Whether the IP layer of the receiver lets the packet through."""
    layout = locate(frame)
    if layout is None or layout.fault is not None:
        return False
    return layout.version == 6 or checksum(frame[layout.ip : layout.udp]) == 0


def _corrupted(frame: bytes) -> bytes:
    """The frame with one bit of its ICRC flipped."""
    layout = locate(frame)
    assert layout is not None
    at = layout.end - 1
    return frame[:at] + bytes((frame[at] ^ 1,)) + frame[at + 1 :]
