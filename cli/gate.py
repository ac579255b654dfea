# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof gate``; the rest is imported when it runs."""

import sys
from typing import Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import (
    kernel_option,
    out_option,
    suite_option,
    waivers_option,
)
from roceproof.common.arguments import (
    DATA_WIDTH,
    INPUT_FILE,
    JOBS,
    MANIFEST,
    OUTPUT_FILE,
    SEED,
    Number,
)


@click.command(epilog=examples("gate"))
@click.argument("manifest", type=MANIFEST)
@suite_option("gate")
@click.option(
    "--width",
    "widths",
    type=DATA_WIDTH,
    multiple=True,
    help="Data width; all without it; may be repeated.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of all that is drawn.")
@click.option(
    "--plans",
    type=Number(0, 100_000),
    default=24,
    show_default=True,
    help="Random plans at each width, besides those of the suite.",
)
@click.option(
    "--fresh",
    is_flag=True,
    help="As many plans of fresh seeds besides; what finds something is kept beside the manifest.",
)
@click.option("--no-guest", is_flag=True, help="Leave out the real receiver in its machine.")
@kernel_option
@click.option("--baseline", type=INPUT_FILE, help="gate.json of before: fail only on what is new.")
@waivers_option
@out_option("build/gate", "gate.json, gate.html, junit.xml, captures and coverage.")
@click.option("--resume", is_flag=True, help="Take up a gate that was cut short, in --out.")
@click.option(
    "--minutes",
    type=Number(0.001, 1_000_000, whole=False),
    help="End in so many, with what is known by then.",
)
@click.option(
    "--propose-limits",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Write the lines of a manifest that would make findings limits.",
)
@click.option("--json", "as_json", is_flag=True, help="Print gate.json.")
@click.option("-j", "jobs", type=JOBS, default=2, show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="Only what fails, and no progress on stderr.")
def gate(no_guest: bool, **given: Any) -> None:
    """Judge the device of a MANIFEST: 0 pass, 1 fail, 2 not all was judged, 3 no build."""
    if given["kernel"] is not None and no_guest:
        raise click.UsageError("--kernel is of the guest, which --no-guest leaves out")
    from roceproof.conformance.gate.run import Gate, run_gate

    sys.exit(run_gate(Gate(guest=not no_guest, **given)))
