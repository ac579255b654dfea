# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof ladder``; the rest is imported when it runs."""

import sys
from pathlib import Path

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import qps_option
from roceproof.common.arguments import CAPTURE, OUTPUT_FILE, Number


@click.command(epilog=examples("ladder"))
@click.argument("file", type=CAPTURE)
@click.option("-o", "--output", type=OUTPUT_FILE, help="HTML page.")
@click.option("--frames", help="Frame numbers to draw: 10-20, 10- or 10.")
@click.option(
    "--max",
    "most",
    type=Number(1, 10**9),
    help="Packets to draw; 2000 in the terminal, all on a page.",
)
@qps_option
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
def ladder(
    file: Path,
    output: Path | None,
    frames: str | None,
    most: int | None,
    qps: Path | None,
    as_json: bool,
) -> None:
    """Draw who said what to whom in a capture (- is stdin): in the terminal, or as a page."""
    from roceproof.conformance.review.ladder_report import run_ladder

    sys.exit(run_ladder(file, frames=frames, most=most, output=output, qps=qps, as_json=as_json))
