# SPDX-License-Identifier: BSD-2-Clause
"""The ``roceproof`` console command: one subcommand per job.

Results go to stdout, diagnostics to stderr. The options of a subcommand are
imported when it is named, and what it needs when it runs.
"""

import os
import sys
from collections.abc import Collection
from importlib import import_module
from typing import Any

import click

from roceproof import __version__
from roceproof.cli.console.help_examples import COMMANDS, examples
from roceproof.common.exit_codes import EXIT_CODES
from roceproof.common.outcome import end_with

_COMPLETION = "_ROCEPROOF_COMPLETE"


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are called, completed or listed.

    Each is where its name says: `demo-tap` is the function `demo_tap` of the module `demo`.
    """

    def __init__(self, *, names: Collection[str], **settings: Any) -> None:
        super().__init__(**settings)
        self.names = names

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name them all, in the order of the alphabet."""
        return sorted(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one that is asked for."""
        if cmd_name not in self.names:
            return None
        module = import_module(f"roceproof.cli.{cmd_name.partition('-')[0]}")
        command = getattr(module, cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=_LazyGroup,
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
