# SPDX-License-Identifier: BSD-2-Clause
"""The ``roceproof`` console command: one subcommand per job.

Results go to stdout, diagnostics to stderr. The options of a subcommand are
imported when it is named, and what it needs when it runs.
"""

from __future__ import annotations

import os
import sys

import click

from roceproof import __version__
from roceproof.cli.help_examples import COMMANDS, examples
from roceproof.cli.lazy_group import LazyGroup
from roceproof.common.exit_codes import EXIT_CODES
from roceproof.common.outcome import end_with

_COMPLETION = "_ROCEPROOF_COMPLETE"


@click.group(
    cls=LazyGroup,
    names=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=f"Co-simulation and protocol conformance for RoCEv2 transmitters.\n\n{EXIT_CODES}",
    epilog=examples(""),
)
@click.version_option(__version__, prog_name="roceproof")
def cli() -> None:
    """The command with all others below it."""


def main() -> None:
    """Run the command that the arguments name."""
    end_with(_run)


def _run() -> int:
    if instruction := os.environ.get(_COMPLETION):  # what the shell's completion script sets
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "roceproof", _COMPLETION, instruction)
    with cli.make_context("roceproof", sys.argv[1:]) as context:
        cli.invoke(context)
    return 0
