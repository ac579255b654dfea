# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof test``; everything else is imported when it runs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from roceproof.cli.help_examples import examples
from roceproof.cli.shared_options import command_line, kernel_option, mutant_option, waivers_option
from roceproof.common.arguments import (
    DATA_WIDTH,
    JOBS,
    MANIFEST,
    OUTPUT_FOLDER,
    RESULTS,
    SEED,
    WORD,
)


@click.command("test", epilog=examples("test"))
@click.argument("cases", nargs=-1, type=RESULTS)
@click.option(
    "--target",
    type=click.Choice(["hdl", "rxe", "nic", "model"]),
    default="hdl",
    show_default=True,
    help="What to test.",
)
@click.option(
    "--dut",
    type=MANIFEST,
    help="Manifest of the device (hdl), or of what the model keeps within; else the endpoint.",
)
@click.option(
    "--suite",
    type=click.Choice(["smoke", "gate", "full", "long"]),
    help="Which cases; smoke if nothing else chooses them. Gate is full with a share of what is "
    "many, long ones take minutes each.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of all that cases draw.")
@click.option("-k", "expression", help="Only cases whose names match, as in pytest.")
@click.option(
    "--width",
    type=DATA_WIDTH,
    multiple=True,
    help="Data width (hdl); all without it; may be repeated.",
)
@kernel_option
@click.option("--interface", type=WORD, help="Network interface (nic).")
@click.option(
    "--agent",
    callback=command_line,
    help="Command that starts the verbs agent beside the NIC (nic).",
)
@click.option(
    "--mirror", type=WORD, help="Interface that gets a copy of what the device sends (nic)."
)
@click.option("--device-ip", type=WORD, help="Which of the device's addresses to use (nic).")
@click.option(
    "--out",
    type=OUTPUT_FOLDER,
    default=Path("build/conformance"),
    show_default=True,
    help="Captures of failing cases, results.json and junit.xml.",
)
@click.option("--resume", is_flag=True, help="Take up the run in --out that was cut short.")
@click.option("--keep-all", is_flag=True, help="Keep the captures of passing cases, too.")
@click.option("--show", is_flag=True, help="Show the packets of failures as Scapy does.")
@click.option("--waves", is_flag=True, help="Write waves of every case that runs (hdl).")
@waivers_option
@click.option("--per-rule", is_flag=True, help="Print what came of each rule.")
@click.option("--coverage", is_flag=True, help="Count what the stimulus reaches.")
@mutant_option
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@click.option("-j", "jobs", type=JOBS, help="Workers; 2 if not given, 1 with nic.")
@click.option("-q", "--quiet", is_flag=True, help="Failures only, and no progress on stderr.")
def test(
    cases: tuple[Path, ...],
    target: str,
    dut: Path | None,
    suite: str | None,
    seed: int,
    expression: str | None,
    width: tuple[int, ...],
    kernel: str | None,
    interface: str | None,
    agent: str | None,
    mirror: str | None,
    device_ip: str | None,
    out: Path,
    resume: bool,
    keep_all: bool,
    show: bool,
    waves: bool,
    waivers: Path | None,
    per_rule: bool,
    coverage: bool,
    mutant: str | None,
    as_json: bool,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Run the conformance suite, or CASES of your own; exit code 1 if a case fails."""
    from roceproof.conformance.regression.request import Output, Request
    from roceproof.conformance.regression.run import run_suite

    request = Request(
        cases=cases,
        target=target,
        dut=dut,
        suite=suite or ("full" if cases or expression else "smoke"),
        seed=seed,
        expression=expression,
        widths=width,
        kernel=kernel,
        interface=interface,
        agent=agent,
        mirror=mirror,
        device_ip=device_ip,
        resume=resume,
        keep_all=keep_all,
        show=show,
        waves=waves,
        mutant=mutant,
        jobs=jobs,
        waivers=waivers,
        coverage=coverage,
    )
    output = Output(directory=out, per_rule=per_rule, as_json=as_json, quiet=quiet)
    sys.exit(run_suite(request, output))
