# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof check``; the rest is imported when it runs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from roceproof.cli.help_examples import examples
from roceproof.cli.shared_options import qps_option, waivers_option
from roceproof.common.arguments import COUNT, JOBS, OUTPUT_FILE, WORD, Number

DAY_SECONDS = 86400


@click.command(epilog=examples("check"))
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("-i", "--interface", type=WORD, help="Capture there until Ctrl-C, then report.")
@click.option(
    "--duration", type=Number(0.01, DAY_SECONDS, whole=False), help="Seconds to capture with -i."
)
@qps_option
@waivers_option
@click.option("--all", "each", is_flag=True, help="Print each finding, not groups of them.")
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@click.option(
    "--annotate",
    type=OUTPUT_FILE,
    help="Write the capture as pcapng with the findings as packet comments.",
)
@click.option(
    "--junit",
    type=OUTPUT_FILE,
    help="Write a test case for each rule.",
)
@click.option(
    "--max",
    "keep",
    type=COUNT,
    default=250_000,
    show_default=True,
    help="Findings to keep of each file for --all and --json; 0 for all. They are all counted.",
)
@click.option("-j", "jobs", type=JOBS, default=1, help="Workers.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only, and no progress on stderr.")
def check(
    files: tuple[str, ...],
    interface: str | None,
    duration: float | None,
    qps: Path | None,
    waivers: Path | None,
    each: bool,
    as_json: bool,
    annotate: Path | None,
    junit: Path | None,
    keep: int,
    jobs: int,
    quiet: bool,
) -> None:
    """Judge captures (- is stdin) by the rules of the wire; exit code 1 if one is broken."""
    from roceproof.cli.check_command import Output, Request, run_check

    request = Request(
        files=files,
        interface=interface,
        duration=duration,
        qps=qps,
        waivers=waivers,
        keep=keep,
        jobs=jobs,
    )
    output = Output(each=each, as_json=as_json, annotate=annotate, junit=junit, quiet=quiet)
    sys.exit(run_check(request, output))
