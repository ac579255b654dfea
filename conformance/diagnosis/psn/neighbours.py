# SPDX-License-Identifier: BSD-2-Clause
"""How a station goes on from one of its QPs to the next, which P09 shows in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from roceproof.conformance.diagnosis.observation import Station
from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import PSN_MODULUS, Turn


def meet_neighbours(streams: Sequence[Stream]) -> None:
    """Tell every side how its station went on between its QPs."""
    stations: dict[Station, list[Turn]] = {}
    for stream in streams:
        turns = stations.setdefault(stream.side.station, [])
        for sent in stream.requests:
            due = (sent.psn + (stream.span(sent) or 1)) % PSN_MODULUS
            turns.append(Turn(sent.number, stream.side.key.qpn, sent.psn, due))
    found: dict[tuple[Station, int], tuple[int, int]] = {}
    for station, turns in stations.items():
        turns.sort()
        for before, after in pairwise(turns):
            if before.queue != after.queue:
                for queue in (before.queue, after.queue):
                    crossings, joined = found.get((station, queue), (0, 0))
                    joins = before.due == after.psn
                    found[station, queue] = crossings + 1, joined + joins
    for stream in streams:
        side = stream.side
        side.crossings = found.get((side.station, side.key.qpn), (0, 0))
