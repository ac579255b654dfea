# SPDX-License-Identifier: BSD-2-Clause
"""Measures the stimulus by the faults of the measuring kinds in rtl/mutants.

    python -m roceproof.conformance.matrix.measure [ID or KIND ...]

Writes build/mutants/reach.json, says which rates are below their bars when all faults were
measured, and exits with 1 if the healthy device fails.
"""

import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import click

from roceproof.common.arguments import DATA_WIDTH, JOBS, OUTPUT_FOLDER
from roceproof.common.outcome import end_as
from roceproof.common.output import output_directory
from roceproof.conformance.matrix.progress import progress
from roceproof.conformance.matrix.reach import Found, Parts, Reached, measure, parts_of, watch
from roceproof.conformance.matrix.workers import workers
from roceproof.conformance.mutants.rtl import Mutant, load_mutants, triggers_of

BUILD = Path("build/mutants")
SCHEMA = 1
BARS = {"smoke": 60, "full": 95, "random": 85}
"""The least that each part of the suite has to notice, in percent of the faults."""


@click.command()
@click.argument("names", nargs=-1, metavar="[ID or KIND]...")
@click.option("-j", "jobs", type=JOBS, default=2, show_default=True)
@click.option("--brief", is_flag=True, help="Leave each fault alone once a case has noticed it.")
@click.option("-k", "expression", default="", help="Of the cases only these, as pytest's -k.")
@click.option(
    "--width", "widths", type=DATA_WIDTH, multiple=True, help="Data width; may be repeated."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--out", type=OUTPUT_FOLDER, default=BUILD, show_default=True)
def main(
    names: tuple[str, ...],
    jobs: int,
    brief: bool,
    expression: str,
    widths: tuple[int, ...],
    quiet: bool,
    out: Path,
) -> None:
    """Say for each fault, or those named, which cases reach it and which notice."""
    mutants = load_mutants().mutants
    chosen = [m for m in mutants if m.kind and (not names or {m.id, m.kind} & set(names))]
    if not chosen:
        raise click.UsageError(f"no fault and no kind is called {' or '.join(names)}")
    started = time.monotonic()
    with output_directory(out):
        parts = parts_of(widths=widths, expression=expression)
        with workers(jobs) as pool:
            reached, failing = watch(parts, pool, jobs=jobs, folder=out / "reached")
            watched = time.monotonic() - started
            found = _run(chosen, reached, parts, pool, brief=brief, quiet=quiet, out=out)
        document = _document(found, parts, _proofs_reached(mutants, reached))
        document["healthy_failures"] = [_short(case) for case in failing]
        (out / "reach.json").write_text(json.dumps(document, indent=1) + "\n")
    _print(document, brief=brief)
    seconds = time.monotonic() - started
    print(f"{seconds:.0f} s, {watched:.0f} s of them for {len(parts.cases)} cases, watched")
    below = [] if names or brief or expression or widths else document["below"]
    wrong = [f"the healthy device fails {case}" for case in document["healthy_failures"]]
    for line in (*wrong, *below):
        print(line)
    sys.exit(1 if wrong else 0)


def _run(
    chosen: Sequence[Mutant],
    reached: Reached,
    parts: Parts,
    pool: ProcessPoolExecutor,
    *,
    brief: bool,
    quiet: bool,
    out: Path,
) -> list[Found]:
    found = []
    with progress(len(chosen), quiet=quiet) as tell:
        for done in as_completed(measure(chosen, reached, parts, pool, brief=brief, out=out)):
            found.append(done.result())
            tell(found[-1].mutant.id)
    return sorted(found, key=lambda each: each.mutant.number)


def _proofs_reached(mutants: Sequence[Mutant], reached: Reached) -> dict[str, int | None]:
    """In how many cases the triggers of the other mutants held; None if one has no trigger."""
    triggers = triggers_of(load_mutants())
    return {
        mutant.id: sum(
            any(mutant.number in numbers for numbers in seeds.values())
            for seeds in reached.values()
        )
        if triggers[mutant.id]
        else None
        for mutant in mutants
        if mutant.kind is None
    }


def _document(
    found: Sequence[Found], parts: Parts, proofs: Mapping[str, int | None]
) -> dict[str, Any]:
    everything = frozenset(parts.cases)
    where = {"smoke": parts.smoke, "full": everything, "random": parts.random}
    kinds = dict.fromkeys(each.mutant.kind for each in found)
    rates = {
        str(kind or "all"): {
            "faults": len(some),
            "reached": sum(bool(each.reached) for each in some),
            **{name: sum(each.by(cases) for each in some) for name, cases in where.items()},
            "once": sum(len(each.noticed) == 1 for each in some),
        }
        for kind in (*kinds, None)
        if (some := [each for each in found if kind in (None, each.mutant.kind)])
    }
    every = rates["all"]
    return {
        "schema": SCHEMA,
        "cases": {name: len(cases) for name, cases in where.items()},
        "rates": rates,
        "below": [
            f"{name} notices {every[name]} of {every['faults']} faults, less than {bar} %"
            for name, bar in BARS.items()
            if 100 * every[name] < bar * every["faults"]
        ],
        "faults": [_row(each, where) for each in found],
        "proofs": dict(proofs),
    }


def _row(found: Found, where: Mapping[str, frozenset[str]]) -> dict[str, Any]:
    return {
        "id": found.mutant.id,
        "kind": found.mutant.kind,
        "description": found.mutant.description,
        "reached": len(found.reached),
        "reached_first": [_short(case) for case in list(found.reached)[:3]],
        "noticed": [_short(case) for case in found.noticed],
        **{name: found.by(cases) for name, cases in where.items()},
        "seconds": round(found.seconds, 1),
    }


def _short(case: str) -> str:
    return case.rpartition("/")[2]


def _print(document: Mapping[str, Any], *, brief: bool) -> None:
    columns = ("faults", "reached", *BARS, "once")
    print(f"{'kind':16}" + "".join(f"{name:>9}" for name in columns))
    for kind, counts in document["rates"].items():
        print(f"{kind:16}" + "".join(f"{counts[name]:>9}" for name in columns))
    rows = document["faults"]
    _list("never reached", (row["id"] for row in rows if not row["reached"]))
    _list(
        "reached and missed",
        (f"{row['id']} ({row['reached']})" for row in rows if row["reached"] and not row["full"]),
    )
    once = (row for row in rows if len(row["noticed"]) == 1 and not brief)
    _list("noticed by one case only", (f"{row['id']}: {row['noticed'][0]}" for row in once))
    blind = [name for name, times in document["proofs"].items() if times is None]
    proofs = len(document["proofs"])
    print(f"{proofs - len(blind)} of {proofs} other mutants have a trigger, too")


def _list(title: str, lines: Iterable[str]) -> None:
    for number, line in enumerate(lines):
        if not number:
            print(f"{title}:")
        print(f"  {line}")


if __name__ == "__main__":
    end_as(main)
