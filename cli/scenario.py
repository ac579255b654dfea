# SPDX-License-Identifier: BSD-2-Clause
"""The commands of ``roceproof scenario``; the rest is imported when they run."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import cluster_option, out_option, width_option
from roceproof.common.arguments import JOBS, MANIFEST, OUTPUT_FOLDER, SEED

_OPTIONS = (
    click.option("--quick", is_flag=True, help="Fewer points, and a shorter time."),
    click.option("--seed", type=SEED, default=1, show_default=True, help="Of all that is drawn."),
    out_option(
        "build/scenarios",
        "scenarios.html, and a folder for each with result.json, plot.svg and captures.",
    ),
    click.option("--plots/--no-plots", default=True, help="Plots, which need Matplotlib."),
    click.option("--json", "as_json", is_flag=True, help="Print one document."),
    click.option("-j", "jobs", type=JOBS, default=2, show_default=True, help="Points at once."),
    cluster_option,
    click.option("-q", "--quiet", is_flag=True, help="No progress on stderr."),
)


def _run_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group(epilog=examples("scenario"))
def scenario() -> None:
    """Published experiments in virtual time: see docs/scenarios.md."""


@scenario.command("list", epilog=examples("scenario list"))
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
def list_command(as_json: bool) -> None:
    """Name all scenarios."""
    from roceproof.conformance.scenarios.report import list_scenarios

    sys.exit(list_scenarios(as_json=as_json))


@scenario.command("run", epilog=examples("scenario run"))
@click.argument("names", nargs=-1, required=True, metavar="ID...")
@click.option("--dut", type=MANIFEST, help="This device is the sender, not the event model.")
@width_option
@_run_options
def run_command(**given: Any) -> None:
    """Play scenarios by their IDs, or from TOML files of your own.

    With --dut a device in HDL sends: light-throughput is its load test. Exit code 1 if a law did
    not hold.
    """
    from roceproof.conformance.scenarios.report import Wanted, run_scenarios

    sys.exit(run_scenarios(Wanted(**given)))


@scenario.command("all", epilog=examples("scenario all"))
@_run_options
def all_command(**given: Any) -> None:
    """Play every scenario; exit code 1 if a law did not hold."""
    from roceproof.conformance.scenarios.catalogue import SCENARIOS
    from roceproof.conformance.scenarios.report import Wanted, run_scenarios

    sys.exit(run_scenarios(Wanted(names=tuple(SCENARIOS), **given)))


@scenario.command("report", epilog=examples("scenario report"))
@click.argument("folder", type=OUTPUT_FOLDER, default=Path("build/scenarios"))
def report_command(folder: Path) -> None:
    """Make the page of all results in FOLDER anew."""
    from roceproof.conformance.scenarios.report import report

    sys.exit(report(folder))
