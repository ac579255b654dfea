# SPDX-License-Identifier: BSD-2-Clause
"""What the page of a gate tells of a root finding: the story of one case, and its last packets."""

import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from roceproof.common.errors import RoceproofError
from roceproof.conformance.gate.junit import KNOWN
from roceproof.conformance.review.ladder import draw
from roceproof.conformance.review.ladder_text import lines
from roceproof.conformance.review.story_source import Part, load

Document = dict[str, Any]
_WIDTH, _ROWS, _LINES = 110, 24, 60


def stories_of(document: Document, *, junit: Path, out: Path) -> list[Document]:
    """For each root finding, in their order: `text`, `ladder`, `capture` beside the page."""
    told = _texts(junit)
    return [_story(finding, told, out) for finding in document["findings"]]


def _story(finding: Document, told: dict[str, str], out: Path) -> Document:
    shown = finding["representative"]
    text = (finding.get("story") or told.get(shown["case"].rpartition("::")[2], "")).splitlines()
    capture = Path(shown["capture"]) if shown["capture"] else None
    if capture is None or not capture.exists():
        return {"text": "\n".join(text[:_LINES]), "ladder": "", "capture": None}
    return {
        "text": "\n".join(text[:_LINES]),
        "ladder": _ladder(capture),
        "capture": os.path.relpath(capture, out),
    }


def _texts(junit: Path) -> dict[str, str]:
    """The story of each failing case, known ones included."""
    cases = ElementTree.parse(junit).getroot().iter("testcase")
    return {
        case.get("name", ""): failure.text or ""
        for case in cases
        for failure in [case.find("failure"), case.find(f"skipped[@type='{KNOWN}']")]
        if failure is not None
    }


def _ladder(capture: Path) -> str:
    """The packets around the first finding of the observer, else the last ones."""
    try:
        tale = load(capture, part=Part(), quiet=True)
    except RoceproofError:
        return ""
    numbers = [step.number for step in tale.steps]
    if not numbers:
        return ""
    marked = [place for place, number in enumerate(numbers) if number in tale.marks]
    last = min(len(numbers), (marked[0] + _ROWS // 2) if marked else len(numbers))
    steps = tale.steps[max(0, last - _ROWS) : last]
    ladder = draw(steps, tale.marks, tale.counterparts, start=tale.start)
    return "\n".join(line.plain.rstrip() for line in lines(ladder, width=_WIDTH))
