# SPDX-License-Identifier: BSD-2-Clause
"""Views of a played capture for the tests of planted PSN faults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from roceproof.conformance.faults.conversation.traffic import Capture, Conversation
from roceproof.conformance.faults.psn_catalogue import captures
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.opcodes import OPCODES, Family, Opcode, Position
from roceproof.verbs.service import Service

MASK = 0xFFFFFF


class Seen(NamedTuple):
    """One packet with its opcode's row."""

    index: int
    packet: Packet
    row: Opcode

    @property
    def psn(self) -> int:
        return self.packet.bth.psn

    @property
    def closes(self) -> bool:
        return bool(self.row.position & Position.LAST)


class Stream(NamedTuple):
    """The requests of one end, the responses to them, and what the end was configured with."""

    facts: dict[str, object]
    requests: list[Seen]
    responses: list[Seen]

    @property
    def steps(self) -> list[tuple[Seen, int]]:
        """Each request but the last with the distance to the next one's PSN."""
        pairs = zip(self.requests, self.requests[1:], strict=False)
        return [(one, (two.psn - one.psn) & MASK) for one, two in pairs]


def streams(capture: Capture, *, side: int = 0) -> list[Stream]:
    """One stream for each end at that side."""
    packets = [
        Seen(index, packet, OPCODES[packet.bth.opcode])
        for index, (_, frame) in enumerate(capture.frames)
        if (packet := parse(frame)) is not None and packet.bth.opcode != 0x81
    ]
    return [
        Stream(
            row,
            [s for s in packets if not s.row.is_response and s.packet.bth.dest_qpn == far],
            [s for s in packets if s.row.is_response and s.packet.bth.dest_qpn == near],
        )
        for row in capture.facts["qps"][side::2]
        for near, far in [(row["qpn"], row["remote_qpn"])]
    ]


@cache
def planted(fault: str, variant: int = 0, **options: object) -> list[Stream]:
    """The faulty station's streams of the last run."""
    made = captures(fault, replace(Conversation(), **options), variant=variant)  # type: ignore[arg-type]
    return streams(made[-1])


def on_uc(fault: str, variant: int = 0, **options: object) -> list[Stream]:
    """As `planted`, where no peer answers and so the sender's own pattern stands alone."""
    return planted(fault, variant, services=(Service.UC,), messages=(40, 0), **options)


def messages(stream: Stream) -> Iterator[list[Seen]]:
    """The requests message by message."""
    message: list[Seen] = []
    for seen in stream.requests:
        message.append(seen)
        if seen.closes:
            yield message
            message = []


def is_read(seen: Seen) -> bool:
    return seen.row.family is Family.READ
