# SPDX-License-Identifier: BSD-2-Clause
"""The same traffic from two devices, packet against packet.

Connections are paired by what was said over them, messages by what they carry,
requests by their place in the message and by repetition, responses by the request
that they answer; CNPs by order. Where the path MTUs differ, packets have no
partners but the first of each message, and fields that follow from the cut are
left out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from roceproof.conformance.review.conversation import Direction, Side, side_of
from roceproof.conformance.review.field_values import Origin, Value
from roceproof.conformance.review.fields import FIELDS, MESSAGE_CONTENT, MESSAGE_LENGTH, Field
from roceproof.conformance.review.message_alignment import Aligned, align
from roceproof.conformance.review.packet_alignment import (
    Partners,
    partners_in_order,
    partners_of_first_packets,
    partners_of_requests,
    partners_of_responses,
)
from roceproof.conformance.review.pairing import pair
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
    compared: dict[str, int] = field(default_factory=dict)
    """How many pairs of packets have each field that differs somewhere."""

    @property
    def matters(self) -> bool:
        """Whether a receiver could behave differently; which requests are ACKed may vary."""
        lonely = self.kind is not Kind.RESPONSE and bool(self.only_a or self.only_b)
        return lonely or any(found.field.matters for found in self.differences)


@dataclass(slots=True)
class Comparison:
    """All tracks, and what is told of connections as a whole."""

    tracks: list[TrackDifference]
    a: Side
    b: Side
    pairs: list[tuple[Direction, Direction]]
    preamble_a: list[Direction]
    preamble_b: list[Direction]
    """Directions that ended before anything compared began: another story."""
    path_mtus: list[tuple[int, int]]
    """Of each pair of directions that differs in it."""
    same_start: tuple[bool, bool]
    """Of each side: whether requests of both directions begin at one PSN, always."""

    @property
    def matters(self) -> bool:
        """Whether a receiver could behave differently."""
        return any(track.matters for track in self.tracks)


def compare(
    a: Iterable[Step],
    b: Iterable[Step],
    counterparts_a: Mapping[Flow, Flow] | None = None,
    counterparts_b: Mapping[Flow, Flow] | None = None,
) -> Comparison:
    """Compare two stories, told with the flows that answer one another."""
    side_a, side_b = side_of(a, counterparts_a), side_of(b, counterparts_b)
    every = pair(side_a, side_b)
    pairs = [(one, other) for one, other in every if one is not None and other is not None]
    begun_a = min((one.first_ns for one, _ in pairs), default=0)
    begun_b = min((other.first_ns for _, other in pairs), default=0)
    found = Comparison([], side_a, side_b, pairs, [], [], [], (False, False))
    answered: dict[tuple[int, int], _Answered] = {}
    for mine, yours in pairs:
        if _cut_differently(mine, yours):
            found.path_mtus.append((mine.path_mtu or 0, yours.path_mtu or 0))
        found.tracks += _requests(mine, yours, answered)
    for one, other in every:
        if one is not None and other is not None:
            found.tracks += _other_tracks(one, other, answered)
        elif one is not None and one.last_ns < begun_a:
            found.preamble_a.append(one)
        elif other is not None and other.last_ns < begun_b:
            found.preamble_b.append(other)
        else:
            found.tracks += _alone(one, other)
    found.same_start = (
        _starts_alike([one for one, _ in pairs]),
        _starts_alike([other for _, other in pairs]),
    )
    return found


def _starts_alike(directions: list[Direction]) -> bool:
    starts = [
        (each.first_psn, each.partner.first_psn)
        for each in directions
        if each.first_psn is not None and each.partner is not None
    ]
    starts = [both for both in starts if both[1] is not None]
    return bool(starts) and all(mine == theirs for mine, theirs in starts)


class _Answered(NamedTuple):
    """What tells which request of two directions a response answers."""

    shifts: dict[int, int]
    messages: list[Aligned] | None
    """Where they are cut into packets differently."""


def _requests(
    one: Direction, other: Direction, answered: dict[tuple[int, int], _Answered]
) -> Iterator[TrackDifference]:
    """The track of the requests; what their responses need goes to `answered`."""
    if not (one.messages or other.messages):
        return
    messages = align(one.messages, other.messages) if _cut_differently(one, other) else None
    if messages is None:
        partners = partners_of_requests(one, other)
    else:
        partners = partners_of_first_packets(messages)
    if one.partner is not None:
        answered[id(one), id(other)] = _Answered(partners.shifts, messages)
    track = _compare(Kind.REQUEST, one, other, partners, leave_out=messages is not None)
    track.differences += _messages(messages or (), track.compared)
    yield track


def _other_tracks(
    one: Direction, other: Direction, answered: Mapping[tuple[int, int], _Answered]
) -> Iterator[TrackDifference]:
    if one.responses or other.responses:
        asked = answered.get((id(one.partner), id(other.partner)), _Answered({}, None))
        partners = partners_of_responses(one, other, *asked)
        cut = asked.messages is not None or _cut_differently(one, other)
        yield _compare(Kind.RESPONSE, one, other, partners, leave_out=cut)
    for kind in (Kind.CNP, Kind.OTHER):
        partners = partners_in_order(one, other, kind)
        if partners.pairs or partners.only_a or partners.only_b:
            yield _compare(kind, one, other, partners, leave_out=False)


def _cut_differently(one: Direction, other: Direction) -> bool:
    mtus = one.path_mtu, other.path_mtu
    return None not in mtus and mtus[0] != mtus[1]


def _alone(one: Direction | None, other: Direction | None) -> Iterator[TrackDifference]:
    for kind in Kind:
        frames = [[s.number for s in _steps(each, kind)] for each in (one, other)]
        if any(frames):
            flows = one.flow if one else None, other.flow if other else None
            yield TrackDifference(kind, *flows, only_a=frames[0], only_b=frames[1])


def _steps(direction: Direction | None, kind: Kind) -> list[Step]:
    if direction is None:
        return []
    if kind is Kind.REQUEST:
        return [step for message in direction.messages for step in message.steps if not step.copy]
    return [s for s in (*direction.responses, *direction.others) if s.kind is kind]


def _compare(
    kind: Kind, one: Direction, other: Direction, partners: Partners, *, leave_out: bool
) -> TrackDifference:
    found = TrackDifference(kind, one.flow, other.flow, len(partners.pairs))
    found.only_a = [step.number for step in partners.only_a]
    found.only_b = [step.number for step in partners.only_b]
    found.copies_a, found.copies_b = partners.copies_a, partners.copies_b
    rows = [row for row in FIELDS if not (leave_out and row.is_cut)]
    found.differences = list(_differences(partners, rows, found.compared))
    return found


def _messages(messages: Iterable[Aligned], compared: dict[str, int]) -> list[FieldDifference]:
    """Messages as wholes, where their packets have no partners."""
    found: dict[str, FieldDifference] = {}
    both = [(one, other) for one, other in messages if one and other]
    both = [(one, other) for one, other in both if one.complete and other.complete]
    for one, other in both:
        length = MESSAGE_LENGTH, one.shape[1], other.shape[1]
        content = MESSAGE_CONTENT, f"CRC-32 {one.content[1]:08x}", f"CRC-32 {other.content[1]:08x}"
        for row, value_a, value_b in (length, content):
            if value_a == value_b:
                continue
            frames = one.steps[0].number, other.steps[0].number
            known = found.setdefault(row.name, FieldDifference(row, 0, *frames, value_a, value_b))
            known.packets += 1
            compared[row.name] = len(both)
    return list(found.values())


def _differences(
    partners: Partners, rows: list[Field], compared: dict[str, int]
) -> Iterator[FieldDifference]:
    origins: dict[int, tuple[Origin, Origin]] = {}
    found: dict[str, FieldDifference] = {}
    present: Counter[str] = Counter()
    for one, other in partners.pairs:
        if one.life not in origins:
            shift = partners.shifts.get(one.life)
            psns = (None, None) if shift is None else (0, shift)
            origins[one.life] = Origin(psns[0]), Origin(psns[1])
        origin_a, origin_b = origins[one.life]
        for row in rows:
            value_a, value_b = row.read(one, origin_a), row.read(other, origin_b)
            present[row.name] += not (value_a is None and value_b is None)
            if value_a == value_b:
                continue
            known = found.get(row.name)
            if known is None:
                found[row.name] = FieldDifference(
                    row, 1, one.number, other.number, value_a, value_b
                )
            else:
                known.packets += 1
    compared.update({name: present[name] for name in found})
    for row in rows:
        if row.name in found:
            yield found[row.name]
