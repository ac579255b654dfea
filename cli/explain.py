# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof explain``: what the sender of wrong packets does wrong, for people and machines."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import qps_option
from roceproof.common.arguments import COUNT
from roceproof.common.exit_codes import Exit
from roceproof.common.printable import printable

if TYPE_CHECKING:
    from roceproof.conformance.diagnosis.report import Facts
    from roceproof.conformance.diagnosis.result import Diagnosis


_SCHEMA = 1


@dataclass(slots=True)
class Explained:
    """A capture with its diagnoses, and in words what was left out."""

    name: str
    diagnoses: list[Diagnosis]
    notes: list[str] = field(default_factory=list)
    error: str | None = None
    """Why it could not be read to its end."""
    wrong_left_out: int = 0
    """Frames with wrong ICRCs that were not looked at, since there are so many."""


@click.command(epilog=examples("explain"))
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@qps_option
@click.option("--frames", type=COUNT, default=10, show_default=True, help="Frame numbers to list.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing where there is nothing to explain.")
def explain(
    files: tuple[str, ...], as_json: bool, qps: Path | None, frames: int, quiet: bool
) -> None:
    """Name the misimplementation behind wrong ICRCs and PSNs (- is stdin); exit code 1 if any."""
    sys.exit(run_explain(files, as_json=as_json, qps=qps, quiet=quiet, frames=frames))


def run_explain(
    files: tuple[str, ...], *, as_json: bool, qps: Path | None, quiet: bool, frames: int
) -> int:
    """Print the diagnoses of each file; 1 if there is any, 2 if a file is damaged, else 0."""
    from roceproof.common.progress import Progress
    from roceproof.conformance.capture.record import CaptureError
    from roceproof.conformance.check.capture_input import say_what_is_awaited

    facts = None if qps is None else _facts(qps)
    results: list[Explained] = []
    damaged = False
    with Progress(quiet=quiet or as_json) as progress:
        for name in files:
            say_what_is_awaited(name, quiet=quiet)
            progress.step(f"explaining {printable(name)}")
            try:
                found = _explained(name, qps, facts)
            except CaptureError as error:
                if len(files) == 1:
                    raise
                found = Explained(name, [], error=str(error))
            results.append(found)
            if found.notes and not quiet:
                progress.problem(f"roceproof: {printable(name)}: {'; '.join(found.notes)}")
            if found.error is not None:
                damaged = True
                progress.problem(f"roceproof: {found.error}")
    if as_json:
        print(json.dumps(_document(results)))
    else:
        for found in results:
            _show(found, frames=frames, quiet=quiet)
    return Exit.UNUSABLE if damaged else int(any(found.diagnoses for found in results))


def _explained(name: str, qps: Path | None, facts: Facts | None) -> Explained:
    from roceproof.conformance.diagnosis.report import explain_excerpt
    from roceproof.conformance.diagnosis.source import read_capture

    with _no_collection():
        excerpt = read_capture(name, qps)
        explanation = explain_excerpt(excerpt, facts)
    diagnoses = _blamed(name, explanation.diagnoses)
    notes = explanation.notes + excerpt.notes
    return Explained(name, diagnoses, notes, excerpt.damage, excerpt.wrong_left_out)


def _blamed(name: str, diagnoses: list[Diagnosis]) -> list[Diagnosis]:
    """Without the blame of a link, where the capture says that there was none."""
    from roceproof.conformance.capture.origin import common_origin
    from roceproof.conformance.diagnosis.icrc.simulated import told_of_simulation
    from roceproof.conformance.diagnosis.result import CORRUPT

    return [
        told_of_simulation(found, common_origin(name, found.frames))
        if found.id == CORRUPT
        else found
        for found in diagnoses
    ]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Millions of objects that live to the end are not worth looking through for cycles."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _facts(path: Path) -> Facts:
    """The document itself, once it has proved well-formed."""
    from roceproof.conformance.observer.facts import Facts as QpFacts

    QpFacts.load(path)
    document: Facts = json.loads(path.read_text(encoding="utf-8"))
    return document


def _document(results: list[Explained]) -> dict[str, Any]:
    files = [
        {
            "file": found.name,
            "error": found.error,
            "diagnoses": [each.as_json() for each in found.diagnoses],
            "notes": found.notes,
            "wrong_frames_left_out": found.wrong_left_out,
        }
        for found in results
    ]
    return {"schema": _SCHEMA} | (files[0] if len(files) == 1 else {"files": files})


def _show(explained: Explained, *, frames: int, quiet: bool) -> None:
    from rich.text import Text

    from roceproof.common.terminal import Terminal
    from roceproof.conformance.diagnosis.result import COPIES, CORRUPT, LOST, UNDECIDED
    from roceproof.conformance.rules.signatures import title

    styles = {UNDECIDED: "yellow", CORRUPT: "cyan", COPIES: "cyan", LOST: "cyan"}
    console = Terminal()
    name = printable(explained.name)
    if not explained.diagnoses:
        if not quiet:
            where = "" if explained.error is None else " in what could be read"
            console.print(Text(f"{name}: nothing to explain{where}"))
        return
    console.print(Text(name, style="bold"))
    for found in explained.diagnoses:
        heading = Text(found.id, style=f"bold {styles.get(found.id, 'red')}")
        if (words := title(found.id)) != found.id:
            heading.append(f": {words}", style="default")
        console.print(heading)
        for line in _lines(found, frames, explained.wrong_left_out):
            console.print(Text(f"  {line}"))


def _lines(found: Diagnosis, limit: int, left_out: int) -> list[str]:
    numbers = ", ".join(map(str, found.frames[:limit]))
    more = len(found.frames) - limit
    of = f"{found.of} wrong frames" + (" looked at" if left_out else "")
    lines = [
        f"explains {found.explained} of {of}",
        found.text,
        found.advice,
        f"frames {numbers}" + (f" and {more} more" if more > 0 else ""),
    ]
    if found.equivalent:
        lines.insert(1, "equally possible: " + ", ".join(found.equivalent))
    return [line for line in lines if line]
