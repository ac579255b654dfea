# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof env``: the background Soft-RoCE peer, for people and for machines."""

import json
import sys
from typing import Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import kernel_option
from roceproof.common.exit_codes import Exit


@click.group(epilog=examples("env"))
def env() -> None:
    """A Soft-RoCE peer that stays in the background."""


@env.command("up", epilog=examples("env up"))
@kernel_option
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def up(kernel: str | None, as_json: bool, quiet: bool) -> None:
    """Start it, unless it is up, and say where to plug in."""
    from roceproof.common.progress import Progress
    from roceproof.rxe_env.vm.named import env_up

    with Progress(quiet=quiet) as progress:
        state = env_up(progress.step, kernel=kernel)
    _show(state, as_json=as_json)


@env.command("down", epilog=examples("env down"))
@click.option("-q", "--quiet", is_flag=True, help="Say nothing.")
def down(quiet: bool) -> None:
    """End it."""
    from roceproof.rxe_env.vm.named import env_down

    ended = env_down()
    if not quiet:
        print("ended" if ended else "was not up")


@env.command("status", epilog=examples("env status"))
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
def status(as_json: bool) -> None:
    """Say whether it is up; exit code 1 if not."""
    from roceproof.rxe_env.vm.named import env_status

    state = env_status()
    _show(state, as_json=as_json)
    sys.exit(Exit.FINE if state["up"] else Exit.FINDINGS)


def _show(state: dict[str, Any], *, as_json: bool) -> None:
    """Print a status as JSON or as a line per fact."""
    if as_json:
        print(json.dumps(state))
    elif not state["up"]:
        print("down; start it with: roceproof env up")
    else:
        for fact in ("backend", "accel", "kernel", "ipv4", "mac", "link", "console", "pid"):
            print(f"{fact:8} {state[fact]}")
