# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof rules --coverage``: every rule on every target, and why not.

The last columns name the RTL of ours that is held to what a requester and a responder must do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from roceproof.common.progress import Progress
from roceproof.common.terminal import Terminal
from roceproof.conformance.rules.open_rules import OPEN_RULES, Duty
from roceproof.conformance.rules.table import RULES, Rule, Severity
from roceproof.conformance.runner.rtl_rule_coverage import (
    PARTS,
    Found,
    cases_on_rtl,
    duties_of,
    problems,
)
from roceproof.conformance.runner.rule_coverage import (
    Coverage,
    Entry,
    Standing,
    coverage_of,
    missing,
)
from roceproof.conformance.runner.session.asked import TARGETS

_STYLES = {
    Standing.TESTED: "green",
    Standing.OBSERVED: "green",
    Standing.SKIPPED: "yellow",
    Standing.MISSING: "red",
}


def run_coverage(rules: Sequence[Rule], *, as_json: bool) -> int:
    """Print it; exit code 1 if a MUST rule is missing on a target or any is lost on RTL."""
    with Progress(quiet=False) as progress:
        progress.step("collecting the cases of each target")
        coverage = coverage_of()
        found: Found = {}
        if any(map(duties_of, rules)):
            progress.step("trying which cases run on RTL of ours")
            found = cases_on_rtl()
    lacking = [rule for rule in missing(coverage) if RULES[rule] in rules]
    wrong = problems(found, rules)
    if as_json:
        print(json.dumps(_document(coverage, rules, lacking, found, wrong)))
    else:
        _print(coverage, rules, lacking, found, wrong)
    return 1 if lacking or wrong else 0


def _print(
    coverage: Coverage,
    rules: Sequence[Rule],
    lacking: Sequence[str],
    found: Found,
    wrong: Sequence[str],
) -> None:
    reasons: dict[str, int] = {}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("rule", "severity", "roles", *TARGETS, *(f"rtl {role}" for role in PARTS)):
        table.add_column(heading, no_wrap=True)
    for rule in rules:
        cells = [_cell(coverage[target][rule.id], rule, reasons) for target in TARGETS]
        cells += [_on_rtl(rule, role, found, reasons) for role in PARTS]
        table.add_row(rule.id, rule.severity, rule.roles, *cells)
    console = Terminal()
    console.print(table)
    for reason, number in reasons.items():
        console.print(escape(f"  ({number}) {reason}"))
    for target in TARGETS:
        counts = Counter(coverage[target][rule.id].standing(rule) for rule in rules)
        told = ", ".join(f"{count} {standing}" for standing, count in counts.most_common())
        console.print(f"{target}: {told}")
    owed = [duty for rule in rules for duty in duties_of(rule)]
    for role, part in PARTS.items():
        told = " and ".join(
            f"{sum(duty in found for duty in duties)} of the {len(duties)} {severity.upper()}"
            for severity in Severity
            if (duties := [d for d in owed if (d.role, RULES[d.rule].severity) == (role, severity)])
        )
        if told:
            console.print(f"rtl: {told} rules of a {part.name.lower()} decided")
    console.print(
        f"musts that a target could show and no case decides there: {', '.join(lacking) or 'none'}"
    )
    for problem in wrong:
        console.print(escape(problem))


def _on_rtl(rule: Rule, role: str, found: Found, reasons: dict[str, int]) -> str:
    duty = Duty(role, rule.id)
    if duty not in duties_of(rule):
        return ""
    if duty in found:
        return f"[green]{found[duty].device.removeprefix('reference-')}[/]"
    if duty in OPEN_RULES:
        number = reasons.setdefault(OPEN_RULES[duty], len(reasons) + 1)
        return f"[yellow]open ({number})[/]"
    return "[red]lost[/]"


def _cell(entry: Entry, rule: Rule, reasons: dict[str, int]) -> str:
    standing = entry.standing(rule)
    style = _STYLES.get(standing, "dim")
    text = str(standing)
    if standing is Standing.TESTED:
        text = f"{text} {len(entry.cases)}"
    if standing is Standing.SKIPPED:
        number = reasons.setdefault(entry.reasons[0], len(reasons) + 1)
        text = f"{text} ({number})"
    return f"[{style}]{escape(text)}[/]"


def _document(
    coverage: Coverage,
    rules: Sequence[Rule],
    lacking: Sequence[str],
    found: Found,
    wrong: Sequence[str],
) -> dict[str, object]:
    return {
        "schema": 2,
        "missing": list(lacking),
        "problems": list(wrong),
        "rules": [
            {
                "id": rule.id,
                "severity": rule.severity,
                "roles": rule.roles,
                "targets": {
                    target: {
                        "standing": entry.standing(rule),
                        "cases": entry.cases,
                        "skipped": entry.skipped,
                    }
                    for target in TARGETS
                    for entry in [coverage[target][rule.id]]
                },
                "rtl": {d.role: found[d]._asdict() for d in duties_of(rule) if d in found},
                "open": {d.role: OPEN_RULES[d] for d in duties_of(rule) if d in OPEN_RULES},
            }
            for rule in rules
        ],
    }
