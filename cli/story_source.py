# SPDX-License-Identifier: BSD-2-Clause
"""Loads a capture as a story, with the findings and flow pairs of the wire oracle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from roceproof.check_run import check_file
from roceproof.conformance import capture
from roceproof.conformance.review.ladder import Mark
from roceproof.conformance.review.story import Flow, Frame, Step, tell

FRAME_LIMIT = 200_000


@dataclass(slots=True)
class Tale:
    """A capture's steps with what the oracle found; `cut` says that frames were left out."""

    steps: list[Step]
    marks: dict[int, list[Mark]] = field(default_factory=dict)
    counterparts: dict[Flow, Flow] = field(default_factory=dict)
    cut: bool = False


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

    def frames() -> Iterator[Frame]:
        for count, record in enumerate(capture.read(path)):
            if count == limit:
                tale.cut = True
                return
            if record.is_ethernet:
                yield Frame(record.number, record.time_ns, record.frame, record.full_size)

    tale.steps = tell(frames(), tale.counterparts)
    return tale
