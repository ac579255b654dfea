# SPDX-License-Identifier: BSD-2-Clause
"""The commands of ``roceproof coverage``; the rest is imported when they run."""

import sys
from pathlib import Path

import click

from roceproof.cli.console.help_examples import examples
from roceproof.common.arguments import INPUT_FILE, OUTPUT_FILE

_files = click.argument("files", nargs=-1, required=True, type=INPUT_FILE)


@click.group(epilog=examples("coverage"))
def coverage() -> None:
    """What the stimulus of `roceproof test --coverage` has reached, over one or more runs."""


@coverage.command(epilog=examples("coverage show"))
@_files
@click.option("-o", "--output", type=OUTPUT_FILE, help="HTML page.")
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
def show(files: tuple[Path, ...], output: Path | None, as_json: bool) -> None:
    """Show what FILES together have reached, and which bins are empty."""
    from roceproof.conformance.coverage.run_report import run_show

    sys.exit(run_show(files, page=output, as_json=as_json))


@coverage.command(epilog=examples("coverage merge"))
@_files
@click.option("-o", "--output", type=OUTPUT_FILE, required=True, help="Where to write the sum.")
def merge(files: tuple[Path, ...], output: Path) -> None:
    """Add up FILES of runs over one device."""
    from roceproof.conformance.coverage.run_report import run_merge

    sys.exit(run_merge(files, output))


@coverage.command(epilog=examples("coverage ucis"))
@_files
@click.option("-o", "--output", type=OUTPUT_FILE, required=True, help="Where to write the XML.")
def ucis(files: tuple[Path, ...], output: Path) -> None:
    """Export what FILES together have reached as UCIS, for other coverage tools."""
    from roceproof.conformance.coverage.run_report import run_ucis

    sys.exit(run_ucis(files, output))
