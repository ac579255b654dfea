# SPDX-License-Identifier: BSD-2-Clause
"""The mutant matrix: every mutant against the cases that should find it.

    python -m roceproof.conformance.matrix [ID ...]

Writes build/mutants/matrix.json (part.json for some IDs) and exits with 1 if a mutant lives, a
MUST rule finds none, a mutant of the ICRC or the PSN is explained as something else, or the
healthy device fails.
"""

import json
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from roceproof.common.arguments import JOBS, OUTPUT_FOLDER
from roceproof.common.outcome import end_as
from roceproof.common.output import output_directory
from roceproof.conformance.matrix.candidates import (
    KINDS,
    Candidate,
    Cases,
    arguments_for,
    candidates,
    cases_of,
)
from roceproof.conformance.matrix.progress import progress
from roceproof.conformance.matrix.workers import run_session, workers
from roceproof.conformance.rules.table import RULES, Severity
from roceproof.conformance.runner.outcomes import FAILING

BUILD = Path("build/mutants")
SCHEMA = 1
_NO_NAMES = {"undecided", "lost", "corrupt"}


@dataclass(frozen=True)
class Effort:
    """After how many failing cases a mutant is left alone, and what is said about the cases."""

    failures: int
    options: tuple[str, ...] = ()


WHOLE = Effort(24)
BRIEF = Effort(3, ("--roce-width", "64"))


@dataclass(frozen=True)
class Run:
    """What became of a device: the rules found broken and the diagnoses, by failing case."""

    broken: dict[str, list[str]]
    explained: dict[str, list[str]]
    seconds: float


def run_cases(
    cases: Sequence[str], *, target: str, mutant: str | None, out: Path, effort: Effort = WHOLE
) -> Run:
    """Run cases against a mutant, or the healthy device, in this process.

    An error of the bench or of a case's own code kills no mutant; only a verdict does.
    """
    started = time.monotonic()
    if not cases:
        return Run(broken={}, explained={}, seconds=0.0)
    place = out / "runs" / target / (mutant or "healthy")
    report = place / "results.json"
    report.unlink(missing_ok=True)
    arguments = [*arguments_for(target), *effort.options]
    arguments += ["--roce-report", str(report), "--roce-captures", str(place)]
    if mutant:
        arguments += ["--roce-mutant", mutant, "--maxfail", str(effort.failures)]
    run_session([*arguments, *cases])
    cases_told = json.loads(report.read_text())["cases"]
    bad = [c for c in cases_told if c["outcome"] in FAILING]
    failing = [c for c in bad if not mutant or "broken" in c]
    return Run(
        broken={case["case"]: case.get("broken", case.get("rules", [])) for case in failing},
        explained={case["case"]: case.get("explained", []) for case in failing},
        seconds=time.monotonic() - started,
    )


def run_mutant(candidate: Candidate, cases: Cases, out: Path, effort: Effort) -> Run:
    """The cases that name an expected rule; the smoke suite, too, if none of them finds it.

    Some rules only the observer sees, in whatever case breaks them.
    """
    where = {"target": candidate.target, "mutant": candidate.name}
    run = run_cases(cases.against(candidate), **where, out=out, effort=effort)
    found = {rule for rules in run.broken.values() for rule in rules}
    if not found.isdisjoint(candidate.expected):
        return run
    more = run_cases(sorted(cases.smoke), **where, out=out, effort=effort)
    return Run(
        broken=run.broken | more.broken,
        explained=run.explained | more.explained,
        seconds=run.seconds + more.seconds,
    )


def verdict(candidate: Candidate, run: Run) -> dict[str, Any]:
    """One row of the matrix."""
    found = {rule for rules in run.broken.values() for rule in rules}
    named = {name for names in run.explained.values() for name in names} - _NO_NAMES
    return {
        "id": candidate.id,
        "kind": candidate.kind,
        "description": candidate.description,
        "expected": list(candidate.expected),
        "killed_by": [rule for rule in RULES if rule in found],
        "explained_as": sorted(named),
        "should_be_explained_as": list(candidate.explained_as),
        "cases": len(run.broken),
        "seconds": round(run.seconds, 1),
    }


def problems(rows: Iterable[dict[str, Any]], healthy: Sequence[str], *, whole: bool) -> list[str]:
    """Everything that is wrong with a matrix, a line each."""
    rows = list(rows)
    found = [f"the healthy device fails {case}" for case in healthy]
    for row in rows:
        if not set(row["expected"]) & set(row["killed_by"]):
            by = ", ".join(row["killed_by"]) or "nothing"
            found.append(f"{row['id']} lives: expected {row['expected']}, found by {by}")
        found += _misnamed(row)
    if whole:
        proven = {rule for row in rows for rule in row["expected"] if rule in row["killed_by"]}
        found += [
            f"{rule.id} (must) finds no mutant"
            for rule in RULES.values()
            if rule.severity is Severity.MUST and rule.id not in proven
        ]
    return found


def _misnamed(row: dict[str, Any]) -> list[str]:
    wanted = set(row["should_be_explained_as"])
    classes = [set(name.split("=")) for name in row["explained_as"]]
    if wanted and not any(wanted & names for names in classes):
        return [f"{row['id']} is explained as {row['explained_as'] or 'nothing'}, not {wanted}"]
    return []


def healthy_failures(cases: dict[str, Cases], pool: ProcessPoolExecutor, out: Path) -> list[str]:
    """The cases that the healthy devices fail; there must be none."""
    runs = {
        target: pool.submit(run_cases, list(found.rules), target=target, mutant=None, out=out)
        for target, found in cases.items()
    }
    return [f"{target} {case}" for target, run in runs.items() for case in run.result().broken]


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("-j", "jobs", type=JOBS, default=2, show_default=True)
@click.option("--brief", is_flag=True, help="At one width, and until a few cases have failed.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--out", type=OUTPUT_FOLDER, default=BUILD, show_default=True)
def main(ids: tuple[str, ...], jobs: int, brief: bool, quiet: bool, out: Path) -> None:
    """Run every mutant, or those named, against the cases that should find it."""
    with output_directory(out):
        _main(ids, jobs=jobs, effort=BRIEF if brief else WHOLE, quiet=quiet, out=out)


def _main(ids: tuple[str, ...], *, jobs: int, effort: Effort, quiet: bool, out: Path) -> None:
    started = time.monotonic()
    chosen = [c for c in candidates() if not ids or not {c.id, c.name}.isdisjoint(ids)]
    if not chosen:
        raise click.UsageError(f"no mutant is called {' or '.join(ids)}")
    targets = sorted({c.target for c in chosen})
    cases = {target: cases_of(target, effort.options) for target in targets}
    with workers(jobs) as pool:
        healthy = [] if ids else healthy_failures(cases, pool, out)
        rows = _run_all(chosen, cases, pool, effort=effort, quiet=quiet, out=out)
    rows.sort(key=lambda row: [c.id for c in chosen].index(row["id"]))
    wrong = problems(rows, healthy, whole=not ids)
    document = {"schema": SCHEMA, "mutants": rows, "healthy_failures": healthy, "problems": wrong}
    name = "part.json" if ids else "matrix.json"
    (out / name).write_text(json.dumps(document, indent=1) + "\n")
    _report(rows, wrong, seconds=time.monotonic() - started)
    sys.exit(1 if wrong else 0)


def _run_all(
    chosen: Sequence[Candidate],
    cases: dict[str, Cases],
    pool: ProcessPoolExecutor,
    *,
    effort: Effort,
    quiet: bool,
    out: Path,
) -> list[dict[str, Any]]:
    rows = []
    runs = {pool.submit(run_mutant, c, cases[c.target], out, effort): c for c in chosen}
    with progress(len(chosen), quiet=quiet) as tell:
        for run in as_completed(runs):
            rows.append(verdict(runs[run], run.result()))
            tell(runs[run].id)
    return rows


def _report(rows: Sequence[dict[str, Any]], wrong: Sequence[str], *, seconds: float) -> None:
    """How many of how many find an expected rule, and behind it those that do not."""
    killed = sum(bool(set(row["expected"]) & set(row["killed_by"])) for row in rows)
    named = sum(bool(row["should_be_explained_as"]) and not _misnamed(row) for row in rows)
    to_name = sum(bool(row["should_be_explained_as"]) for row in rows)
    kinds = ", ".join(f"{sum(row['kind'] == kind for row in rows)} {kind}" for kind in KINDS)
    print(
        f"{killed} of {len(rows)} mutants ({kinds}) killed by an expected rule, "
        f"{named} of {to_name} explained by name; {seconds:.0f} s"
    )
    if wrong:
        print(f"{len(wrong)} to look at:")
    for line in wrong:
        print(f"  {line}")


if __name__ == "__main__":
    end_as(main)
