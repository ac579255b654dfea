# SPDX-License-Identifier: BSD-2-Clause
"""The commands of ``roceproof nic``; the rest is imported when they run."""

import hashlib
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import out_option, suite_option
from roceproof.common.arguments import OUTPUT_FILE, RESULTS, SEED, WORD, command_line
from roceproof.common.printable import printable

_interface = click.option(
    "--interface", type=WORD, required=True, help="Of this host, on the device's link."
)
_agent = click.option(
    "--agent",
    required=True,
    callback=command_line,
    help="Command that starts the verbs agent there.",
)


@click.group(epilog=examples("nic"))
def nic() -> None:
    """A kit to test real NICs: see docs/nic.md."""


@nic.command("agent", epilog=examples("nic agent"))
@click.option(
    "-o",
    "--output",
    type=OUTPUT_FILE,
    default=Path("roceproof-agent"),
    show_default=True,
    help="Where to put it.",
)
def agent_command(output: Path) -> None:
    """Build the verbs agent as one file that runs on any x86-64 Linux, to be copied there."""
    from roceproof.common.output import output_directory
    from roceproof.common.progress import Progress
    from roceproof.common.whole_file import whole_file
    from roceproof.rxe_env.client.agent_build import build_static_agent

    with Progress(quiet=False) as progress:
        progress.step("building the agent")
        built = build_static_agent()
    with output_directory(output.parent), whole_file(output) as part:
        shutil.copy(built, part)
    digest = hashlib.sha256(output.read_bytes()).hexdigest()
    click.echo(f"{printable(output)}: {output.stat().st_size:,} bytes, sha256 {digest}")


@nic.command("doctor", epilog=examples("nic doctor"))
@_interface
@_agent
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def doctor_command(interface: str, agent: str, as_json: bool) -> None:
    """Say what both ends of a NIC's link have and lack; exit code 1 on a failure."""
    from roceproof.conformance.nic.doctor import run_nic_doctor

    sys.exit(run_nic_doctor(interface, agent, as_json=as_json))


@nic.command("merge", epilog=examples("nic merge"))
@click.argument("results", nargs=-1, required=True, type=RESULTS)
@out_option("build/nic", "devices.json, devices.md, devices.html.")
def merge_command(results: tuple[Path, ...], out: Path) -> None:
    """Make one matrix of rules and devices of the RESULTS of runs, or of other matrices."""
    from roceproof.conformance.nic.matrix_report import merge

    merge(results, out)


@nic.command("diff", epilog=examples("nic diff"))
@click.argument("a", type=RESULTS)
@click.argument("b", type=RESULTS)
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
def diff_command(a: Path, b: Path, as_json: bool) -> None:
    """Say which rules the devices of runs A and B answer differently; exit code 1 if any."""
    from roceproof.conformance.nic.matrix_report import run_diff

    sys.exit(run_diff(a, b, as_json=as_json))


@nic.command("replay", epilog=examples("nic replay"))
@click.argument("captures", nargs=-1, required=True, type=RESULTS)
@_interface
@_agent
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def replay_command(
    captures: tuple[Path, ...], interface: str, agent: str, as_json: bool, quiet: bool
) -> None:
    """Ask a NIC what CAPTURES (or those below a folder) ask, and hold it against the model.

    Exit code 1 if it answers otherwise.
    """
    from roceproof.conformance.nic.replay_report import run_replay

    sys.exit(run_replay(captures, interface, agent, as_json=as_json, quiet=quiet))


@nic.command("rehearse", epilog=examples("nic rehearse"))
@click.argument("kernels", nargs=-1)
@suite_option("smoke")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of all that cases draw.")
@click.option("-k", "expression", help="Only cases whose names match, as in pytest.")
@click.option(
    "--replay",
    "captures",
    type=RESULTS,
    multiple=True,
    help="Replay a capture, or those below a gate's folder, to each; may be repeated.",
)
@out_option("build/nic", "A folder for each guest's run, and the matrix of all.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def rehearse_command(kernels: tuple[str, ...], **given: Any) -> None:
    """Try the whole kit without a card: guests with KERNELS (6.1 and 6.12) are the NICs."""
    from roceproof.conformance.nic.rehearsal import DEFAULT, Rehearsal, run_rehearsal

    sys.exit(run_rehearsal(Rehearsal(kernels=kernels or DEFAULT, **given)))
