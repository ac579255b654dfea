# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof rules``: the table of rules, whole, in part, or one rule in full."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from roceproof.common.errors import RoceproofError
from roceproof.common.plain import Cell, print_table, styled
from roceproof.conformance.check.styles import STYLES
from roceproof.conformance.rules.choices import left_open_by
from roceproof.conformance.rules.observer_contract import CONTRACT, sections_of
from roceproof.conformance.rules.sources import marked_anchor, sources_of, status_of
from roceproof.conformance.rules.table import RULES, Rule

ROLES = {"T": "requester", "R": "responder", "O": "passive observer"}


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
        from roceproof.conformance.runner.rule_coverage_report import run_coverage

        return run_coverage(rules, as_json=as_json)
    if as_json:
        print(json.dumps({"schema": 1, "rules": [as_document(rule) for rule in rules]}))
    elif [rule.id for rule in rules] == [word.upper() for word in words]:
        for rule in rules:
            print_rule(rule)
    else:
        print_rules(rules)
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
        "status": status_of(rule).name.lower(),
        "sources": [source._asdict() for source in sources_of(rule)],
        "left_open": [choice.open for choice in left_open_by(rule.id)],
        "services": rule.services.split(),
        "observer_sections": sections_of(rule.id),
    }


def print_rule(rule: Rule) -> None:
    """Everything about one rule, a line per fact."""
    facts = {
        "services": rule.services,
        "roles": ", ".join(ROLES[letter] for letter in rule.roles),
        "anchor": marked_anchor(rule),
        "status": status_of(rule),
        "observer": _observer(rule),
    }
    print(f"{styled(rule.id, 'bold')}  {styled(rule.severity, STYLES[rule.severity])}")
    print(rule.sentence)
    for name, text in facts.items():
        print(f"  {name:9} {text}")
    for choice in left_open_by(rule.id):
        print(f"  {'open':9} {choice.open}: {choice.values}")
    for kind, document in dict.fromkeys((each.kind, each.document) for each in sources_of(rule)):
        print(f"  {kind:9} {document}")


def print_rules(rules: Iterable[Rule]) -> None:
    print_table(
        ("rule", "severity", "roles", "services", "what holds on a healthy wire"),
        [
            (
                rule.id,
                Cell(rule.severity, STYLES[rule.severity]),
                rule.roles,
                rule.services,
                rule.sentence,
            )
            for rule in rules
        ],
    )


def _observer(rule: Rule) -> str:
    if not rule.observable:
        return "a capture alone cannot decide it"
    sections = sections_of(rule.id)
    if not sections:
        return CONTRACT
    plural = "s" if len(sections) > 1 else ""
    return f"{CONTRACT}, section{plural} {', '.join(sections)}"


def _similar(start: str) -> str:
    from difflib import get_close_matches

    families = {name.partition("-")[0] for name in RULES}
    near = get_close_matches(start, [*RULES, *sorted(families)], n=4)
    return f"; did you mean {', '.join(near)}?" if near else ""
