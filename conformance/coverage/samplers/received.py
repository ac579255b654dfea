# SPDX-License-Identifier: BSD-2-Clause
"""Frames that come to the device: answers to it, requests, and what is neither."""

from roceproof.conformance.coverage.frame_peek import Glimpse
from roceproof.conformance.coverage.queue_pairs import Answer, QueuePair
from roceproof.conformance.coverage.samplers.sampler import Life, Sampler
from roceproof.conformance.targets.bus_events import Received
from roceproof.conformance.wire.framing import (
    ETHER_IPV4,
    ETHER_IPV6,
    ETHER_VLAN,
    payload_of_ethernet,
)
from roceproof.conformance.wire.opcodes import OPCODES

ANSWERS = ("ACK", "RNR NAK", "reserved", "NAK")
"""By bits 6:5 of a syndrome."""

_ARP, _ICMP, _UDP = 0x0806, 1, 17
_ACKNOWLEDGE, _ATOMIC_ACK, _CNP = 0x11, 0x12, 0x81


class ReceivedSampler(Sampler):
    """Kinds and neighbours of all frames, and what answers say."""

    def __init__(self, life: Life) -> None:
        super().__init__(life)
        ranges = life.table.ranges
        self._bytes, self._gap, self._burst = ranges("frame_bytes"), ranges("gap"), ranges("burst")
        self._trailer, self._delay = ranges("trailer"), ranges("delay")
        self._done = ranges("completed")
        self._before = ""
        self._time = 0
        self._in_burst = 0

    def received(
        self, movement: Received, seen: Glimpse | None, qp: QueuePair | None, answer: Answer | None
    ) -> None:
        frame, width = movement.frame, self.life.width
        condition = _condition(movement, seen)
        self.add("received.kind", _kind(frame, seen))
        self.add("received.bytes", width, self._bytes.of(len(frame)))
        if seen is not None:
            self.add("received.qpn", self.life.queue_pairs.relation(seen.dest_qpn))
            trailer = self._trailer.of(seen.trailer)
            self.add("received.icrc", "right" if seen.is_sound else "wrong", trailer)
        if self.life.lanes:
            self._among_neighbours(movement, condition)
            self.add("received.last_lane", width, (len(frame) - 1) % self.life.lanes)
        self._before = condition
        if seen is not None and answer is not None and seen.syndrome >= 0:
            self._answered(movement, seen, answer)

    def _among_neighbours(self, movement: Received, condition: str) -> None:
        width = self.life.width
        beats = -(-len(movement.frame) // self.life.lanes)
        gap = max(0, movement.time - beats - self._time)
        self._time = movement.time
        if self.life.flow.rx_gap:
            self._in_burst = 0
            return
        self._in_burst = self._in_burst + 1 if gap == 0 else 1
        self.add("depth.burst", width, self._burst.of(self._in_burst))
        if self._before:
            between = self._gap.of(gap)
            self.add("received.neighbours", width, self._before, condition, between)

    def _answered(self, movement: Received, seen: Glimpse, answer: Answer) -> None:
        kind = ANSWERS[seen.syndrome >> 5 & 3]
        width = self.life.width
        self.add("answer.syndrome", kind, seen.syndrome & 31)
        self.add("answer.place", kind, answer.place)
        if kind == "ACK":
            self.add("answer.completes", width, self._done.of(answer.completed))
        if answer.departed is not None:
            behind = self._delay.of(movement.time - answer.departed)
            self.add("answer.delay", width, kind, behind)


def _condition(movement: Received, seen: Glimpse | None) -> str:
    if movement.is_damaged:
        return "damaged"
    if seen is None:
        return "no RoCE"
    return "good" if seen.is_sound else "bad ICRC"


def _kind(frame: bytes, seen: Glimpse | None) -> str:
    if seen is None:
        return _kind_of_other(frame)
    if seen.opcode == _ACKNOWLEDGE:
        return "ACKNOWLEDGE"
    if seen.opcode == _ATOMIC_ACK:
        return "ATOMIC ACK"
    if seen.opcode == _CNP:
        return "CNP"
    if seen.is_response:
        return "READ RESP"
    return "request" if seen.opcode in OPCODES else "reserved opcode"


def _kind_of_other(frame: bytes) -> str:
    if int.from_bytes(frame[12:14]) in ETHER_VLAN:
        return "VLAN"
    link = payload_of_ethernet(frame)
    if link is None:
        return "not IP"
    ether_type, ip = link
    if ether_type == _ARP:
        return "ARP"
    if ether_type == ETHER_IPV6:
        return "IPv6"
    if ether_type != ETHER_IPV4 or len(frame) < ip + 20:
        return "not IP"
    return {_ICMP: "ICMP", _UDP: "other UDP"}.get(frame[ip + 9], "other IP")
