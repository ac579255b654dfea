# SPDX-License-Identifier: BSD-2-Clause
"""The same traffic from two devices, packet against packet.

Flows are paired in the order in which they begin, requests with requests of the
same service and responses with responses. Within a pair requests are aligned by
message, place in it and copy; responses by relative PSN and kind; CNPs by order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from roceproof.conformance.review.fields import FIELDS, Field, Origin, Value
from roceproof.conformance.review.story import Flow, Kind, Step


@dataclass(slots=True)
class FieldDifference:
    """One field that differs in some packets; the first of them as example."""

    field: Field
    packets: int
    frame_a: int
    frame_b: int
    value_a: Value
    value_b: Value


@dataclass(slots=True)
class TrackDifference:
    """What two paired tracks have in common and what not; frames count as in the captures."""

    kind: Kind
    flow_a: Flow | None
    flow_b: Flow | None
    aligned: int = 0
    only_a: list[int] = field(default_factory=list)
    only_b: list[int] = field(default_factory=list)
    copies_a: int = 0
    copies_b: int = 0
    differences: list[FieldDifference] = field(default_factory=list)

    @property
    def matters(self) -> bool:
        """Whether a receiver could behave differently; which requests are ACKed may vary."""
        lonely = self.kind is not Kind.RESPONSE and bool(self.only_a or self.only_b)
        return lonely or any(found.field.matters for found in self.differences)


@dataclass(slots=True)
class _Track:
    """The packets of one kind in one flow, by the key they are aligned by."""

    flow: Flow
    kind: Kind
    service: int
    steps: dict[Hashable, Step] = field(default_factory=dict)
    occurrences: Counter[Hashable] = field(default_factory=Counter)

    def add(self, step: Step) -> None:
        key = _key(step)
        self.steps[key, self.occurrences[key]] = step
        self.occurrences[key] += 1


def _key(step: Step) -> Hashable:
    match step.kind:
        case Kind.REQUEST:
            return step.life, step.message, step.place
        case Kind.RESPONSE:
            aeth = step.packet.aeth
            opcode = step.packet.bth.opcode
            return step.life, step.psn, opcode, aeth.syndrome >> 5 if aeth else None
        case _:
            return step.packet.bth.opcode


def compare(a: Iterable[Step], b: Iterable[Step]) -> list[TrackDifference]:
    """Compare two stories; one result for every pair of tracks, unpaired ones included."""
    tracks_a, tracks_b = _tracks(a), _tracks(b)
    groups = dict.fromkeys((*tracks_a, *tracks_b))
    found = []
    for group in groups:
        pairs = zip_longest(tracks_a.get(group, ()), tracks_b.get(group, ()))
        found += [_compare_tracks(group[0], one, other) for one, other in pairs]
    return found


def _tracks(steps: Iterable[Step]) -> dict[tuple[Kind, int], list[_Track]]:
    tracks: dict[tuple[Flow, Kind], _Track] = {}
    for step in steps:
        service = step.packet.bth.opcode >> 5
        track = tracks.setdefault((step.flow, step.kind), _Track(step.flow, step.kind, service))
        track.add(step)
    groups: dict[tuple[Kind, int], list[_Track]] = {}
    for track in tracks.values():
        groups.setdefault((track.kind, track.service), []).append(track)
    return groups


def _compare_tracks(kind: Kind, a: _Track | None, b: _Track | None) -> TrackDifference:
    steps_a = a.steps if a else {}
    steps_b = b.steps if b else {}
    found = TrackDifference(kind, a.flow if a else None, b.flow if b else None)
    found.only_a, found.copies_a = _lonely(steps_a, steps_b)
    found.only_b, found.copies_b = _lonely(steps_b, steps_a)
    pairs = [(steps_a[key], steps_b[key]) for key in steps_a if key in steps_b]
    found.aligned = len(pairs)
    found.differences = list(_differences(pairs))
    return found


def _lonely(steps: dict[Hashable, Step], others: dict[Hashable, Step]) -> tuple[list[int], int]:
    """Frames without a partner, and how many more were only retransmissions."""
    alone = [step for key, step in steps.items() if key not in others]
    first = [step.number for step in alone if not step.copy]
    return first, len(alone) - len(first)


def _differences(pairs: list[tuple[Step, Step]]) -> Iterator[FieldDifference]:
    origin_a, origin_b = Origin(), Origin()
    found: dict[str, FieldDifference] = {}
    for one, other in pairs:
        for row in FIELDS:
            value_a, value_b = row.read(one, origin_a), row.read(other, origin_b)
            if value_a == value_b:
                continue
            known = found.get(row.name)
            if known is None:
                found[row.name] = FieldDifference(
                    row, 1, one.number, other.number, value_a, value_b
                )
            else:
                known.packets += 1
    for row in FIELDS:
        if row.name in found:
            yield found[row.name]
