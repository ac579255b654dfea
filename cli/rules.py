# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof rules``; the rest is imported when it runs."""

from __future__ import annotations

import sys

import click

from roceproof.cli.help_examples import examples


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
    from roceproof.cli.rules_command import run_rules

    sys.exit(run_rules(rule, severity=severity, role=role, coverage=coverage, as_json=as_json))
