# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof soak``; everything else is imported when it runs."""

from __future__ import annotations

import sys
from typing import Any

import click

from roceproof.cli.help_examples import examples
from roceproof.cli.shared_options import mutant_option, out_option
from roceproof.common.arguments import DATA_WIDTH, JOBS, MANIFEST, SEED, Number


@click.command("soak", epilog=examples("soak"))
@click.option(
    "--target",
    type=click.Choice(["hdl", "model"]),
    default="hdl",
    show_default=True,
    help="What to test.",
)
@click.option(
    "--dut",
    type=MANIFEST,
    help="Manifest of the device (hdl); the reference endpoint if not given.",
)
@click.option(
    "--width", "widths", type=DATA_WIDTH, multiple=True, help="Data width (hdl); may be repeated."
)
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
