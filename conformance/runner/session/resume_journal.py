# SPDX-License-Identifier: BSD-2-Clause
"""A file with a line for every case that is over, by which a run that was cut short is taken up.

The first line says what was run on what. Lines are only ever added, so that whatever ends a run
leaves a journal whose whole lines hold; of several on one case the last holds. Each has the sum of
what it says: one that was damaged says nothing, and its case runs again.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from roceproof.common.errors import RoceproofError
from roceproof.common.shape import flaw
from roceproof.conformance.runner.findings.observed_shape import is_observed
from roceproof.conformance.runner.outcomes import ERROR, KNOWN

Document = dict[str, Any]
NAME = "cases.jsonl"
_SUM = "sum"

_DECIDED = frozenset(KNOWN) - {ERROR}
_ENTRY = {
    **dict.fromkeys(("case", "file", "outcome"), str),
    **dict.fromkeys(("reason?", "head?", "capture?", "replay?", "deviation?", "warning?"), str),
    **{key: [str] for key in ("rules?", "broken?", "explained?", "differed?")},
    "plans?": int,
}
_SHAPES = (
    {"case": str, "entry": _ENTRY, "observed": (dict, type(None))},
    {"again": [str]},
    {"run": object},
)


class Over(NamedTuple):
    """A case that is over: its entry in the results, and what it has seen, where that is kept."""

    entry: Document
    observed: Document | None


def begin(path: Path, run: Document) -> int:
    """Start a journal of a run; what it holds then has so many bytes."""
    _must_be_a_file(path)
    path.write_text(sealed_line({"run": run}), encoding="utf-8")
    return path.stat().st_size


def take_up(path: Path, run: Document) -> int:
    """The bytes of a journal that hold, which must be of the same run; what is torn is cut off."""
    _must_be_a_file(path)
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        raise RoceproofError(f"there is no {path} to take up: run without --resume") from None
    was = (_said(lines[0]) or {}).get("run") if lines else None
    if was != run:
        raise RoceproofError(f"{path} is of another run ({_differs(was, run)}): leave out --resume")
    while _said(lines[-1]) is None:
        lines.pop()
    size = sum(map(len, lines))
    os.truncate(path, size)
    return size


def cases_over(path: Path, size: int) -> dict[str, Over]:
    """By its node id what came of each case in the first bytes; those of a failing bench are not.

    Every process of a session reads the same, whatever has been added since.
    """
    found: dict[str, Over] = {}
    with path.open("rb") as file:
        lines = file.read(size).splitlines(keepends=True)
    for line in filter(None, map(_said, lines[1:])):
        for nodeid in line.get("again", ()):
            found.pop(nodeid, None)
        if "case" in line:
            found.pop(line["case"], None)
            if line["entry"]["outcome"] in _DECIDED:
                found[line["case"]] = Over(line["entry"], line["observed"])
    return found


def add(path: Path, nodeid: str, over: Over) -> None:
    """Note a case that is over."""
    _append(path, {"case": nodeid, "entry": over.entry, "observed": over.observed})


def run_again(path: Path, nodeids: Iterable[str]) -> None:
    """Note cases that say nothing about the device."""
    _append(path, {"again": list(nodeids)})


def _must_be_a_file(path: Path) -> None:
    """A pipe is waited for, and a device may have no end."""
    if path.exists() and not path.is_file():
        raise RoceproofError(f"{path} is no regular file: remove it")


def _append(path: Path, document: Document) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(sealed_line(document))


def sealed_line(document: Document) -> str:
    return json.dumps({**document, _SUM: _sum_of(document)}, sort_keys=True) + "\n"


def _sum_of(document: Document) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]


def _said(line: bytes) -> Document | None:
    """What it says; None if it is not as it was written."""
    try:
        document = json.loads(line) if line.endswith(b"\n") else None
        if isinstance(document, dict) and document.pop(_SUM, None) == _sum_of(document):
            seen = document.get("observed")
            is_whole = flaw(document, _SHAPES) is None and (seen is None or is_observed(seen))
            return document if is_whole else None
    except (ValueError, RecursionError):
        pass
    return None


def _differs(was: object, run: Document) -> str:
    if not isinstance(was, dict):
        return "it does not say of which"
    name = next(key for key in {**was, **run} if was.get(key) != run.get(key))
    return f"its {name} was {was.get(name)}, not {run.get(name)}"
