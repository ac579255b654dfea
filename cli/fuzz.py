# SPDX-License-Identifier: BSD-2-Clause
"""The commands of ``roceproof fuzz``; the rest is imported when they run."""

import sys
from pathlib import Path
from typing import Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import cluster_option, mutant_option, plan_device_options
from roceproof.common.arguments import INPUT_FILE, JOBS, OUTPUT_FILE, OUTPUT_FOLDER, SEED, Number

_folder = click.argument("folder", type=OUTPUT_FOLDER, default=Path("build/fuzz"))
_json = click.option("--json", "as_json", is_flag=True, help="Print one document.")


@click.group(epilog=examples("fuzz"))
def fuzz() -> None:
    """Campaigns of random programs against a device: see docs/fuzz.md."""


@fuzz.command("run", epilog=examples("fuzz run"))
@_folder
@plan_device_options
@mutant_option
@click.option(
    "--minutes",
    type=Number(0.01, 100_000, whole=False),
    default=10.0,
    show_default=True,
    help="How long.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="The first of run 1.")
@click.option("-j", "jobs", type=JOBS, default=2, show_default=True, help="Workers.")
@cluster_option
@click.option("-q", "--quiet", is_flag=True, help="Findings only, and no progress on stderr.")
def run_command(**given: Any) -> None:
    """Play programs and keep what fails in FOLDER, which several runs may share.

    Exit code 1 if anything was found that is no declared deviation of the device.
    """
    from roceproof.conformance.campaign.run import Campaign, run_campaign

    sys.exit(run_campaign(Campaign(**given)))


@fuzz.command("status", epilog=examples("fuzz status"))
@_folder
@_json
def status_command(folder: Path, as_json: bool) -> None:
    """Say how far the runs of FOLDER are."""
    from roceproof.conformance.campaign.report import run_status

    sys.exit(run_status(folder, as_json=as_json))


@fuzz.command("report", epilog=examples("fuzz report"))
@_folder
@_json
@click.option("-o", "--output", type=OUTPUT_FILE, help="A page of runs and findings, too.")
def report_command(folder: Path, as_json: bool, output: Path | None) -> None:
    """Tell every finding of FOLDER by its cause; exit code 1 if any is not declared."""
    from roceproof.conformance.campaign.report import run_report

    sys.exit(run_report(folder, as_json=as_json, output=output))


@fuzz.command("minimise", epilog=examples("fuzz minimise"))
@click.argument("entry", type=INPUT_FILE)
@plan_device_options
@mutant_option
@click.option("-o", "--output", type=OUTPUT_FILE, help="Where to write the small entry.")
@click.option(
    "--seconds",
    type=Number(0, 100_000, whole=False),
    default=60.0,
    show_default=True,
    help="How long at most.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of the device.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def minimise_command(**given: Any) -> None:
    """Play ENTRY, a plan as text, and make it small if it fails; exit code 1 if it does.

    What is a declared deviation of the device is told as that.
    """
    from roceproof.conformance.campaign.minimise import Minimised, run_minimise

    sys.exit(run_minimise(Minimised(**given)))


@fuzz.command("import", epilog=examples("fuzz import"))
@click.argument("captures", nargs=-1, required=True, type=INPUT_FILE)
@click.option(
    "--folder",
    type=OUTPUT_FOLDER,
    default=Path("build/fuzz"),
    show_default=True,
    help="The campaign's.",
)
def import_command(captures: tuple[Path, ...], folder: Path) -> None:
    """Make entries of what CAPTURES ask of queue pairs, and of the answers."""
    from roceproof.conformance.campaign.imported import run_import

    sys.exit(run_import(captures, folder))
