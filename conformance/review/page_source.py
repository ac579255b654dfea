# SPDX-License-Identifier: BSD-2-Clause
"""Loads a capture for the page: its packets as columns, and what the oracle found in them."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import overload

from roceproof.conformance.capture.record import CaptureError, Record
from roceproof.conformance.check.capture_input import rereadable, say_what_is_awaited
from roceproof.conformance.check.groups import Groups, Row
from roceproof.conformance.check.progress import Advance
from roceproof.conformance.check.run import judged_lines
from roceproof.conformance.check.salvage import Salvage
from roceproof.conformance.review.columns import Columns, gather
from roceproof.conformance.review.page_document import GroupRow, Marks, told
from roceproof.conformance.review.story import Flow, Frame
from roceproof.conformance.review.story_source import (
    FRAME_LIMIT,
    Part,
    counterparts_in,
    under_its_name,
)

_NONE = -1
_RECORD_BYTES = 24  # about what a capture adds to each frame
_ADVANCE_FRAMES = 2000


class _Flows(Sequence[Row]):
    """What groups ask of flows, of a million in some tens of megabytes."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self._counterparts = array("q")

    def add(self, line: Row, *, named: bool) -> None:
        if named:
            flow = Flow(line["source"], line["destination"], line["qpn"])
            self.names[len(self._counterparts)] = str(flow)
        other = line["counterpart"]
        self._counterparts.append(_NONE if other is None else other)

    def __len__(self) -> int:
        return len(self._counterparts)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        other = self._counterparts[place]
        return {"counterpart": None if other == _NONE else other}


@dataclass(slots=True)
class PageStory:
    columns: Columns
    counterparts: dict[Flow, Flow]
    marks: Marks = field(default_factory=Marks)
    notes: list[str] = field(default_factory=list)
    damage: CaptureError | None = None


def load_page(name: Path | str, *, qps: Path | None, part: Part, advance: Advance) -> PageStory:
    """The packets of a part of a capture ("-" is stdin), of its first FRAME_LIMIT frames."""
    say_what_is_awaited(name)
    with rereadable(name) as path, under_its_name(path, name):
        counterparts = counterparts_in(judged_lines(path, qps=qps, keep=1))
        records = Salvage(path, limit=FRAME_LIMIT, name=str(name))
        columns = gather(
            _frames(records, path.stat().st_size, advance),
            counterparts,
            first=part.first,
            last=part.last,
            most=part.most,
        )
        story = PageStory(columns, counterparts, damage=records.damage)
        if columns.numbers:
            _mark(story, judged_lines(path, qps=qps))
    if columns.left_out:
        text = "more packets are not drawn; choose with --frames or --max"
        story.notes.append(f"{columns.left_out} {text}")
    if records.cut:
        story.notes.append(f"only the first {FRAME_LIMIT} frames were read")
    if story.marks.unlinked:
        text = "more findings are counted in their groups, but not shown with their packets"
        story.notes.append(f"{story.marks.unlinked} {text}")
    return story


def _frames(records: Iterable[Record], total: int, advance: Advance) -> Iterator[Frame]:
    read = 0
    for record in records:
        read += len(record.frame) + _RECORD_BYTES
        if record.number % _ADVANCE_FRAMES == 0:
            advance(min(read, total), total)
        if record.is_ethernet:
            yield Frame(record.number, record.time_ns, record.frame, record.full_size)


def _mark(story: PageStory, lines: Iterable[Row]) -> None:
    """Enter the findings of what is drawn; flows come behind them."""
    groups = Groups()
    flows = _Flows()
    wanted: set[int] = set()
    for line in lines:
        if line["type"] == "finding":
            row = story.columns.row_of(line["frame"])
            if row is not None:
                story.marks.add(story.columns, row, line, groups.add(line))
                wanted.add(line["flow"])
        elif line["type"] == "flow":
            flows.add(line, named=len(flows) in wanted)
    documents = groups.documents(flows)
    story.marks.groups = [_group(each, flows) for each in documents]


def _group(document: Row, flows: _Flows) -> GroupRow:
    known = document["known"]
    return GroupRow(
        document["rule"],
        document["severity"],
        flows.names.get(document["flow"], ""),
        told(document["first"]),
        document["count"],
        document["first_frame"],
        document["last_frame"],
        document["cause"],
        f"{known['practice']} ({known['evidence']})" if known else document["why"] or "",
    )
