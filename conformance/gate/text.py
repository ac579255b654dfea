# SPDX-License-Identifier: BSD-2-Clause
"""The verdict of a gate on one screen: stage by stage, root causes first, then the files."""

from collections import Counter
from pathlib import Path
from typing import Any

from rich.markup import escape

from roceproof.common.terminal import Terminal
from roceproof.conformance.gate.document import told_landed, told_plans, told_seeds, told_verdict
from roceproof.conformance.regression.findings import print_findings
from roceproof.conformance.regression.report import print_skips, print_warnings
from roceproof.conformance.runner.connectivity import first_fails, told_first
from roceproof.conformance.runner.outcomes import FAILED

Document = dict[str, Any]
_STYLES = {"passed": "green", "failed": "red", "skipped": "cyan", "waived": "cyan"}
_MOST_SKIPS, _MOST_NAMES, _MOST_LINES, _MOST_OF_A_CHECK = 5, 8, 6, 24


def print_gate(document: Document, *, out: Path, quiet: bool) -> None:
    """Print it; nothing where all is well and nobody wants to hear it."""
    verdict = document["verdict"]
    if quiet and verdict == "pass":
        return
    console = Terminal()
    _print_connectivity(document, console)
    _print_cases(document, console)
    _print_plans(document, console)
    _print_guest(document, console)
    _print_baseline(document, console)
    style = "bold green" if verdict == "pass" else "bold red"
    told = escape(told_verdict(document))
    console.print(f"\n[{style}]{verdict.upper()}[/] {told}", highlight=False)
    for name in ("gate.html", "gate.json"):
        console.print(escape(str(out / name)))


def _print_connectivity(document: Document, console: Terminal) -> None:
    for check in document["connectivity"]:
        style = _STYLES[check["outcome"]]
        what = f"{check['width']} bit: {check['says']}"
        console.print(f"[{style}]{check['outcome']}[/] {escape(what)}", highlight=False)
        for line in check["words"].splitlines()[:_MOST_OF_A_CHECK]:
            console.print(escape(f"       {line}"), highlight=False)


def _print_cases(document: Document, console: Terminal) -> None:
    counts = document["cases"]
    if not counts:
        asked = {check["name"]: check["outcome"] for check in document["connectivity"]}
        begun = "came to no end" if document["lacks"] else "was not begun"
        if asked and first_fails(asked):
            begun = f"was not begun: the first {told_first(asked)} fails"
        console.print(f"the suite {begun}")
        return
    told = [
        f"[{_STYLES.get(outcome, 'red')}]{count} {outcome.replace('_', ' ')}[/]"
        for outcome, count in counts.items()
    ]
    console.print(f"{document['suite']} suite: {', '.join(told)}")
    skips = Counter({skip["reason"]: skip["cases"] for skip in document["skips"]})
    few = _MOST_SKIPS if document["findings"] else None
    print_skips(skips, console, few=few, others_in="gate.html lists each")
    print_warnings(document["warnings"], console)
    for waiver in document["waivers"]:
        if waiver["finding"]:
            console.print(f"[red]{escape(waiver['finding'])}[/]", highlight=False)
    print_findings(document["findings"], counts, console)


def _print_plans(document: Document, console: Terminal) -> None:
    found = document["plan_findings"]
    style = "red" if found else "green"
    console.print(f"random plans: {document['plans']} played, [{style}]{told_plans(document)}[/]")
    console.print(escape(f"       {told_seeds(document)}"), highlight=False)
    alone = [each for each in document["findings"] if not each["cases"]]
    if found and not alone:
        console.print("       all of them show what is told above")
    for finding in alone[:1]:
        for line in finding["story"].splitlines()[: 4 * _MOST_LINES]:
            console.print(escape(f"       {line}"), highlight=False)
    bins = sum(each["bins"] for each in document["coverage"].values())
    filled = sum(each["filled"] for each in document["coverage"].values())
    if bins:
        console.print(f"coverage: {filled} of {bins} bins filled")
    if document["depth"]:
        console.print(f"depth: {document['depth']}", markup=False)


def _print_guest(document: Document, console: Terminal) -> None:
    guest = document["guest"]
    told = told_landed(guest)
    style = _STYLES[guest["outcome"]]
    console.print(f"Soft-RoCE: {told}[{style}]{guest['outcome']}[/] {escape(guest['words'])}")
    if guest["outcome"] == FAILED:
        for line in [*guest["details"], *guest["findings"][:_MOST_LINES]]:
            console.print(escape(f"       {line}"), highlight=False)


def _print_baseline(document: Document, console: Terminal) -> None:
    baseline = document["baseline"]
    if baseline is None:
        return
    known = len(document["failures"]) - len(baseline["new"])
    console.print(f"against {escape(baseline['file'])}: {known} failures are known")
    for word, style in (("new", "red"), ("better", "green")):
        names = baseline[word]
        if names:
            console.print(
                f"  [{style}]{len(names)} {word}[/]: {escape(', '.join(names[:_MOST_NAMES]))}"
                + (", ..." if len(names) > _MOST_NAMES else "")
            )
