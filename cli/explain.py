# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof explain``; the rest is imported when it runs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from roceproof.cli.help_examples import examples
from roceproof.cli.shared_options import qps_option
from roceproof.common.arguments import COUNT


@click.command(epilog=examples("explain"))
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@qps_option
@click.option(
    "--frames",
    type=COUNT,
    default=10,
    show_default=True,
    help="Frame numbers to list.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing where there is nothing to explain.")
def explain(
    files: tuple[str, ...], as_json: bool, qps: Path | None, frames: int, quiet: bool
) -> None:
    """Name the misimplementation behind wrong ICRCs and PSNs (- is stdin); exit code 1 if any."""
    from roceproof.cli.explain_command import run_explain

    sys.exit(run_explain(files, as_json=as_json, qps=qps, quiet=quiet, frames=frames))
