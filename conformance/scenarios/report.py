# SPDX-License-Identifier: BSD-2-Clause
"""What the commands of ``roceproof scenario`` do: run, keep and tell."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roceproof.common.errors import RoceproofError
from roceproof.common.output import output_directory
from roceproof.common.page import rendered, templates
from roceproof.common.plain import Cell, print_table
from roceproof.common.printable import printable
from roceproof.common.progress import Progress
from roceproof.common.whole_file import whole_file
from roceproof.conformance.scenarios.catalogue import SCENARIOS, scenario_of
from roceproof.conformance.scenarios.plot import svg
from roceproof.conformance.scenarios.run import SCHEMA, Result, rows_of
from roceproof.conformance.scenarios.scenario import AnyScenario, Row, SceneScenario

if TYPE_CHECKING:
    from roceproof.conformance.scenarios.device import DeviceSender

RESULT, PLOT, PAGE = "result.json", "plot.svg", "scenarios.html"
_SHOWN = 24
_ROOM = "roceproof.conformance.scenarios"
_STYLES = (("roceproof.conformance.coverage", "page.css"), (_ROOM, "scenarios.css"))


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What was asked for."""

    names: Sequence[str]
    quick: bool
    seed: int
    jobs: int
    cluster: str | None
    out: Path
    plots: bool
    as_json: bool
    quiet: bool
    dut: Path | None = None
    width: int | None = None


def list_scenarios(*, as_json: bool) -> int:
    """Print the ids, each with its title."""
    if as_json:
        told = [{"id": each.id, "title": each.title} for each in SCENARIOS.values()]
        print(json.dumps(told, indent=1))
    else:
        print_table(("id", "title"), [(each.id, each.title) for each in SCENARIOS.values()])
    return 0


def run_scenarios(wanted: Wanted) -> int:
    """Play each, keep what came of it in a folder of its id, and tell; 1 if a law did not hold."""
    scenarios = [scenario_of(name) for name in wanted.names]
    sender = _sender(wanted)
    documents = []
    with output_directory(wanted.out), Progress(quiet=wanted.quiet) as progress:
        for scenario in scenarios:
            result = _played(scenario, wanted, progress, sender)
            if not result.rows:
                print(f"{scenario.id}: not played: only a full run does", file=sys.stderr)
                continue
            documents.append(result.document())
            _keep(result, wanted)
            if not wanted.as_json:
                _tell(result, rows=len(scenarios) == 1)
        _write_page(wanted.out)
    if wanted.as_json:
        print(json.dumps(documents, indent=1))
    elif len(scenarios) > 1:
        print(f"{sum(each['passed'] for each in documents)} of {len(documents)} scenarios passed")
    return 0 if all(each["passed"] for each in documents) else 1


def _sender(wanted: Wanted) -> DeviceSender | None:
    if wanted.dut is None:
        if wanted.width is not None:
            raise RoceproofError("--width is that of a device; name it with --dut")
        return None
    from roceproof.conformance.scenarios.device import DeviceSender

    return DeviceSender(wanted.dut, width=wanted.width)


def _played(
    scenario: AnyScenario, wanted: Wanted, progress: Progress, sender: DeviceSender | None
) -> Result:
    if sender is not None:
        if isinstance(scenario, SceneScenario):
            raise RoceproofError(
                f"{scenario.id}: no device can stand in there; take light-throughput"
            )
        scenario = replace(scenario, title=f"{scenario.title}: {sender.name}")
        points = len(sender.points(scenario, quick=wanted.quick, seed=wanted.seed))
        played = sender.rows(scenario, quick=wanted.quick, seed=wanted.seed)
    else:
        points = sum(1 for _ in scenario.points(wanted.quick, wanted.seed))
        place = wanted.out / scenario.id
        place.mkdir(exist_ok=True)
        for old in (*place.glob("*.pcapng"), *place.glob("*.qps.json")):
            old.unlink()
        played = rows_of(
            scenario,
            quick=wanted.quick,
            seed=wanted.seed,
            jobs=wanted.jobs,
            cluster=wanted.cluster,
            folder=place,
        )
    rows: list[Row] = []
    with progress.bar(scenario.id, total=points, unit="points") as bar:
        for row in played:
            rows.append(row)
            bar.advance()
    checks = list(scenario.checks(rows))
    return Result(scenario, wanted.seed, wanted.quick, rows, checks)


def _keep(result: Result, wanted: Wanted) -> None:
    place = wanted.out / result.scenario.id
    place.mkdir(exist_ok=True)
    with whole_file(place / RESULT) as part:
        part.write_text(json.dumps(result.document(), indent=1) + "\n")
    (place / PLOT).unlink(missing_ok=True)
    if wanted.plots:
        with whole_file(place / PLOT) as part:
            part.write_text(svg(result))


def _tell(result: Result, *, rows: bool) -> None:
    verdict = "passed" if result.passed else "FAILED"
    print(f"{result.scenario.id}: {verdict}: {printable(result.scenario.title)}")
    if result.scenario.published:
        print(f"  published: {result.scenario.published}")
    print(f"  ours: {result.ours}")
    if rows and result.rows:
        keys = list(dict.fromkeys(key for row in result.rows for key in row))
        shown = [[_word(row.get(key, "")) for key in keys] for row in result.rows[:_SHOWN]]
        print_table(keys, shown, right=len(keys))
        if len(result.rows) > _SHOWN:
            print(f"and {len(result.rows) - _SHOWN} rows more, in {RESULT}")
    checks = result.checks if rows else [each for each in result.checks if not each.passed]
    if checks:
        print_table(
            ("", "law", "want", "got"),
            [
                (
                    Cell("ok", "green") if check.passed else Cell("FAIL", "red"),
                    check.name,
                    check.want,
                    check.got,
                )
                for check in checks
            ],
        )


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def report(folder: Path) -> int:
    """Make the page of all results in a folder anew; 1 if a law did not hold."""
    with output_directory(folder):
        documents = _write_page(folder)
    if not documents:
        raise RoceproofError(f"{folder}: no results there; run: roceproof scenario all")
    print(folder / PAGE)
    return 0 if all(each["passed"] for each in documents) else 1


def _write_page(folder: Path) -> list[dict[str, Any]]:
    documents = []
    for place in sorted(folder.glob(f"*/{RESULT}")):
        try:
            document = json.loads(place.read_text())
            current = document["schema"] == SCHEMA and "scenario" in document
        except (OSError, ValueError, TypeError, KeyError):
            current = False
        if not current:
            raise RoceproofError(f"{place}: no result of this version; remove it, and run it again")
        plot = place.with_name(PLOT)
        documents.append({**document, "plot": plot.read_text() if plot.exists() else ""})
    order = list(SCENARIOS)
    documents.sort(
        key=lambda each: (
            order.index(each["scenario"]) if each["scenario"] in order else len(order),
            each["scenario"],
        )
    )
    with whole_file(folder / PAGE) as part:
        part.write_text(page(documents))
    return documents


def page(documents: list[dict[str, Any]]) -> str:
    """Published figure, ours and verdict side by side, with every law and plot."""
    pictures = [
        f"data:image/svg+xml;base64,{b64encode(each['plot'].encode()).decode()}"
        if each["plot"]
        else ""
        for each in documents
    ]
    return rendered(
        templates(_ROOM).get_template("scenarios.html.j2"),
        _STYLES,
        results=list(zip(documents, pictures, strict=True)),
    )
