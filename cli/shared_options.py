# SPDX-License-Identifier: BSD-2-Clause
"""Options that several commands have, and in each mean the same."""

from __future__ import annotations

from pathlib import Path

import click

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)

qps_option = click.option(
    "--qps", type=_FILE, help="Configured QP facts that a capture alone cannot show."
)
waivers_option = click.option(
    "--waivers", type=_FILE, help="Broken rules that are accepted for a time (TOML)."
)
kernel_option = click.option(
    "--kernel",
    metavar="WHICH",
    help="The guest's: distribution (default), a version such as 6.12, newest, or packages, or a "
    "boot image and its modules, separated by commas.",
)
mutant_option = click.option("--mutant", help="Test a planted fault instead of the healthy device.")
