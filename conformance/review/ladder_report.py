# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof ladder``: who said what, in the terminal or as a page."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable
from roceproof.common.terminal import PIPE_WIDTH, Terminal
from roceproof.common.whole_file import whole_file
from roceproof.conformance.check.progress import reading
from roceproof.conformance.review.ladder import Ladder, Row, draw
from roceproof.conformance.review.ladder_page import page
from roceproof.conformance.review.ladder_text import lines
from roceproof.conformance.review.page_source import load_page
from roceproof.conformance.review.story_source import FRAME_LIMIT, Part, load, tell_damage

MOST_DRAWN = 2000  # in the terminal
_PIPE_LADDER = 120  # columns, where no terminal says how many there are


def run_ladder(
    file: Path,
    *,
    frames: str | None,
    most: int | None,
    output: Path | None,
    qps: Path | None,
    as_json: bool,
) -> int:
    """Draw the packets of `frames` ("A-B", "A-", "A"), at most `most`; 2 for a damaged file."""
    first, last = _range(frames)
    if output is not None:
        return _write_page(file, output, frames, Part(first, last, most or FRAME_LIMIT), qps)
    tale = load(file, qps=qps, part=Part(first, last, most or MOST_DRAWN))
    if not tale.steps:
        raise _nothing(file, frames)
    ladder = draw(tale.steps, tale.marks, tale.counterparts, start=tale.start)
    note = "; ".join(tale.notes)
    if as_json:
        print(json.dumps(_document(file, ladder, tale.notes)))
    else:
        console = Terminal()
        width = _PIPE_LADDER if console.width == PIPE_WIDTH else console.width
        for line in lines(ladder, width=width):
            console.print(line, no_wrap=True, crop=False)
    _tell_notes(file, note)
    return tell_damage(tale.damage)


def _write_page(file: Path, output: Path, frames: str | None, part: Part, qps: Path | None) -> int:
    with reading(str(file), quiet=False, doing="drawing") as advance:
        story = load_page(file, qps=qps, part=part, advance=advance)
    if not story.columns.numbers:
        raise _nothing(file, frames)
    note = "; ".join(story.notes)
    text = page(
        story.columns, story.marks, story.counterparts, title=printable(file.name), note=note
    )
    with whole_file(output) as place, place.open("w", encoding="utf-8") as target:
        target.writelines(text)
    _tell_notes(file, note)
    return tell_damage(story.damage)


def _nothing(file: Path, frames: str | None) -> RoceproofError:
    where = f" between frames {frames}" if frames else ""
    return RoceproofError(f"{printable(file)}: no RoCE packet{where}; nothing to draw")


def _tell_notes(file: Path, note: str) -> None:
    if note:
        print(f"roceproof: {printable(file)}: {note}", file=sys.stderr)


def _range(frames: str | None) -> tuple[int, float]:
    first, dash, last = (frames or "1-").partition("-")
    try:
        low = int(first)
        high = int(last) if last else float("inf") if dash else low
    except ValueError:
        low = high = 0
    if not 1 <= low <= high:
        raise RoceproofError(
            f"--frames {printable(frames)}: not a range of frame numbers, which count from 1;"
            " write it as 10-20, 10- or 10"
        )
    return low, high


def _document(file: Path, ladder: Ladder, notes: list[str]) -> dict[str, object]:
    return {
        "schema": 1,
        "file": str(file),
        "stations": ladder.stations,
        "flows": [_flow(ladder, place) for place in range(len(ladder.flows))],
        "packets": _packets(ladder.rows),
        "notes": notes,
    }


def _flow(ladder: Ladder, place: int) -> dict[str, object]:
    """A flow for machines, with the place of the flow that it answers."""
    return {**ladder.flows[place]._asdict(), "answers": ladder.answered[place]}


def _packets(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [asdict(row) for row in rows]
