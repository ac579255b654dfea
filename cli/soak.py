# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof soak``; everything else is imported when it runs."""

import sys
from typing import Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import mutant_option, out_option, plan_device_options
from roceproof.common.arguments import JOBS, SEED, Number


@click.command("soak", epilog=examples("soak"))
@plan_device_options
@click.option(
    "--minutes",
    type=Number(0.01, 100_000, whole=False),
    default=1.0,
    show_default=True,
    help="How long.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="The first.")
@mutant_option
@out_option("build/soak", "Small cases of what was found, and coverage.json.")
@click.option("-j", "jobs", type=JOBS, default=2, show_default=True, help="Workers.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only, and no progress on stderr.")
def soak(**given: Any) -> None:
    """Play random stimulus, seed after seed, steered towards what was not reached yet."""
    from roceproof.conformance.regression.soak import Soak, run_soak

    sys.exit(run_soak(Soak(**given)))
