# SPDX-License-Identifier: BSD-2-Clause
"""A campaign as one HTML page: its runs, what they came to reach, and its findings by cause."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from roceproof.common.page import rendered, templates
from roceproof.common.printable import printable_lines
from roceproof.conformance.campaign.folder import CAPTURE, CASE, ENTRY, STORY, Folder

_ROOM = "roceproof.conformance.campaign"
_STYLES = (("roceproof.conformance.coverage", "page.css"), (_ROOM, "campaign.css"))
_EDGE, _MOST_POINTS = 1000, 500


def page(
    folder: Folder,
    *,
    runs: Sequence[Mapping[str, Any]],
    findings: Sequence[Mapping[str, Any]],
    beside: Path,
) -> str:
    """What `status` and `report` tell; links lead to files of findings from the folder `beside`."""
    rounds = [(run["number"], folder.rounds(run["number"])) for run in runs]
    return rendered(
        templates(_ROOM).get_template("campaign.html.j2"),
        _STYLES,
        name=folder.path.resolve().name,
        runs=runs,
        curves=[_curve(number, told) for number, told in rounds if len(told) > 1],
        findings=[_with_files(each, beside) for each in findings],
        entries=len(folder.entries()),
    )


def _curve(number: int, rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Empty bins over time, in a square of _EDGE."""
    told = [rounds[at] for at in range(0, len(rounds), 1 + len(rounds) // _MOST_POINTS)]
    last = rounds[-1]
    seconds = max(last["seconds"], 0.1)
    most = max(each["empty"] for each in told) or 1
    points = ((each["seconds"] / seconds, 1 - each["empty"] / most) for each in told)
    return {
        "number": number,
        "points": " ".join(f"{x * _EDGE:.0f},{y * _EDGE:.0f}" for x, y in points),
        "says": f"{told[0]['empty']} bins were empty after {told[0]['seconds']:.0f} s, "
        f"{last['empty']} after {seconds:.0f} s",
    }


def _with_files(finding: Mapping[str, Any], beside: Path) -> dict[str, Any]:
    place: Path = finding["folder"]
    names = [name for name in (CASE, ENTRY, STORY, CAPTURE) if (place / name).is_file()]
    return {
        **finding,
        "name": place.name,
        "story": printable_lines((place / STORY).read_text().strip()),
        "files": [(name, quote(os.path.relpath(place / name, beside))) for name in names],
    }
