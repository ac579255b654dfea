# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof rules``: the table of rules, whole, in part, or one rule in full."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from rich.markup import escape
from rich.table import Table

from roceproof.common.errors import RoceproofError
from roceproof.common.terminal import Terminal
from roceproof.conformance.rules.table import RULES, Rule, Severity
from roceproof.observer_contract import CONTRACT, sections_of

ROLES = {"T": "requester", "R": "responder", "O": "passive observer"}
STYLES = {Severity.MUST: "red", Severity.SHOULD: "yellow", Severity.INFO: "cyan"}


class UnknownRuleError(RoceproofError):
    """No rule has such a name; the text offers similar ones."""


def run_rules(
    words: Sequence[str],
    *,
    severity: str | None,
    role: str | None,
    coverage: bool,
    as_json: bool,
) -> int:
    """Print the rules that the words name (all without any) and the options let through."""
    rules = [
        rule
        for rule in named(words)
        if severity in (None, rule.severity) and (role is None or role in rule.roles)
    ]
    if coverage:
        from roceproof.coverage_report import run_coverage

        return run_coverage(rules, as_json=as_json)
    if as_json:
        print(json.dumps({"schema": 1, "rules": [as_document(rule) for rule in rules]}))
    elif [rule.id for rule in rules] == [word.upper() for word in words]:
        for rule in rules:
            print_rule(rule)
    else:
        print_table(rules)
    return 0


def named(words: Sequence[str]) -> list[Rule]:
    """Rules by id or by the beginning of it, in the order of the words; all if there is none."""
    found: dict[str, Rule] = {}
    for word in words or [""]:
        start = word.upper()
        matches = [start] if start in RULES else [name for name in RULES if name.startswith(start)]
        if not matches:
            raise UnknownRuleError(f"{word}: no such rule{_similar(start)}; list: roceproof rules")
        found.update((name, RULES[name]) for name in matches)
    return list(found.values())


def as_document(rule: Rule) -> dict[str, object]:
    """Everything about one rule for machines."""
    return {
        **rule._asdict(),
        "services": rule.services.split(),
        "observer_sections": sections_of(rule.id),
    }


def print_rule(rule: Rule) -> None:
    """Everything about one rule, a line per fact."""
    facts = {
        "services": rule.services,
        "roles": ", ".join(ROLES[letter] for letter in rule.roles),
        "anchor": rule.anchor if rule.anchor != "-" else "no clause; any correct device does this",
        "observer": _observer(rule),
    }
    console = Terminal()
    console.print(f"[bold]{rule.id}[/]  [{STYLES[rule.severity]}]{rule.severity}[/]")
    console.print(escape(rule.sentence))
    for name, text in facts.items():
        console.print(escape(f"  {name:9} {text}"))


def print_table(rules: Iterable[Rule]) -> None:
    """One row per rule."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("rule", "severity", "roles", "services"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what holds on a healthy wire")
    for rule in rules:
        mark = f"[{STYLES[rule.severity]}]{rule.severity}[/]"
        table.add_row(rule.id, mark, rule.roles, rule.services, escape(rule.sentence))
    Terminal().print(table)


def _observer(rule: Rule) -> str:
    if not rule.observable:
        return "a capture alone cannot decide it"
    sections = sections_of(rule.id)
    if not sections:
        return CONTRACT
    plural = "s" if len(sections) > 1 else ""
    return f"{CONTRACT}, section{plural} {', '.join(sections)}"


def _similar(start: str) -> str:
    families = {name.partition("-")[0] for name in RULES}
    near = get_close_matches(start, [*RULES, *sorted(families)], n=4)
    return f"; did you mean {', '.join(near)}?" if near else ""
