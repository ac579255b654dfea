# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof kernels``; the rest is imported when it runs."""

import sys
from typing import Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import out_option, suite_option
from roceproof.common.arguments import JOBS, SEED


@click.command(epilog=examples("kernels"))
@click.argument("kernels", nargs=-1)
@suite_option("full")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of all that cases draw.")
@click.option("-k", "expression", help="Only cases whose names match, as in pytest.")
@out_option(
    "build/kernels", "kernels.json, kernels.md, kernels.html, and a folder for each kernel's run."
)
@click.option("-j", "jobs", type=JOBS, default=2, show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def kernels(kernels: tuple[str, ...], **given: Any) -> None:
    """Run the suite on Soft-RoCE of several KERNELS (6.1, 6.12 and newest if none is named).

    Each is named as --kernel of other commands names it. What comes of it is a matrix of rules
    and kernels; exit code 1 if a kernel does what nobody has declared.
    """
    from roceproof.conformance.regression.kernels import DEFAULT, Runs, run_kernels

    sys.exit(run_kernels(Runs(kernels=kernels or DEFAULT, **given)))
