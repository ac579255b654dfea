# SPDX-License-Identifier: BSD-2-Clause
"""How a station goes on from one of its QPs to the next, which P09 shows in.

A register that all share goes on, in the next QP, with the PSN that was due in the one before, and
gives no PSN to two of them. Only new requests count: what is repeated keeps its PSN.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from roceproof.conformance.diagnosis.observation import Station
from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.wire.psn import PSN_MODULUS

_LEAST_REQUESTS = 2
"""Of a queue pair of which no ICRC is right; one may be another's, and changed on the way."""


class _Turn(NamedTuple):
    """A new request among those of all QPs of its station, and the PSNs that may follow it."""

    number: int
    queue: int
    psn: int
    due: frozenset[int]
    stream: Stream


def meet_neighbours(streams: Sequence[Stream]) -> None:
    """Tell every stream where its station went on between its QPs as if they shared a register."""
    stations: dict[Station, list[_Turn]] = {}
    for stream in streams:
        if len(stream.requests) < _LEAST_REQUESTS and not stream.side.is_proven:
            continue
        turns = stations.setdefault(stream.side.station, [])
        for sent in (*stream.new, *stream.passed_over):
            due = frozenset((sent.psn + span) % PSN_MODULUS for span in stream.spans(sent))
            turns.append(_Turn(sent.number, stream.side.key.qpn, sent.psn, due, stream))
    for turns in stations.values():
        _meet(sorted(turns, key=lambda turn: turn.number))


def _meet(turns: Sequence[_Turn]) -> None:
    """The same for the turns of one station."""
    queues: dict[int, set[int]] = {}
    for turn in turns:
        queues.setdefault(turn.psn, set()).add(turn.queue)
    for before, after in pairwise(turns):
        joins = before.queue != after.queue and after.psn in before.due
        if joins and len(queues[before.psn]) == len(queues[after.psn]) == 1:
            before.stream.shared.add(before.number)
            after.stream.shared.add(after.number)
