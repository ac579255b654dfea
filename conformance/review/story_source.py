# SPDX-License-Identifier: BSD-2-Clause
"""Loads a capture as a story, with the findings and flow pairs of the wire oracle.

What is kept is what was asked for: memory follows the packets that are drawn or
compared, and not the flows and findings of the capture.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from roceproof.common.printable import printable
from roceproof.conformance.capture.record import CaptureError
from roceproof.conformance.check.capture_input import rereadable, say_what_is_awaited
from roceproof.conformance.check.run import judged_lines
from roceproof.conformance.check.salvage import Salvage
from roceproof.conformance.check.tool import UnreadableError
from roceproof.conformance.review.ladder import Mark
from roceproof.conformance.review.story import Flow, Frame, Step, drawable, tell

FRAME_LIMIT = 1_000_000
WHOLE_LIMIT = 200_000


@dataclass(slots=True)
class Tale:
    """The steps that were asked for, with what the oracle found in them."""

    steps: list[Step]
    marks: dict[int, list[Mark]] = field(default_factory=dict)
    counterparts: dict[Flow, Flow] = field(default_factory=dict)
    start: int | None = None
    """When the first RoCE packet of the capture was seen, in nanoseconds."""
    left_out: int = 0
    """Packets behind the last step that were asked for, too, but are above the number asked for."""
    cut_at: int | None = None
    """How many frames were read, if there were more."""
    damage: CaptureError | None = None

    @property
    def notes(self) -> list[str]:
        """What of the capture is not in the story, in words."""
        notes = []
        if self.left_out:
            text = "more packets are not drawn; choose with --frames or --max"
            notes.append(f"{self.left_out} {text}")
        if self.cut_at is not None:
            notes.append(f"only the first {self.cut_at} frames were read")
        return notes


@dataclass(frozen=True, slots=True)
class Part:
    """The packets between two frame numbers, and at most so many."""

    first: int = 1
    last: float = float("inf")
    most: float = float("inf")


def tell_damage(damage: CaptureError | None) -> int:
    """Say on stderr where a capture ends in damage; the exit code for it, 0 if it does not."""
    if damage is None:
        return 0
    print(f"roceproof: {printable(damage)}", file=sys.stderr)
    return damage.exit_code


def load(
    name: Path | str, *, qps: Path | None = None, part: Part | None = None, quiet: bool = False
) -> Tale:
    """The story of a capture ("-" is stdin) or of a part of it, findings only where it is a part.

    At most FRAME_LIMIT frames are read, WHOLE_LIMIT without a part, which are all kept; damage
    behind whole packets ends the story there.
    """
    limit = WHOLE_LIMIT if part is None else FRAME_LIMIT
    say_what_is_awaited(name, quiet=quiet)
    with rereadable(name) as path, under_its_name(path, name):
        tale = Tale([])
        chosen = Part() if part is None else _narrowed(part, name, path, tale)
        lines = judged_lines(path, qps=qps, keep=1 if part is None else 0)
        tale.counterparts = counterparts_in(_marked(lines, chosen, tale.marks))
        if part is None:
            tale.marks.clear()
        records = Salvage(path, limit=limit, name=str(name))
        tale.steps = tell(
            _frames(records), tale.counterparts, keep=lambda n: chosen.first <= n <= chosen.last
        )
        tale.cut_at = limit if records.cut else None
        tale.damage = records.damage
    return tale


def _narrowed(part: Part, name: Path | str, path: Path, tale: Tale) -> Part:
    """Find the last frame that is still drawn, and count those behind it."""
    drawn, last = 0, 0
    for frame in _frames(Salvage(path, limit=FRAME_LIMIT, name=str(name))):
        if (tale.start is None or frame.number <= part.last) and drawable(frame):
            tale.start = frame.time_ns if tale.start is None else tale.start
            if part.first <= frame.number <= part.last:
                drawn += 1
                last = frame.number if drawn <= part.most else last
    tale.left_out = max(0, drawn - int(min(part.most, drawn)))
    return Part(part.first, last, part.most)


def counterparts_in(lines: Iterable[dict[str, Any]]) -> dict[Flow, Flow]:
    """For each flow that has one, the flow whose requests its responses answer."""
    flows: dict[int, tuple[Flow, int]] = {}
    count = 0
    for line in lines:
        if line["type"] == "flow":
            if line["counterpart"] is not None:
                flow = Flow(line["source"], line["destination"], line["qpn"])
                flows[count] = flow, line["counterpart"]
            count += 1
    return {flow: flows[other][0] for flow, other in flows.values()}


@contextmanager
def under_its_name(path: Path, name: Path | str) -> Iterator[None]:
    """Let an error of the oracle call a copy as the user calls what was copied."""
    try:
        yield
    except UnreadableError as error:
        raise UnreadableError(str(error).replace(str(path), str(name))) from error


def _marked(
    lines: Iterable[dict[str, Any]], part: Part, marks: dict[int, list[Mark]]
) -> Iterator[dict[str, Any]]:
    """Take the findings of a part out of what the oracle says."""
    for line in lines:
        if line["type"] != "finding":
            yield line
        elif part.first <= line["frame"] <= part.last:
            text = f"expected {line['expected']}, got {line['got']}"
            mark = Mark(line["rule"], line["severity"], text)
            marks.setdefault(line["frame"], []).append(mark)


def _frames(records: Salvage) -> Iterator[Frame]:
    for record in records:
        if record.is_ethernet:
            yield Frame(record.number, record.time_ns, record.frame, record.full_size)
