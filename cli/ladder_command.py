# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof ladder``: who said what, in the terminal or as a page."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.common.terminal import PIPE_WIDTH, Terminal
from roceproof.conformance.review.ladder import Ladder, Row, draw
from roceproof.conformance.review.ladder_page import page
from roceproof.conformance.review.ladder_text import lines
from roceproof.story_source import FRAME_LIMIT, load, tell_damage

_PIPE_LADDER = 120  # columns, where no terminal says how many there are


def run_ladder(
    file: Path,
    *,
    frames: str | None,
    most: int,
    output: Path | None,
    qps: Path | None,
    as_json: bool,
) -> int:
    """Draw the packets of `frames` ("A-B", "A-", "-B"), at most `most`; 2 for a damaged file."""
    first, last = _range(frames)
    tale = load(file, qps=qps)
    ladder = draw(tale.steps, tale.marks, tale.counterparts)
    rows = [row for row in ladder.rows if first <= row.number <= last]
    if not rows:
        where = f" between frames {frames}" if frames else ""
        raise RoceproofError(f"{file}: no RoCE packet{where}; nothing to draw")
    ladder.rows = rows[:most]
    note = _note(len(rows) - len(ladder.rows), cut=tale.cut)
    if output is not None:
        output.write_text(page(ladder, title=file.name, note=note), encoding="utf-8")
    elif as_json:
        print(json.dumps(_document(file, ladder)))
    else:
        console = Terminal()
        width = _PIPE_LADDER if console.width == PIPE_WIDTH else console.width
        for line in lines(ladder, width=width):
            console.print(line, no_wrap=True, crop=False)
    if note:
        print(f"roceproof: {file}: {note}", file=sys.stderr)
    return tell_damage(tale)


def _range(frames: str | None) -> tuple[int, float]:
    first, dash, last = (frames or "-").partition("-")
    try:
        low = int(first) if first else 1
        high = int(last) if last else float("inf") if dash else low
    except ValueError:
        raise RoceproofError(
            f"--frames {frames}: not a range of frame numbers; write it as 10-20, 10- or 10"
        ) from None
    return low, high


def _note(left_out: int, *, cut: bool) -> str:
    parts = []
    if left_out:
        parts.append(f"{left_out} more packets are not drawn; choose with --frames or --max")
    if cut:
        parts.append(f"only the first {FRAME_LIMIT} frames were read")
    return "; ".join(parts)


def _document(file: Path, ladder: Ladder) -> dict[str, object]:
    return {
        "schema": 1,
        "file": str(file),
        "stations": ladder.stations,
        "flows": [_flow(ladder, place) for place in range(len(ladder.flows))],
        "packets": _packets(ladder.rows),
    }


def _flow(ladder: Ladder, place: int) -> dict[str, object]:
    """A flow for machines, with the place of the flow that it answers."""
    return {**ladder.flows[place]._asdict(), "answers": ladder.answered[place]}


def _packets(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [asdict(row) for row in rows]
