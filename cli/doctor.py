# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof doctor``; the rest is imported when it runs."""

from __future__ import annotations

import sys

import click

from roceproof.cli.help_examples import examples


@click.command(epilog=examples("doctor"))
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def doctor(as_json: bool) -> None:
    """Say what this machine has and lacks, and what mends it; exit code 1 on a failure."""
    from roceproof.cli.doctor_command import run_doctor

    sys.exit(run_doctor(as_json=as_json))
