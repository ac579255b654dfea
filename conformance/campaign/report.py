# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof fuzz status`` and ``report``: what the runs of a folder have come to."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from roceproof.common.exit_codes import Exit
from roceproof.common.printable import printable_lines
from roceproof.conformance.campaign.folder import CAPTURE, STORY, Folder


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
    for run in runs:
        rate = run["programs"] / max(run["seconds"], 0.1)
        state = "over" if run["is_over"] else "running, or was ended"
        click.echo(
            f"run {run['number']}: {_device(run)}: {run['programs']} programs "
            f"in {run['seconds']:.0f} s, {rate:.1f} programs/s, {len(run['found'])} findings, "
            f"{run['empty']} bins empty; {state}"
        )
    programs = sum(run["programs"] for run in runs)
    click.echo(f"{programs} programs, {len(found)} findings, {len(entries)} entries")
    return Exit.FINE


def run_report(path: Path, *, as_json: bool) -> int:
    """Every finding with its story; 1 if there is any."""
    folder = Folder(path)
    folder.require()
    found, devices = folder.findings(), dict[str, Counter[str]]()
    for run in folder.runs():
        devices.setdefault(_device(run), Counter()).update(run["found"])
    programs = sum(devices.values(), Counter())
    found.sort(key=lambda each: -programs[each["folder"].name])
    if as_json:
        told = [
            each
            | {"folder": str(each["folder"]), "programs": programs[each["folder"].name]}
            | {"devices": {name: of[each["folder"].name] for name, of in devices.items()}}
            for each in found
        ]
        click.echo(json.dumps({"findings": told}, indent=1))
        return Exit.FINDINGS if found else Exit.FINE
    for each in found:
        explained = f"; explain: {', '.join(each['explained'])}" if each["explained"] else ""
        name = each["folder"].name
        click.echo(f"{name}: {programs[name]} programs, {each['steps']} steps{explained}")
        for device, of in devices.items() if len(devices) > 1 else ():
            click.echo(f"  on {device}: {of[name] or 'no'} programs")
        click.echo(printable_lines(story_of(each)) + "\n")
    click.echo(f"{len(found)} findings")
    return Exit.FINDINGS if found else Exit.FINE


def _device(run: Mapping[str, Any]) -> str:
    return f"{run['device']} with {run['mutant']}" if run["mutant"] else str(run["device"])
