# SPDX-License-Identifier: BSD-2-Clause
"""Options that several commands have, and in each mean the same."""

from __future__ import annotations

from pathlib import Path

import click

from roceproof.common.arguments import DATA_WIDTH, INPUT_FILE
from roceproof.conformance.runner.session.asked import command_option


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
kernel_option = command_option("kernel")
width_option = click.option(
    "--width", type=DATA_WIDTH, help="Bits of its data path; the manifest's first if not given."
)
mutant_option = command_option("mutant")
