# SPDX-License-Identifier: BSD-2-Clause
"""The ladder in characters."""

from __future__ import annotations

from dataclasses import replace

from stories import RC_ONLY, counterparts_of, frames_of, story

from roceproof.conformance.review.ladder import Mark, draw
from roceproof.conformance.review.ladder_text import lines
from roceproof.conformance.review.story import tell


def text(width: int = 120, marks: dict[int, list[Mark]] | None = None) -> list[str]:
    ladder = draw(story(RC_ONLY), marks or {}, counterparts_of(RC_ONLY))
    return [line.plain for line in lines(ladder, width=width)]


def test_every_packet_has_a_row_of_the_same_width() -> None:
    rows = text()[1:]
    assert len(rows) == len(story(RC_ONLY))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(rows[0]) <= 120


def test_arrows_point_at_the_destination() -> None:
    first = story(RC_ONLY)[0].flow.source
    for step, row in zip(story(RC_ONLY), text()[1:], strict=True):
        assert ("▶" in row) == (step.flow.source == first)
        assert ("◀" in row) == (step.flow.source != first)


def test_long_captions_are_cut_and_not_the_ladder() -> None:
    narrow = text(width=60)
    assert max(map(len, narrow[1:])) <= 60
    assert any(".." in row for row in narrow)


def test_a_finding_stands_below_its_packet() -> None:
    rows = text(marks={2: [Mark("PSN-02", "must", "expected 1, got 7")]})
    assert rows[3].strip() == "MUST PSN-02: expected 1, got 7"


def test_a_crowd_of_stations_is_named_packet_by_packet() -> None:
    (first, *_) = story(RC_ONLY)
    flows = [first.flow._replace(source=f"10.0.0.{n}") for n in range(60)]
    ladder = draw([replace(first, flow=flow) for flow in flows], {}, {})
    rows = [line.plain for line in lines(ladder, width=120)]
    assert f"10.0.0.59 > {first.flow.destination}  " in rows[-1]
    assert max(map(len, rows)) < 120


def test_only_what_is_kept_is_returned_and_it_counts_as_in_the_whole_story() -> None:
    whole = story(RC_ONLY)
    frames = frames_of(RC_ONLY.frames())
    part = tell(frames, counterparts_of(RC_ONLY), keep=lambda number: 10 <= number < 20)
    assert part == [step for step in whole if 10 <= step.number < 20]
