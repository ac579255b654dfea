# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof fuzz status`` and ``report``: what the runs of a folder have come to."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from roceproof.common.exit_codes import Exit
from roceproof.common.printable import printable_lines
from roceproof.common.whole_file import whole_file
from roceproof.conformance.campaign.folder import CAPTURE, STORY, Folder
from roceproof.conformance.campaign.page import page
from roceproof.conformance.rules.table import is_warning


def story_of(finding: Mapping[str, Any]) -> str:
    """What happened, the case that repeats it, the command for that, and what else there is."""
    folder = finding["folder"]
    lines = [(folder / STORY).read_text().strip(), f"replay: {finding['replay']}"]
    if (folder / CAPTURE).is_file():
        lines.append(f"look:   roceproof explain {os.path.relpath(folder / CAPTURE)}")
    return "\n".join(lines)


def run_status(path: Path, *, as_json: bool) -> int:
    """How far each run is."""
    folder = Folder(path)
    folder.require()
    runs = folder.runs()
    found, entries = folder.findings(), folder.entries()
    if as_json:
        told = {"runs": runs, "findings": len(found), "entries": len(entries)}
        click.echo(json.dumps(told, indent=1))
        return Exit.FINE
    for run in map(_told, runs):
        click.echo(
            f"run {run['number']}: {run['device']}: {run['programs']} programs "
            f"in {run['seconds']:.0f} s, {run['rate']:.1f} programs/s, {len(run['found'])} "
            f"findings, {run['empty']} bins empty; {run['state']}"
        )
    programs = sum(run["programs"] for run in runs)
    click.echo(f"{programs} programs, {findings_told(found)}, {len(entries)} entries")
    return Exit.FINE


def run_report(path: Path, *, as_json: bool, output: Path | None) -> int:
    """Every finding with its story, also as a page; 1 if any is new and no mere warning."""
    folder = Folder(path)
    folder.require()
    found = _findings(folder)
    if output is not None:
        runs = [_told(run) for run in folder.runs()]
        with whole_file(output) as part:
            part.write_text(page(folder, runs=runs, findings=found, beside=output.parent))
    if as_json:
        told = [each | {"folder": str(each["folder"])} for each in found]
        click.echo(json.dumps({"findings": told}, indent=1))
        return Exit.FINDINGS if any(map(fails, found)) else Exit.FINE
    for each in filter(is_new, found):
        explained = f"; explain: {', '.join(each['explained'])}" if each["explained"] else ""
        may_be = f"; may be {', '.join(each['may_be'])}" if each.get("may_be") else ""
        name, devices = each["folder"].name, each["devices"]
        mild = "" if fails(each) else "; a warning: no must is broken"
        click.echo(
            f"{name}: {each['programs']} programs, {each['steps']} steps{explained}{may_be}{mild}"
        )
        for device, programs in devices.items() if len(devices) > 1 else ():
            click.echo(f"  on {device}: {programs or 'no'} programs")
        click.echo(printable_lines(story_of(each)) + "\n")
    for deviation, alike in by_deviation(found).items():
        programs = sum(each["programs"] for each in alike)
        places = ", ".join(os.path.relpath(each["folder"]) for each in alike)
        click.echo(f"declared {deviation}: {programs} programs, in {places}")
    click.echo(findings_told(found) + (f"\n{output}" if output else ""))
    return Exit.FINDINGS if any(map(fails, found)) else Exit.FINE


def fails(finding: Mapping[str, Any]) -> bool:
    """Whether a run ends with 1 for it: it is new, and no mere warning."""
    return is_new(finding) and not is_warning(finding["rules"])


def is_new(finding: Mapping[str, Any]) -> bool:
    """Whether no declared deviation of its device is what it shows."""
    return not finding.get("declared")


def by_deviation(findings: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Those that show declared deviations, by their names."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in findings:
        if not is_new(each):
            found.setdefault(each["declared"], []).append(each)
    return found


def findings_told(findings: Sequence[Mapping[str, Any]]) -> str:
    """How many there are, and apart from them how many declared deviations were seen."""
    counts = {
        "findings": sum(map(fails, findings)),
        "warnings": sum(is_new(each) and not fails(each) for each in findings),
        "declared deviations": len(by_deviation(findings)),
    }
    return ", ".join(f"{n} {what}" for what, n in counts.items() if n or what == "findings")


def _findings(folder: Folder) -> list[dict[str, Any]]:
    """Each with the programs that failed so, of each device and in all; the most frequent first."""
    devices = dict[str, Counter[str]]()
    for run in folder.runs():
        devices.setdefault(_device(run), Counter()).update(run["found"])
    found = []
    for each in folder.findings():
        programs = {device: of[each["folder"].name] for device, of in devices.items()}
        found.append({**each, "programs": sum(programs.values()), "devices": programs})
    return sorted(found, key=lambda each: -each["programs"])


def _told(run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **run,
        "device": _device(run),
        "rate": run["programs"] / max(run["seconds"], 0.1),
        "state": "over" if run["is_over"] else "running, or was ended",
    }


def _device(run: Mapping[str, Any]) -> str:
    return f"{run['device']} with {run['mutant']}" if run["mutant"] else str(run["device"])
