# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof diff``: the same traffic from two devices, and whether the differences matter."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from roceproof.common.errors import RoceproofError
from roceproof.common.printable import printable
from roceproof.common.terminal import Terminal
from roceproof.conformance.capture.reader import STDIN
from roceproof.conformance.review.diff import TrackDifference, compare
from roceproof.conformance.review.fields import Value
from roceproof.story_source import Tale, load, tell_damage

_NAMED_FRAMES = 8


def run_diff(a: Path, b: Path, *, as_json: bool, quiet: bool) -> int:
    """Print what differs; 1 if a receiver could behave differently, 2 for a damaged file."""
    if str(a) == str(b) == STDIN:
        raise click.UsageError("only one of the two can be stdin")
    tales = [_load(path, quiet=quiet) for path in (a, b)]
    tracks = compare(tales[0].steps, tales[1].steps)
    matters = any(track.matters for track in tracks)
    if as_json:
        document = {
            "schema": 1,
            "a": str(a),
            "b": str(b),
            "matters": matters,
            "tracks": [_as_json(track) for track in tracks],
            "notes": {name: tale.notes for name, tale in zip("ab", tales, strict=True)},
        }
        print(json.dumps(document))
    elif not quiet:
        _show(a, b, tracks)
        print("differences that matter" if matters else "no difference that matters")
    damaged = [tell_damage(tale.damage) for tale in tales]
    return max(*damaged, int(matters))


def _load(path: Path, *, quiet: bool) -> Tale:
    tale = load(path, quiet=quiet)
    if not tale.steps:
        raise RoceproofError(f"{printable(path)}: no RoCE packet; nothing to compare")
    if tale.notes and not quiet:
        print(f"roceproof: {printable(path)}: {'; '.join(tale.notes)}", file=sys.stderr)
    return tale


def _show(a: Path, b: Path, tracks: Sequence[TrackDifference]) -> None:
    console = Terminal()
    for track in tracks:
        console.print(f"{track.kind}s: A {track.flow_a or '-'}, B {track.flow_b or '-'}")
        console.print(f"  {track.aligned} packets aligned{_lonely(track)}")
        if track.differences:
            console.print(_table(track))
        console.print()
    console.print(f"A is {escape(printable(a))}, B is {escape(printable(b))}")


def _lonely(track: TrackDifference) -> str:
    words = ""
    for name, frames, copies in (
        ("A", track.only_a, track.copies_a),
        ("B", track.only_b, track.copies_b),
    ):
        if frames:
            shown = ", ".join(map(str, frames[:_NAMED_FRAMES]))
            more = f" and {len(frames) - _NAMED_FRAMES} more" if len(frames) > _NAMED_FRAMES else ""
            words += f"; only in {name}: {len(frames)} (frames {shown}{more})"
        if copies:
            words += f"; {copies} repetitions only in {name}"
    return words


def _table(track: TrackDifference) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("  field", "packets", "A", "B", "matters", "rule", "because"):
        table.add_column(heading, overflow="fold")
    for found in track.differences:
        row = found.field
        table.add_row(
            f"  {row.name}",
            str(found.packets),
            f"{_text(found.value_a)} (frame {found.frame_a})",
            f"{_text(found.value_b)} (frame {found.frame_b})",
            "[red]yes[/]" if row.matters else "no",
            row.rule,
            row.why,
        )
    return table


def _text(value: Value) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return str(int(value))
        case _:
            return escape(str(value))


def _as_json(track: TrackDifference) -> dict[str, object]:
    return {
        "kind": track.kind,
        "flow_a": track.flow_a._asdict() if track.flow_a else None,
        "flow_b": track.flow_b._asdict() if track.flow_b else None,
        "aligned": track.aligned,
        "only_a": track.only_a,
        "only_b": track.only_b,
        "repetitions_only_a": track.copies_a,
        "repetitions_only_b": track.copies_b,
        "matters": track.matters,
        "differences": [
            {
                "field": found.field.name,
                "rule": found.field.rule,
                "matters": found.field.matters,
                "because": found.field.why,
                "packets": found.packets,
                "a": {"frame": found.frame_a, "value": found.value_a},
                "b": {"frame": found.frame_b, "value": found.value_b},
            }
            for found in track.differences
        ],
    }
