# SPDX-License-Identifier: BSD-2-Clause
"""A comparison in one sentence, and its differences one line for each kind."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from roceproof.conformance.review.diff import Comparison, FieldDifference
from roceproof.conformance.review.story import Kind

ICRC, PSN = "ICRC", "PSN"
OTHER_DIRECTION = "PSN starts at the other direction's value"
_ALIKE = "PSNs of both directions start at one value"
_SAME = "the same traffic"


@dataclass(slots=True)
class KindOfDifference:
    """A field that differs, over all flows; the first pair of packets as example."""

    example: FieldDifference
    packets: int = 0
    of: int = 0
    """Pairs of packets that have the field, in the flows where it differs."""
    flows: int = 0

    @property
    def everywhere(self) -> bool:
        """Whether no packet that has the field agrees."""
        return self.packets == self.of


def kinds_of(found: Comparison) -> list[KindOfDifference]:
    """Each field that differs, once; those that matter first."""
    kinds: dict[str, KindOfDifference] = {}
    for track in found.tracks:
        for difference in track.differences:
            name = difference.field.name
            kind = kinds.setdefault(name, KindOfDifference(difference))
            kind.packets += difference.packets
            kind.of += track.compared[name]
            kind.flows += 1
    return sorted(kinds.values(), key=lambda kind: not kind.example.field.matters)


def conclude(found: Comparison, named_a: Sequence[str] = (), named_b: Sequence[str] = ()) -> str:
    """The sentence; `named` are the signatures that explain what one side does wrong."""
    if not found.pairs:
        return "not the same traffic: nothing in A has a partner in B"
    parts = [*_connections(found), *_fields(found, named_a, named_b), *_packets(found)]
    if parts:
        return f"same but for: {'; '.join(parts)}"
    chosen = [kind.example.field.name for kind in kinds_of(found)]
    return f"{_SAME}; only {', '.join(chosen)} differ, which are free" if chosen else _SAME


def _connections(found: Comparison) -> Iterator[str]:
    for name, flows in (
        ("A", [track.flow_a for track in found.tracks if track.flow_b is None]),
        ("B", [track.flow_b for track in found.tracks if track.flow_a is None]),
    ):
        if count := len(set(flows)):
            yield f"{_counted(count, 'flow')} only in {name}"
    mtus = sorted(set(found.path_mtus))
    if mtus:
        text = ", ".join(f"{one} against {other}" for one, other in mtus)
        yield f"path MTU {text}"


def _fields(found: Comparison, named_a: Sequence[str], named_b: Sequence[str]) -> Iterator[str]:
    kinds = {kind.example.field.name: kind for kind in kinds_of(found)}
    told = _told(named_a, "A") + _told(named_b, "B")
    if ICRC in kinds:
        yield _icrc(kinds[ICRC], [each for each in told if each.startswith("S")])
    starts = found.same_start[0] is not found.same_start[1]
    of_psns = [each for each in told if each.startswith("P")]
    for side, alike in zip("AB", found.same_start, strict=True):
        named = f"P01 in {side}" in of_psns
        if named or (starts and alike):
            yield f"{OTHER_DIRECTION if named else _ALIKE} in {side}{', P01' if named else ''}"
    of_psns = [each for each in of_psns if not each.startswith("P01 ")]
    for name, kind in kinds.items():
        if name == ICRC or kind.example.field.chosen:
            continue
        yield _with(f"{name}{_extent(kind)}", of_psns if name == PSN else [])
    if PSN not in kinds and of_psns:
        yield f"what explain calls {', '.join(of_psns)}"


def _icrc(kind: KindOfDifference, ids: Iterable[str]) -> str:
    side = "A" if kind.example.value_a == "wrong" else "B"
    extent = " in every packet" if kind.everywhere else _extent(kind)
    return _with(
        f"ICRC wrong{extent} of {side}", [each.removesuffix(f" in {side}") for each in ids]
    )


def _packets(found: Comparison) -> Iterator[str]:
    requests = [
        track
        for track in found.tracks
        if track.kind is Kind.REQUEST and track.flow_a is not None and track.flow_b is not None
    ]
    if not found.path_mtus:
        for name, count in (
            ("A", sum(len(track.only_b) for track in requests)),
            ("B", sum(len(track.only_a) for track in requests)),
        ):
            if count:
                yield f"{name} lacks {_counted(count, 'request packet')}"
    for name, count in (
        ("A", sum(track.copies_a for track in requests)),
        ("B", sum(track.copies_b for track in requests)),
    ):
        if count:
            yield f"{name} repeats {_counted(count, 'request packet')}"


def _extent(kind: KindOfDifference) -> str:
    return "" if kind.everywhere else f" in {kind.packets} of {kind.of} packets"


def _told(ids: Sequence[str], side: str) -> list[str]:
    return [f"{each} in {side}" for each in ids]


def _with(text: str, ids: Iterable[str]) -> str:
    return ", ".join((text, *ids))


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
