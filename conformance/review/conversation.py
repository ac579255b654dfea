# SPDX-License-Identifier: BSD-2-Clause
"""A story by directions and messages: what one side of a comparison is made of.

Messages are known by what they carry, never by the numbers that a connection was
given, so that two captures of the same transfer have the same ones.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

from roceproof.conformance.review.story import Flow, Kind, Step
from roceproof.conformance.wire.headers import AtomicEth, ImmDt
from roceproof.conformance.wire.opcodes import Position

MANAGEMENT_QPN = 1


@dataclass(slots=True)
class Message:
    """The request packets of one message, repetitions included, in the order of capture."""

    life: int
    start: int
    steps: list[Step] = field(default_factory=list)
    index: int = 0
    """Its place in its direction."""

    @property
    def shape(self) -> tuple[object, int]:
        """The kind of work and its length."""
        first = self.steps[0]
        family = first.row.family if first.row else first.packet.bth.opcode
        reth = next((step.packet.reth for step in self.steps if step.packet.reth), None)
        return family, reth.length if reth else sum(len(s.packet.payload) for s in self._once)

    @property
    def content(self) -> tuple[object, int, tuple[object, ...]]:
        """The shape, and all that the application put in."""
        crc = 0
        operands: list[object] = []
        for step in self._once:
            crc = crc32(step.packet.payload, crc)
            operands += [
                header.value if isinstance(header, ImmDt) else (header.swap_or_add, header.compare)
                for header in step.packet.extensions
                if isinstance(header, (ImmDt, AtomicEth))
            ]
        return self.shape, crc, tuple(operands)

    @property
    def complete(self) -> bool:
        """Whether all its packets were captured."""
        packets = self._once
        last = packets[-1]
        ends = last.row is not None and bool(last.row.position & Position.LAST)
        return ends and (last.place or 0) == len(packets) - 1

    @property
    def _once(self) -> list[Step]:
        """Each packet once, in the order of PSNs."""
        packets = {step.place or 0: step for step in reversed(self.steps)}
        return [packets[place] for place in sorted(packets)]


@dataclass(slots=True)
class Direction:
    """What one flow carried: requests as messages, responses, and the rest."""

    flow: Flow
    service: int
    messages: list[Message] = field(default_factory=list)
    responses: list[Step] = field(default_factory=list)
    others: list[Step] = field(default_factory=list)
    first_ns: int = 0
    last_ns: int = 0
    packets: int = 0
    partner: Direction | None = None
    """The direction whose requests the responses here answer."""

    def message_at(self, life: int, psn: int) -> Message | None:
        """The message to which a request with that PSN belongs."""
        place = bisect_right(self.messages, (life, psn), key=lambda each: (each.life, each.start))
        found = self.messages[place - 1] if place else None
        return found if found is not None and found.life == life else None

    @property
    def first_psn(self) -> int | None:
        """The PSN of the first request on the wire, if there is one."""
        return self.messages[0].steps[0].packet.bth.psn if self.messages else None

    @property
    def path_mtu(self) -> int | None:
        """The longest payload of a packet that does not end its message."""
        lengths = [
            len(step.packet.payload)
            for steps in (self.responses, *(message.steps for message in self.messages))
            for step in steps
            if step.row is not None and step.row.name.endswith(("FIRST", "MIDDLE"))
        ]
        return max(lengths, default=None)


@dataclass
class Side:
    """All directions of a capture in the order in which they begin, without management."""

    directions: list[Direction]
    management: int
    """Packets to QP 1: how connections were made is not compared."""


def side_of(steps: Iterable[Step], counterparts: Mapping[Flow, Flow] | None = None) -> Side:
    """Bring a story into directions and messages."""
    found: dict[Flow, Direction] = {}
    messages: dict[tuple[Flow, int, int | None], Message] = {}
    management = 0
    for step in steps:
        if step.flow.qpn == MANAGEMENT_QPN:
            management += 1
            continue
        direction = found.get(step.flow)
        if direction is None:
            direction = found[step.flow] = Direction(
                step.flow, step.packet.bth.opcode >> 5, first_ns=step.time_ns
            )
        direction.last_ns = step.time_ns
        direction.packets += 1
        if step.kind is Kind.REQUEST and step.psn is not None:
            key = step.flow, step.life, step.message
            message = messages.get(key)
            if message is None:
                start = step.psn - (step.place or 0)
                message = messages[key] = Message(step.life, start)
                direction.messages.append(message)
            message.steps.append(step)
        elif step.kind is Kind.RESPONSE:
            direction.responses.append(step)
        else:
            direction.others.append(step)
    for flow, direction in found.items():
        direction.messages.sort(key=lambda message: (message.life, message.start))
        for index, message in enumerate(direction.messages):
            message.index = index
        other = (counterparts or {}).get(flow)
        direction.partner = found.get(other) if other is not None else None
    return Side(list(found.values()), management)
