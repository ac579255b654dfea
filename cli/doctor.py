# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof doctor``: what this machine has and lacks."""

import sys

import click

from roceproof.cli.console.help_examples import examples


@click.command(epilog=examples("doctor"))
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def doctor(as_json: bool) -> None:
    """Say what this machine has and lacks, and what mends it; exit code 1 on a failure."""
    from roceproof.conformance.check.doctor import simulation_build, tell_checks, wire_oracle
    from roceproof.rxe_env.doctor import doctor as host_checks

    sys.exit(tell_checks([wire_oracle(), simulation_build(), *host_checks()], as_json=as_json))
