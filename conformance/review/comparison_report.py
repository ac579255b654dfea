# SPDX-License-Identifier: BSD-2-Clause
"""A comparison for people, the conclusion first, and the document for machines."""

from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from roceproof.common.printable import printable
from roceproof.common.terminal import Terminal
from roceproof.conformance.review.conclusion import KindOfDifference, kinds_of
from roceproof.conformance.review.conversation import Direction
from roceproof.conformance.review.diff import Comparison, FieldDifference, TrackDifference
from roceproof.conformance.review.field_values import Value

_NAMED_FRAMES = 8
_NAMED_TRACKS = 20


def print_comparison(a: Path, b: Path, found: Comparison, conclusion: str) -> None:
    """One sentence, then a line for each kind of difference, then one for each pair of flows."""
    console = Terminal()
    console.print(escape(conclusion), style="bold")
    console.print(f"A is {escape(printable(a))}, B is {escape(printable(b))}")
    if kinds := kinds_of(found):
        console.print()
        console.print(_table(kinds))
    console.print()
    telling = sorted(found.tracks, key=lambda track: not _remarkable(track))
    for track in telling[:_NAMED_TRACKS]:
        console.print(f"{track.kind}s: A {track.flow_a or '-'}, B {track.flow_b or '-'}")
        console.print(f"  {track.aligned} packets aligned{_lonely(track)}")
    if len(telling) > _NAMED_TRACKS:
        console.print(f"... and {len(telling) - _NAMED_TRACKS} more; see all with: --json")
    for line in _left_out(found):
        console.print(line)
    console.print("differences that matter" if found.matters else "no difference that matters")


def _remarkable(track: TrackDifference) -> bool:
    return bool(track.only_a or track.only_b or track.copies_a or track.copies_b)


def _left_out(found: Comparison) -> list[str]:
    lines = []
    for name, side, preamble in (
        ("A", found.a, found.preamble_a),
        ("B", found.b, found.preamble_b),
    ):
        if preamble:
            packets = sum(direction.packets for direction in preamble)
            text = f"{len(preamble)} flows that ended before, {packets} packets"
            lines.append(f"not compared in {name}: {text}")
        if side.management:
            lines.append(f"not compared in {name}: management on QP 1, {side.management} packets")
    return lines


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


def _table(kinds: Sequence[KindOfDifference]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("field", "packets", "flows", "A", "B", "matters", "rule", "because"):
        table.add_column(heading, overflow="fold")
    for kind in kinds:
        found = kind.example
        row = found.field
        table.add_row(
            row.name,
            f"{kind.packets} of {kind.of}",
            str(kind.flows),
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


def document(a: Path, b: Path, found: Comparison, conclusion: str) -> dict[str, object]:
    """What `--json` prints."""
    return {
        "schema": 1,
        "a": str(a),
        "b": str(b),
        "conclusion": conclusion,
        "matters": found.matters,
        "differences": [
            _difference(kind.example)
            | {"packets": kind.packets, "of": kind.of, "flows": kind.flows}
            for kind in kinds_of(found)
        ],
        "path_mtus": found.path_mtus,
        "not_compared": {
            name: {
                "management_packets": side.management,
                "flows_before": [_flow(direction) for direction in preamble],
            }
            for name, side, preamble in (
                ("a", found.a, found.preamble_a),
                ("b", found.b, found.preamble_b),
            )
        },
        "tracks": [_track(track) for track in found.tracks],
    }


def _flow(direction: Direction) -> dict[str, object]:
    return direction.flow._asdict() | {"packets": direction.packets}


def _track(track: TrackDifference) -> dict[str, object]:
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
        "differences": [_difference(found) for found in track.differences],
    }


def _difference(found: FieldDifference) -> dict[str, object]:
    return {
        "field": found.field.name,
        "rule": found.field.rule,
        "matters": found.field.matters,
        "because": found.field.why,
        "packets": found.packets,
        "a": {"frame": found.frame_a, "value": found.value_a},
        "b": {"frame": found.frame_b, "value": found.value_b},
    }
