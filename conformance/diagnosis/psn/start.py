# SPDX-License-Identifier: BSD-2-Clause
"""The first PSN of a connection: P01, P02, P10; P20 where nothing tells which end is wrong."""

from collections.abc import Sequence
from typing import NamedTuple

from roceproof.conformance.diagnosis.observation import Station
from roceproof.conformance.diagnosis.psn.events import follows_received
from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import ACKNOWLEDGE, Side, behind
from roceproof.conformance.diagnosis.result import LOST
from roceproof.conformance.wire.opcodes import Family, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, distance

_LARGEST_GAP = 64
_LEAST_LAGS = 3
"""Of fewer connections the first message may have been lost behind the capture."""
_ENDS_OF_READS = (0x0F, 0x10)
_CLOSING = (ACKNOWLEDGE, *_ENDS_OF_READS)
MISCOUNTED = "MSN-02"
"""A responder that takes the first message, and does not count it."""


class Start(NamedTuple):
    """Ids that explain the first PSN (none: it is wrong, and why is open) and what was expected."""

    ids: tuple[str, ...]
    expected: int
    responder: bool = False
    """Whether it is the responder that is at fault."""


class Ends:
    """Where the requests of each transmitter's QPs ended, for good."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._first: dict[tuple[int, bytes, int], int] = {}
        """By transmitter and due PSN, the earliest frame behind which it was due."""
        for stream in streams:
            newest = stream.side.requests[-1]
            due = (newest.psn + (stream.span(newest) or 1)) % PSN_MODULUS
            key = stream.side.key.interface, stream.side.key.source, due
            self._first[key] = min(newest.number, self._first.get(key, newest.number))
        self._right = {s.side.station for s in streams if s.side.start == s.first.psn}
        self._lags: dict[Station, list[int]] = {}
        """By responder, how many messages fewer than were sent it counts in each connection."""
        for stream in streams:
            other = stream.side.counterpart
            if other is None or any(sent.damaged for sent in stream.requests):
                continue
            if (lag := stream.completed.uncounted) is not None:
                self._lags.setdefault(other.station, []).append(lag)

    def continued_by(self, stream: Stream) -> bool:
        """Whether the stream begins where an earlier one of the same transmitter ended."""
        key = stream.side.key.interface, stream.side.key.source, stream.first.psn
        return self._first.get(key, stream.first.number) < stream.first.number

    def others_are_right(self, stream: Stream) -> bool:
        """Whether its transmitter begins another one as configured."""
        return stream.side.station in self._right

    def misses_first(self, stream: Stream) -> bool:
        """Whether its responder counts a message too few in all of several connections."""
        other = stream.side.counterpart
        lags = self._lags.get(other.station, []) if other else []
        return len(lags) >= _LEAST_LAGS and {*lags} == {1} and stream.completed.uncounted == 1


def judge_start(stream: Stream, ends: Ends) -> Start | None:
    """None if the first PSN is right, or nothing says that it is not."""
    side, first = stream.side, stream.first.psn
    if stream.first is not stream.requests[0] or (stream.first.damaged and not stream.requests[1:]):
        return None  # nobody knows where it began
    asked = _asked_for(stream)
    if side.start == first:
        unexpected = asked is not None and distance(first, asked) == 1
        miscounted = _taken_for_duplicate(stream) or ends.misses_first(stream)
        if unexpected or miscounted:
            either = (MISCOUNTED,) if miscounted and not unexpected else ()
            return Start(("P20", *either), first, responder=True)
        return None
    expected = side.start if side.start is not None else asked
    taken_for_duplicate = expected is None and _taken_for_duplicate(stream)
    if taken_for_duplicate:
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
    if taken_for_duplicate:
        ids.append(MISCOUNTED)
    if ends.continued_by(stream):
        ids += ["P10", "P09"]
    elif stream.first.number in stream.shared or ("P02" in ids and ends.others_are_right(stream)):
        ids.append("P09")
    if 0 < offset <= behind(side.replies, stream.first.number):
        ids.append("P06")
    if follows_the_peer(stream):
        ids.append("P25")
    if 0 < offset <= _LARGEST_GAP:
        ids.insert(0 if asked is None else len(ids), LOST)
    return Start(tuple(ids), expected)


def follows_the_peer(stream: Stream) -> bool:
    """P25 with one register for both: the QP goes on behind the request it received last."""
    return not stream.first.damaged and follows_received(stream, stream.first)


def _taken_for_duplicate(stream: Stream) -> bool:
    """Whether the first message is acknowledged, but not counted in MSN."""
    first = stream.first
    opcodes = _ENDS_OF_READS if first.row.family is Family.READ else (ACKNOWLEDGE,)
    span = stream.span(first)
    answers = (each for each in stream.side.answers if each.number > first.number)
    reply = next((each for each in answers if each.opcode in _CLOSING), None)
    if first.row.position != Position.ONLY or reply is None or span is None:
        return False
    if reply.opcode not in opcodes or not reply.is_positive or reply.msn != 0:
        return False
    if distance(reply.psn, first.psn) != span - 1:
        return False
    return not stream.completed.counts_nothing


def _lost_before(stream: Stream, expected: int) -> bool:
    """Whether the network lost the true first packets, as what follows or comes later shows."""
    missing = distance(stream.first.psn, expected)
    if missing <= 0:
        return False
    inside = not stream.first.row.position & Position.FIRST and not stream.side.messages_are_odd
    torn = inside and missing <= _LARGEST_GAP
    return torn or any(sent.psn == expected for sent in stream.requests)


def _asked_for(stream: Stream) -> int | None:
    """The PSN that the peer asks for before it has acknowledged anything."""
    for reply in stream.side.answers:
        if reply.number > stream.first.number:
            behind = reply.is_sequence_nak and distance(reply.psn, stream.first.psn) < 0
            return reply.psn if behind else None
    return None


def _first_of(side: Side | None) -> int | None:
    return side.requests[0].psn if side and side.requests else None
