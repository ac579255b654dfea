# SPDX-License-Identifier: BSD-2-Clause
"""A capture told packet by packet: who sent what to whom, counted from where the flow began.

PSNs are relative to the first request of their flow, those of responses to the
first request that they can answer; messages count from 1. So two captures of
the same traffic tell the same story although every QP starts at a random PSN.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, has_room, parse_at
from roceproof.conformance.wire.framing import locate
from roceproof.conformance.wire.opcodes import OPCODES, Family, Opcode, Position

PSN_MODULUS = 1 << 24
HALF = PSN_MODULUS // 2
_RESTART = 1 << 16  # a message that begins farther off belongs to a QP set up anew


class Kind(StrEnum):
    """What part a packet plays in its flow."""

    REQUEST = "request"
    RESPONSE = "response"
    CNP = "CNP"
    OTHER = "other"


class Flow(NamedTuple):
    """One direction of one QP: source and destination as text, and the destination QPN."""

    source: str
    destination: str
    qpn: int

    def __str__(self) -> str:
        return f"{self.source} > {self.destination} QP {self.qpn:#x}"


class Frame(NamedTuple):
    """What a story is told from: one captured frame and its place in the file."""

    number: int
    time_ns: int
    data: bytes
    full_size: int


@dataclass(slots=True)
class Step:
    """One RoCE packet. `psn` is relative, None where no request tells what it is relative to."""

    number: int
    time_ns: int
    flow: Flow
    kind: Kind
    packet: Packet
    row: Opcode | None
    icrc_ok: bool | None  # None: not all bytes were captured
    life: int = 0  # how often the QP was set up anew before this packet
    psn: int | None = None
    message: int | None = None  # requests, counted from 1 in the order of PSNs
    place: int | None = None  # PSNs since the message began
    copy: int = 0  # how often a request with this PSN was seen before


@dataclass(slots=True)
class _Life:
    """The requests of a flow from one set-up of its QP to the next; PSNs do not wrap here."""

    first_psn: int
    newest: int = 0
    seen: dict[int, int] = field(default_factory=dict)
    """How often each PSN was sent."""
    starts: list[int] = field(default_factory=list)

    def unwrapped(self, psn: int) -> int:
        """The PSN relative to the first, in the lap that is nearest to the newest."""
        step = (psn - self.first_psn - self.newest + HALF) % PSN_MODULUS - HALF
        return self.newest + step


def tell(
    frames: Iterable[Frame],
    counterparts: Mapping[Flow, Flow] | None = None,
    *,
    keep: Callable[[int], bool] | None = None,
) -> list[Step]:
    """A step for every RoCE packet whose transport header was captured.

    `counterparts` names for a flow the one whose requests its responses answer.
    `keep` chooses by frame number which steps are returned; the others count,
    but take no memory.
    """
    steps: list[Step] = []
    lives: dict[Flow, list[_Life]] = {}
    for frame in frames:
        kept = keep is None or keep(frame.number)
        step = _read(frame, judged=kept)
        if step is None:
            continue
        if step.kind is Kind.REQUEST:
            _enter(step, lives.setdefault(step.flow, []))
        elif step.kind is Kind.RESPONSE:
            answered = lives.get((counterparts or {}).get(step.flow, step.flow))
            if counterparts and step.flow in counterparts and answered:
                step.life = len(answered) - 1
                step.psn = answered[-1].unwrapped(step.packet.bth.psn)
        if kept:
            steps.append(step)
    for step in steps:
        if step.kind is Kind.REQUEST and step.psn is not None:
            starts = lives[step.flow][step.life].starts
            step.message = bisect_right(starts, step.psn)
            step.place = step.psn - (starts[step.message - 1] if step.message else 0)
    return steps


def drawable(frame: Frame) -> bool:
    """Whether `tell` makes a step of it."""
    layout = locate(frame.data)
    return layout is not None and has_room(frame.data, layout)


def _enter(step: Step, lives: list[_Life]) -> None:
    """Give a request its place in the flow."""
    psn = step.packet.bth.psn
    opens = step.row is not None and bool(step.row.position & Position.FIRST)
    if not lives or (opens and abs(lives[-1].unwrapped(psn) - lives[-1].newest) > _RESTART):
        lives.append(_Life(psn))
    life = lives[-1]
    step.life = len(lives) - 1
    step.psn = life.unwrapped(psn)
    step.copy = life.seen.get(step.psn, 0)
    life.seen[step.psn] = step.copy + 1
    life.newest = max(life.newest, step.psn)
    if opens and not step.copy:
        insort(life.starts, step.psn)


def _read(frame: Frame, *, judged: bool) -> Step | None:
    layout = locate(frame.data)
    packet = parse_at(frame.data, layout) if layout else None
    if layout is None or packet is None:
        return None
    ip = packet.ip
    flow = Flow(_text(ip.src), _text(ip.dst), packet.bth.dest_qpn)
    whole = judged and layout.fault is None and layout.end <= len(frame.data)
    verdict = packet.icrc == icrc.compute_at(frame.data, layout) if whole else None
    row = OPCODES.get(packet.bth.opcode)
    return Step(frame.number, frame.time_ns, flow, _kind(row), packet, row, verdict)


@lru_cache(maxsize=4096)
def _text(address: bytes) -> str:
    return str(ip_address(address))


def _kind(row: Opcode | None) -> Kind:
    if row is None:
        return Kind.OTHER
    if row.family is Family.CONGESTION:
        return Kind.CNP
    return Kind.RESPONSE if row.is_response else Kind.REQUEST
