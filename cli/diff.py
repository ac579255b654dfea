# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof diff``; the rest is imported when it runs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from roceproof.cli.help_examples import examples
from roceproof.common.arguments import CAPTURE


@click.command(epilog=examples("diff"))
@click.argument("a", type=CAPTURE)
@click.argument("b", type=CAPTURE)
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@click.option("-q", "--quiet", is_flag=True, help="The exit code only.")
def diff(a: Path, b: Path, as_json: bool, quiet: bool) -> None:
    """Compare the same traffic from two devices (- is stdin); exit code 1 if one matters."""
    from roceproof.cli.diff_command import run_diff

    sys.exit(run_diff(a, b, as_json=as_json, quiet=quiet))
