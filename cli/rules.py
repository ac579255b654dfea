# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof rules``: the table of rules, whole, in part, or one rule in full."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from roceproof.cli.console.help_examples import examples
from roceproof.common.errors import RoceproofError

if TYPE_CHECKING:
    from roceproof.conformance.rules.table import Rule


ROLES = {"T": "requester", "R": "responder", "O": "passive observer"}


class UnknownRuleError(RoceproofError):
    """No rule has such a name; the text offers similar ones."""


@click.command(epilog=examples("rules"))
@click.argument("rule", nargs=-1)
@click.option("--severity", type=click.Choice(["must", "should", "info"]), help="Only those.")
@click.option(
    "--role",
    type=click.Choice(["T", "R", "O"], case_sensitive=False),
    help="Only those of the requester, the responder or a passive observer.",
)
@click.option("--coverage", is_flag=True, help="Which target tests them, and why not.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def rules(
    rule: tuple[str, ...], severity: str | None, role: str | None, coverage: bool, as_json: bool
) -> None:
    """List the rules of the wire; RULE is an id or how it begins, such as PSN-02 or PSN."""
    wanted = [
        each
        for each in _named(rule)
        if severity in (None, each.severity) and (role is None or role in each.roles)
    ]
    if coverage:
        from roceproof.conformance.runner.rule_coverage_report import run_coverage

        sys.exit(run_coverage(wanted, as_json=as_json))
    if as_json:
        print(json.dumps({"schema": 1, "rules": [_document(each) for each in wanted]}))
    elif [each.id for each in wanted] == [word.upper() for word in rule]:
        for each in wanted:
            _print_one(each)
    else:
        _print_table(wanted)


def _named(words: Sequence[str]) -> list[Rule]:
    """Rules by id or by the beginning of it, in the order of the words; all if there is none."""
    from roceproof.conformance.rules.table import RULES

    found: dict[str, Rule] = {}
    for word in words or [""]:
        start = word.upper()
        matches = [start] if start in RULES else [name for name in RULES if name.startswith(start)]
        if not matches:
            raise UnknownRuleError(f"{word}: no such rule{_similar(start)}; list: roceproof rules")
        found.update((name, RULES[name]) for name in matches)
    return list(found.values())


def _document(rule: Rule) -> dict[str, object]:
    """Everything about one rule for machines."""
    from roceproof.conformance.rules.choices import left_open_by
    from roceproof.conformance.rules.observer_contract import sections_of
    from roceproof.conformance.rules.sources import sources_of, status_of

    return {
        **rule._asdict(),
        "status": status_of(rule).name.lower(),
        "sources": [source._asdict() for source in sources_of(rule)],
        "left_open": [choice.open for choice in left_open_by(rule.id)],
        "services": rule.services.split(),
        "observer_sections": sections_of(rule.id),
    }


def _print_one(rule: Rule) -> None:
    """Everything about one rule, a line per fact."""
    from roceproof.common.plain import styled
    from roceproof.conformance.check.styles import STYLES
    from roceproof.conformance.rules.choices import left_open_by
    from roceproof.conformance.rules.sources import marked_anchor, sources_of, status_of

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


def _print_table(rules: Iterable[Rule]) -> None:
    from roceproof.common.plain import Cell, print_table
    from roceproof.conformance.check.styles import STYLES

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
    from roceproof.conformance.rules.observer_contract import CONTRACT, sections_of

    if not rule.observable:
        return "a capture alone cannot decide it"
    sections = sections_of(rule.id)
    if not sections:
        return CONTRACT
    plural = "s" if len(sections) > 1 else ""
    return f"{CONTRACT}, section{plural} {', '.join(sections)}"


def _similar(start: str) -> str:
    from difflib import get_close_matches

    from roceproof.conformance.rules.table import RULES

    families = {name.partition("-")[0] for name in RULES}
    near = get_close_matches(start, [*RULES, *sorted(families)], n=4)
    return f"; did you mean {', '.join(near)}?" if near else ""
