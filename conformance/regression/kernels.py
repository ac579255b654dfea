# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof kernels``: the suite on one kernel behind the other, and a matrix of what they do.

A kernel that cannot be had or does not boot is told and left out; the others still run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roceproof.common.errors import RoceproofError
from roceproof.common.exit_codes import Exit
from roceproof.common.interruption import interruptions_held
from roceproof.common.notice import notice
from roceproof.common.output import output_directory
from roceproof.common.progress import Progress
from roceproof.common.terminal import Terminal
from roceproof.conformance.devices.column import UNDECLARED, column_of
from roceproof.conformance.devices.files import remove_matrix, write_matrix
from roceproof.conformance.devices.matrix import document_of
from roceproof.conformance.regression.request import Output, Request
from roceproof.conformance.regression.run import run_session
from roceproof.rxe_env.kernel import versions
from roceproof.rxe_env.kernel.distribution import Kernel

DEFAULT = ("6.1", "6.12", versions.NEWEST)
KERNELS = "kernels"

Document = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Runs:
    kernels: Sequence[str]
    suite: str
    seed: int
    expression: str | None
    out: Path
    jobs: int
    quiet: bool


def run_kernels(runs: Runs) -> int:
    """Run them all and write the matrix; 1 if anything is undeclared, 2 if a kernel is missing."""
    columns: dict[Path, Document] = {}
    is_whole = True
    with output_directory(runs.out):
        remove_matrix(runs.out, KERNELS)  # nothing may be taken for what this run finds
        for wanted in runs.kernels:
            try:
                kernel = _fetched(wanted, quiet=runs.quiet)
                if kernel.directory in columns:
                    continue
                namesakes = sum(column["release"] == kernel.release for column in columns.values())
                place = runs.out / (kernel.release + (f"-{1 + namesakes}" if namesakes else ""))
                column = columns[kernel.directory] = _run(kernel.release, wanted, runs, place)
            except RoceproofError as error:
                notice(f"{wanted}: {error}")
                is_whole = False
                continue
            write_matrix(document_of(columns.values()), runs.out, KERNELS)
            _tell(column, place)
    if not is_whole:
        return Exit.UNUSABLE
    has_failed = any(_failures(column) for column in columns.values())
    return Exit.FINDINGS if has_failed else Exit.FINE


def _fetched(wanted: str, *, quiet: bool) -> Kernel:
    with Progress(quiet=quiet) as progress:
        return versions.find(wanted, progress.step)


def _run(release: str, wanted: str, runs: Runs, place: Path) -> Document:
    request = Request(
        target="rxe",
        suite=runs.suite,
        seed=runs.seed,
        expression=runs.expression,
        kernel=versions.pinned(wanted),
        jobs=runs.jobs,
    )
    output = Output(directory=place, quiet=runs.quiet, stories=False)
    output.directory.mkdir(parents=True, exist_ok=True)
    with interruptions_held():
        session = run_session(request, output)
    if session is None:
        raise RoceproofError("the suite did not run: see above")
    if session.is_interrupted:
        raise KeyboardInterrupt
    return column_of(session.document, release)


def _failures(column: Document) -> int:
    return sum(column["cases"].get(outcome, 0) for outcome in ("failed", "not_reached", "error"))


def _tell(column: Document, place: Path) -> None:
    cases, console = column["cases"], Terminal()
    deviating = len(column["deviations"])
    stale = sum(column["stale"].values())
    undeclared = _failures(column) - stale
    style = "red" if _failures(column) else "green"
    console.print(
        f"Linux {column['release']}: {cases.get('passed', 0)} passed, "
        f"{cases.get('deviation', 0)} show "
        f"{deviating} known deviations, [{style}]{undeclared} undeclared[/]",
        highlight=False,
    )
    if stale:
        names = ", ".join(column["stale"])
        console.print(f"  no longer shows {names} in {stale} cases: narrow its kernels")
    if undeclared:
        broken = [rule for rule, cell in column["rules"].items() if cell["verdict"] == UNDECLARED]
        console.print(f"  breaks {', '.join(broken)}: {place / 'drafts.toml'}")
