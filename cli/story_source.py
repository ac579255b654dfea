# SPDX-License-Identifier: BSD-2-Clause
"""Loads a capture as a story, with the findings and flow pairs of the wire oracle."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from roceproof.check_run import check_file
from roceproof.conformance.capture.record import CaptureError
from roceproof.conformance.review.ladder import Mark
from roceproof.conformance.review.story import Flow, Frame, Step, tell
from roceproof.salvage import Salvage

FRAME_LIMIT = 200_000


@dataclass(slots=True)
class Tale:
    """A capture's steps with what the oracle found; `cut`: frames were left out."""

    steps: list[Step]
    marks: dict[int, list[Mark]] = field(default_factory=dict)
    counterparts: dict[Flow, Flow] = field(default_factory=dict)
    cut: bool = False
    damage: CaptureError | None = None


def tell_damage(tale: Tale) -> int:
    """Say on stderr where a capture ends in damage; the exit code for it, 0 if it does not."""
    if tale.damage is None:
        return 0
    print(f"roceproof: {tale.damage}", file=sys.stderr)
    return tale.damage.exit_code


def load(path: Path, *, qps: Path | None = None, limit: int = FRAME_LIMIT) -> Tale:
    """Read at most `limit` frames; damage behind whole packets ends the story there."""
    report = check_file(path, qps=qps)
    flows = [Flow(row["source"], row["destination"], row["qpn"]) for row in report["flows"]]
    tale = Tale([])
    for flow, row in zip(flows, report["flows"], strict=True):
        if row["counterpart"] is not None:
            tale.counterparts[flow] = flows[row["counterpart"]]
    for found in report["findings"]:
        text = f"expected {found['expected']}, got {found['got']}"
        mark = Mark(found["rule"], found["severity"], text)
        tale.marks.setdefault(found["frame"], []).append(mark)

    records = Salvage(path, limit=limit)
    frames = (
        Frame(record.number, record.time_ns, record.frame, record.full_size)
        for record in records
        if record.is_ethernet
    )
    tale.steps = tell(frames, tale.counterparts)
    tale.cut = records.cut
    tale.damage = records.damage
    return tale
