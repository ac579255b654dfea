# SPDX-License-Identifier: BSD-2-Clause
"""The first PSN of a connection: P01, P02, P10; P20 where nothing tells which end is wrong."""

from __future__ import annotations

from typing import NamedTuple

from roceproof.conformance.diagnosis.psn_stream import Stream
from roceproof.conformance.diagnosis.psn_timeline import PSN_MODULUS, Side, distance

_FAR = 1 << 8


class Start(NamedTuple):
    """Ids that explain the first PSN (none: it is wrong, and why is open) and what was expected."""

    ids: tuple[str, ...]
    expected: int


def judge_start(stream: Stream, earlier: list[Stream]) -> Start | None:
    """None if the first PSN is right, or nothing says that it is not."""
    side, first = stream.side, stream.first.psn
    expected = side.start if side.start is not None else _asked_for(stream)
    if expected is None or any(sent.psn == expected for sent in side.requests):
        return None  # it may have been lost in front of the capture the first time
    offset = distance(first, expected)
    ids = []
    if first in (side.other_start, _first_of(side.counterpart)):
        ids.append("P01")
    if offset in (1, -1):
        ids.append("P02")
        if side.start is None:
            ids.append("P20")
    if any(_goes_on(stream, other) for other in earlier):
        ids.append("P10")
    return Start(tuple(ids), expected)


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
