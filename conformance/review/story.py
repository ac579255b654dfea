# SPDX-License-Identifier: BSD-2-Clause
"""A capture told packet by packet: who sent what to whom, counted from where the flow began.

PSNs are relative to the first request of their flow, those of responses to the
first request that they can answer; messages count from 1. So two captures of
the same traffic tell the same story although every QP starts at a random PSN.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

from roceproof.conformance.review.flow_book import PSN_MODULUS, FlowBook
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, has_room, parse_at
from roceproof.conformance.wire.framing import locate
from roceproof.conformance.wire.opcodes import OPCODES, Family, Opcode, Position

__all__ = [
    "PSN_MODULUS",
    "Flow",
    "Frame",
    "Kind",
    "Step",
    "drawable",
    "flow_name",
    "kind_of",
    "tell",
]


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
    lives: list[int] = []
    book = FlowBook()
    answers = {flow_name(flow): flow_name(other) for flow, other in (counterparts or {}).items()}
    for frame in frames:
        kept = keep is None or keep(frame.number)
        step = _read(frame, judged=kept)
        if step is None:
            continue
        life = _enter(step, book, answers)
        if kept:
            steps.append(step)
            lives.append(life)
    book.close()
    for step, life in zip(steps, lives, strict=True):
        if step.kind is Kind.REQUEST and step.psn is not None:
            step.message, start = book.message(life, step.psn)
            step.place = step.psn - start
    return steps


def drawable(frame: Frame) -> bool:
    """Whether `tell` makes a step of it."""
    layout = locate(frame.data)
    return layout is not None and has_room(frame.data, layout)


def flow_name(flow: Flow) -> bytes:
    """The flow as the wire tells it: both addresses and the QPN."""
    ends = ip_address(flow.source).packed + ip_address(flow.destination).packed
    return ends + flow.qpn.to_bytes(3, "big")


def _enter(step: Step, book: FlowBook, answers: Mapping[bytes, bytes]) -> int:
    """Give a request or a response its place in the flow; the number of its life, -1 without."""
    ip, bth = step.packet.ip, step.packet.bth
    name = ip.src + ip.dst + bth.dest_qpn.to_bytes(3, "big")
    if step.kind is Kind.REQUEST:
        opens = step.row is not None and bool(step.row.position & Position.FIRST)
        place = book.request(book.flow(name), bth.psn, opens=opens)
        step.life, step.psn, step.copy = place.ordinal, place.psn, place.copy
        return place.life
    if step.kind is Kind.RESPONSE and name in answers:
        answered = book.number_of(answers[name])
        found = None if answered is None else book.response(answered, bth.psn)
        if found is not None:
            step.life, step.psn = found
    return -1


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
    return Step(frame.number, frame.time_ns, flow, kind_of(row), packet, row, verdict)


@lru_cache(maxsize=4096)
def _text(address: bytes) -> str:
    return str(ip_address(address))


def kind_of(row: Opcode | None) -> Kind:
    """What part packets of an opcode play."""
    if row is None:
        return Kind.OTHER
    if row.family is Family.CONGESTION:
        return Kind.CNP
    return Kind.RESPONSE if row.is_response else Kind.REQUEST
