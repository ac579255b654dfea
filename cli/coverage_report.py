# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof rules --coverage``: every rule on every target, and why not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from roceproof.common.terminal import Terminal
from roceproof.conformance.rules.table import RULES, Rule
from roceproof.conformance.runner.coverage import Coverage, Entry, Standing, coverage_of, missing
from roceproof.conformance.runner.options import TARGETS

_STYLES = {
    Standing.TESTED: "green",
    Standing.OBSERVED: "green",
    Standing.SKIPPED: "yellow",
    Standing.MISSING: "red",
}


def run_coverage(rules: Sequence[Rule], *, as_json: bool) -> int:
    """Print it; exit code 1 if a MUST rule is missing on a target."""
    coverage = coverage_of()
    lacking = [rule for rule in missing(coverage) if RULES[rule] in rules]
    if as_json:
        print(json.dumps(_document(coverage, rules, lacking)))
    else:
        _print(coverage, rules, lacking)
    return 1 if lacking else 0


def _print(coverage: Coverage, rules: Sequence[Rule], lacking: Sequence[str]) -> None:
    reasons: dict[str, int] = {}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("rule", "severity", "roles", *TARGETS):
        table.add_column(heading, no_wrap=True)
    for rule in rules:
        cells = [_cell(coverage[target][rule.id], rule, reasons) for target in TARGETS]
        table.add_row(rule.id, rule.severity, rule.roles, *cells)
    console = Terminal()
    console.print(table)
    for reason, number in reasons.items():
        console.print(escape(f"  ({number}) {reason}"))
    for target in TARGETS:
        counts = Counter(coverage[target][rule.id].standing(rule) for rule in rules)
        told = ", ".join(f"{count} {standing}" for standing, count in counts.most_common())
        console.print(f"{target}: {told}")
    console.print(f"missing: {', '.join(lacking) or 'none'}")


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
    coverage: Coverage, rules: Sequence[Rule], lacking: Sequence[str]
) -> dict[str, object]:
    return {
        "schema": 1,
        "missing": list(lacking),
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
            }
            for rule in rules
        ],
    }
