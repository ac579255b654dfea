# SPDX-License-Identifier: BSD-2-Clause
"""Options that several commands have, and in each mean the same."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from roceproof.common.arguments import DATA_WIDTH, INPUT_FILE, WORD


def command_line(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> str | None:
    """A callback: what was typed for an option, if anything, is a command with its arguments."""
    try:
        is_command = text is None or bool(shlex.split(text))
    except ValueError as error:
        raise click.BadParameter(f"{error} in: {text}", context, parameter) from None
    if not is_command:
        raise click.BadParameter("it is empty", context, parameter)
    return text


def _lasting(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """A callback: a file that can be read more than once, by us and by a child."""
    if path is not None and not path.is_file():
        raise click.BadParameter("it is no regular file, and is read twice", context, parameter)
    return path


qps_option = click.option(
    "--qps",
    type=INPUT_FILE,
    callback=_lasting,
    help="Configured QP facts that a capture alone cannot show.",
)
waivers_option = click.option(
    "--waivers", type=INPUT_FILE, help="Broken rules that are accepted for a time (TOML)."
)
kernel_option = click.option(
    "--kernel",
    type=WORD,
    metavar="WHICH",
    help="The guest's: distribution (default), a version such as 6.12, newest, or packages, or a "
    "boot image and its modules, separated by commas.",
)
width_option = click.option(
    "--width", type=DATA_WIDTH, help="Bits of its data path; the manifest's first if not given."
)
mutant_option = click.option(
    "--mutant", type=WORD, help="Test a planted fault instead of the healthy device."
)
