# SPDX-License-Identifier: BSD-2-Clause
"""The first PSN of a connection: P01, P02, P10; P20 where nothing tells which end is wrong."""

from __future__ import annotations

from typing import NamedTuple

from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import ACKNOWLEDGE, PSN_MODULUS, Side, distance
from roceproof.conformance.wire.opcodes import Family, Position


class Start(NamedTuple):
    """Ids that explain the first PSN (none: it is wrong, and why is open) and what was expected."""

    ids: tuple[str, ...]
    expected: int
    responder: bool = False
    """Whether it is the responder that is at fault."""


def judge_start(stream: Stream, earlier: list[Stream]) -> Start | None:
    """None if the first PSN is right, or nothing says that it is not."""
    side, first = stream.side, stream.first.psn
    asked = _asked_for(stream)
    if side.start == first:
        unexpected = asked is not None and distance(first, asked) == 1
        if unexpected or _taken_for_duplicate(stream):
            return Start(("P20",), first, responder=True)
        return None
    expected = side.start if side.start is not None else asked
    if expected is None and _taken_for_duplicate(stream):
        expected = (first + 1) % PSN_MODULUS
    if expected is None or _lost_before(stream, expected):
        return None
    offset = distance(first, expected)
    ids = []
    if first in (side.other_start, _first_of(side.counterpart)):
        ids.append("P01")
    if first == int.from_bytes(expected.to_bytes(3, "big"), "little"):
        ids.append("P15")
    if offset in (1, -1):
        ids.append("P02")
        if side.start is None:
            ids.append("P20")
    if any(_goes_on(stream, other) for other in earlier):
        ids.append("P10")
    return Start(tuple(ids), expected)


def follows_the_peer(stream: Stream) -> bool:
    """P25 with one register for both: the QP goes on behind the request it received last."""
    other = stream.side.counterpart
    received = [
        sent for sent in (other.requests if other else ()) if sent.number < stream.first.number
    ]
    return bool(received) and distance(stream.first.psn, received[-1].psn) == 1


def _taken_for_duplicate(stream: Stream) -> bool:
    """Whether the first message is acknowledged, but not counted in MSN."""
    first = stream.first
    whole = first.row.position == Position.ONLY and first.row.family is not Family.READ
    reply = next((each for each in stream.side.answers if each.number > first.number), None)
    if not whole or reply is None or reply.opcode != ACKNOWLEDGE or not reply.is_positive:
        return False
    return reply.msn == 0 and reply.psn == first.psn


def _lost_before(stream: Stream, expected: int) -> bool:
    """Whether the network lost the true first packets, and they came later."""
    behind = distance(stream.first.psn, expected) > 0
    return behind and any(sent.psn == expected for sent in stream.requests)


def _asked_for(stream: Stream) -> int | None:
    """The PSN that the peer asks for before it has acknowledged anything."""
    for reply in stream.side.answers:
        if reply.number > stream.first.number:
            behind = reply.is_sequence_nak and distance(reply.psn, stream.first.psn) < 0
            return reply.psn if behind else None
    return None


def _first_of(side: Side | None) -> int | None:
    return side.requests[0].psn if side and side.requests else None


def _goes_on(stream: Stream, other: Stream) -> bool:
    """Whether the stream begins where an earlier one of the same transmitter ended."""
    a, b = stream.side.key, other.side.key
    if (a.interface, a.source) != (b.interface, b.source) or other is stream:
        return False
    last = [sent for sent in other.side.requests if sent.number < stream.first.number]
    if not last or any(sent.number > stream.first.number for sent in other.side.requests):
        return False
    newest = last[-1]
    return (newest.psn + (other.span(newest) or 1)) % PSN_MODULUS == stream.first.psn
