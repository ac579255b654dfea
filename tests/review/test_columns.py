# SPDX-License-Identifier: BSD-2-Clause
"""Columns tell the same story as steps do, and what they keep is bounded."""

from __future__ import annotations

import zlib
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest
from stories import RC_ONLY, counterparts_of, frames_of

from roceproof.conformance.capture import reader
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.review import page_document
from roceproof.conformance.review.columns import BAD_ICRC, COPY, KINDS, gather
from roceproof.conformance.review.header_chunks import TAIL, HeaderChunks
from roceproof.conformance.review.story import Flow, Frame, Kind, flow_name, tell

CAPTURES = sorted((Path(__file__).parents[1] / "captures").rglob("*.pcap*"))
RICH = replace(Conversation(seed=9), reconnects=2, loss=0.02)


def same_story(frames: list[Frame], pairs: dict[Flow, Flow]) -> None:
    steps = tell(frames, pairs)
    columns = gather(frames, pairs)
    assert list(columns.numbers) == [step.number for step in steps]
    for row, step in enumerate(steps):
        flags = columns.flags[row]
        psn = columns.psns[row]
        assert KINDS[flags & 3] is step.kind
        assert columns.flow_table[columns.flows[row]] == flow_name(step.flow)
        assert (None if isnan(psn) else psn) == step.psn
        assert bool(flags & COPY) == bool(step.copy)
        begins = step.kind is Kind.REQUEST and step.place == 0
        assert columns.messages[row] == (step.message if begins else 0)


def test_a_rich_conversation_is_told_alike() -> None:
    same_story(frames_of(RICH.frames()), counterparts_of(RICH))


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_stored_captures_are_told_alike(path: Path) -> None:
    frames = [
        Frame(each.number, each.time_ns, each.frame, each.full_size) for each in reader.read(path)
    ]
    same_story(frames, {})


def test_a_part_counts_as_in_the_whole_and_the_rest_is_counted() -> None:
    frames, pairs = frames_of(RC_ONLY.frames()), counterparts_of(RC_ONLY)
    whole = gather(frames, pairs)
    part = gather(frames, pairs, first=10, last=29, most=15)
    assert list(part.numbers) == list(range(10, 25))
    assert list(part.psns) == list(whole.psns[9:24])
    assert part.left_out == 5


def test_headers_and_the_end_are_kept_and_the_payload_is_not() -> None:
    chunks = HeaderChunks()
    frame = bytes(range(200))
    chunks.add(frame, 60, 196, 300)
    chunks.add(frame[:70], 60, 70, 70)
    chunks.close()
    (chunk,) = chunks.chunks
    raw = zlib.decompress(chunk)
    sizes, kept = memoryview(raw)[:16].cast("I"), memoryview(raw)[16:20].cast("H")
    assert list(sizes) == [200, 70, 300, 70]
    assert list(kept) == [60 + TAIL, 60 + TAIL]
    assert raw[20:] == frame[:60] + frame[188:196] + frame[:60] + frame[62:70]


def test_findings_beyond_the_bound_are_counted_and_not_linked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_document, "MOST_MARKS", 2)
    columns = gather(frames_of(RC_ONLY.frames()), {})
    marks = page_document.Marks()
    for row in (0, 1, 2, 3):
        marks.add(columns, row, {"rule": "ICRC-02", "expected": "1", "got": "2"}, 0)
    assert (len(marks.rows), marks.unlinked) == (2, 2)
    assert [flags & BAD_ICRC for flags in columns.flags[:5]] == [BAD_ICRC] * 4 + [0]
