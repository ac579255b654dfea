# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof env`` and its commands; the rest is imported when they run."""

from __future__ import annotations

import sys

import click

from roceproof.cli.help_examples import examples
from roceproof.cli.shared_options import kernel_option


@click.group(epilog=examples("env"))
def env() -> None:
    """A Soft-RoCE peer that stays in the background."""


@env.command("up", epilog=examples("env up"))
@kernel_option
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def env_up_command(kernel: str | None, as_json: bool, quiet: bool) -> None:
    """Start it, unless it is up, and say where to plug in."""
    from roceproof.cli.env_command import up

    up(kernel=kernel, as_json=as_json, quiet=quiet)


@env.command("down", epilog=examples("env down"))
@click.option("-q", "--quiet", is_flag=True, help="Say nothing.")
def env_down_command(quiet: bool) -> None:
    """End it."""
    from roceproof.cli.env_command import down

    down(quiet=quiet)


@env.command("status", epilog=examples("env status"))
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
def env_status_command(as_json: bool) -> None:
    """Say whether it is up; exit code 1 if not."""
    from roceproof.cli.env_command import status

    sys.exit(status(as_json=as_json))
