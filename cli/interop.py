# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof interop``; the rest is imported when it runs."""

import sys
from typing import Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import kernel_option, out_option, width_option
from roceproof.common.arguments import MANIFEST, SEED


@click.command(epilog=examples("interop"))
@click.argument("tools", nargs=-1)
@click.option(
    "--peer",
    "peers",
    type=click.Choice(["model", "hdl"]),
    multiple=True,
    default=("model", "hdl"),
    show_default=True,
    help="Whom the tools talk to; may be given twice.",
)
@click.option(
    "--dut",
    type=MANIFEST,
    help="Manifest of the peer hdl; the reference endpoint with its responder if not given.",
)
@width_option
@kernel_option
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of the simulation.")
@out_option("build/interop", "interop.json, and a capture of each conversation.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def interop(**given: Any) -> None:
    """Run stock RDMA TOOLS in a guest as clients of the reference model and of simulated hardware.

    All of them if none is named; a name stands for those whose command lines begin with it. Exit
    code 1 if a tool fails, memory is not what was sent, or a capture breaks a rule.
    """
    from roceproof.conformance.interop.run import Wanted, run_interop

    sys.exit(run_interop(Wanted(**given)))
