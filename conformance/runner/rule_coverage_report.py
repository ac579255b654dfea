# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof rules --coverage``: every rule on every target, and why not.

The column ``rtl`` says whether RTL of ours is held to what a responder must do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from roceproof.common.progress import Progress
from roceproof.common.terminal import Terminal
from roceproof.conformance.rules.open_rules import OPEN_RULES
from roceproof.conformance.rules.table import RULES, Rule
from roceproof.conformance.runner.rtl_rule_coverage import Found, cases_on_rtl, is_owed, problems
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
    """Print it; exit code 1 if a MUST rule is missing on a target or lost on RTL."""
    with Progress(quiet=False) as progress:
        progress.step("collecting the cases of each target")
        coverage = coverage_of()
        found: Found = {}
        if any(is_owed(rule) for rule in rules):
            progress.step("trying which cases of responders run on RTL of ours")
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
    for heading in ("rule", "severity", "roles", *TARGETS, "rtl"):
        table.add_column(heading, no_wrap=True)
    for rule in rules:
        cells = [_cell(coverage[target][rule.id], rule, reasons) for target in TARGETS]
        cells.append(_on_rtl(rule, found, reasons))
        table.add_row(rule.id, rule.severity, rule.roles, *cells)
    console = Terminal()
    console.print(table)
    for reason, number in reasons.items():
        console.print(escape(f"  ({number}) {reason}"))
    for target in TARGETS:
        counts = Counter(coverage[target][rule.id].standing(rule) for rule in rules)
        told = ", ".join(f"{count} {standing}" for standing, count in counts.most_common())
        console.print(f"{target}: {told}")
    owed = [rule for rule in rules if is_owed(rule)]
    if owed:
        decided = sum(rule.id in found for rule in owed)
        console.print(f"rtl: {decided} of the {len(owed)} MUST rules of a responder decided")
    console.print(f"missing: {', '.join(lacking) or 'none'}")
    for problem in wrong:
        console.print(escape(problem))


def _on_rtl(rule: Rule, found: Found, reasons: dict[str, int]) -> str:
    if not is_owed(rule):
        return ""
    if rule.id in found:
        return f"[green]{found[rule.id].device}[/]"
    if rule.id in OPEN_RULES:
        number = reasons.setdefault(OPEN_RULES[rule.id], len(reasons) + 1)
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
        "schema": 1,
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
                "rtl": found[rule.id]._asdict() if rule.id in found else None,
                "open": OPEN_RULES.get(rule.id),
            }
            for rule in rules
        ],
    }
