# SPDX-License-Identifier: BSD-2-Clause
"""The ``roceproof`` console command: one subcommand per job.

Exit codes: 0 fine, 1 findings, 2 usage or environment, 3 the device does not
build, 77 skipped because the machine lacks something, 130 interrupted, 141
nobody reads what is printed.
Results go to stdout, diagnostics to stderr. Each subcommand imports what it
needs only when it runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from roceproof import __version__
from roceproof.examples import examples
from roceproof.outcome import end_with
from roceproof.suite_cli import test

CAPTURE = click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True)
_COMPLETION = "_ROCEPROOF_COMPLETE"


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=examples(""))
@click.version_option(__version__, prog_name="roceproof")
def cli() -> None:
    """Co-simulation and protocol conformance for RoCEv2 transmitters."""


@cli.command(epilog=examples("demo"))
@click.option(
    "--dut",
    type=click.Path(path_type=Path),
    help="Manifest of the device; the reference endpoint if not given.",
)
@click.option("--backend", type=click.Choice(["auto", "vm", "native"]), default="auto")
@click.option("--width", type=int, default=64, show_default=True, help="Bits of the data path.")
@click.option("--seed", type=int, default=1, show_default=True, help="Payloads and start PSNs.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("build/demo"))
@click.option("--waves", is_flag=True, help="Write OUT/waves.fst, too.")
@click.option("--short", is_flag=True, help="Small messages only (for slow machines).")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def demo(
    dut: Path | None,
    backend: str,
    width: int,
    seed: int,
    out: Path,
    waves: bool,
    short: bool,
    quiet: bool,
) -> None:
    """Send every kind of message from the HDL endpoint into a real Soft-RoCE receiver."""
    from roceproof.demo import run_demo

    sys.exit(
        run_demo(
            dut=dut,
            backend=backend,
            data_width=width,
            seed=seed,
            out=out,
            waves=waves,
            short=short,
            quiet=quiet,
        )
    )


@cli.command("demo-tap", epilog=examples("demo-tap"))
@click.option("--width", type=int, default=64, show_default=True, help="Bits of the data path.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def demo_tap(width: int, quiet: bool) -> None:
    """Ping the simulated endpoint through a TAP in a private namespace, without root."""
    from roceproof.demo_tap import run_demo_tap

    sys.exit(run_demo_tap(data_width=width, quiet=quiet))


@cli.command(epilog=examples("sim"))
@click.option("--link", required=True, help="tap:NAME, socket:PATH or pcap:FILE.")
@click.option(
    "--dut",
    type=click.Path(path_type=Path),
    help="Manifest of the device; the reference endpoint if not given.",
)
@click.option("--width", type=int, default=64, show_default=True, help="Bits of the data path.")
@click.option("--mac", default="02:00:00:00:00:01", show_default=True)
@click.option("--ip", "ipv4", default="10.77.0.1", show_default=True)
@click.option("--capture", type=click.Path(path_type=Path), help="Write a pcapng of the port.")
@click.option("--waves", type=click.Path(path_type=Path), help="Write an FST of the run.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--duration", type=float, help="Simulated milliseconds; until Ctrl-C if not given.")
@click.option("-q", "--quiet", is_flag=True, help="No heartbeat on stderr.")
def sim(
    link: str,
    dut: Path | None,
    width: int,
    mac: str,
    ipv4: str,
    capture: Path | None,
    waves: Path | None,
    seed: int,
    duration: float | None,
    quiet: bool,
) -> None:
    """Run a device free on a link, until Ctrl-C."""
    from roceproof.sim_command import run_sim

    run_sim(
        manifest=dut,
        data_width=width,
        link=link,
        mac=mac,
        ipv4=ipv4,
        capture=capture,
        waves=waves,
        seed=seed,
        duration_ms=duration,
        quiet=quiet,
    )


@cli.group(epilog=examples("env"))
def env() -> None:
    """A Soft-RoCE peer that stays in the background."""


@env.command("up", epilog=examples("env up"))
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def env_up_command(as_json: bool, quiet: bool) -> None:
    """Start it, unless it is up, and say where to plug in."""
    from roceproof.env_command import up

    up(as_json=as_json, quiet=quiet)


@env.command("down", epilog=examples("env down"))
@click.option("-q", "--quiet", is_flag=True, help="Say nothing.")
def env_down_command(quiet: bool) -> None:
    """End it."""
    from roceproof.env_command import down

    down(quiet=quiet)


@env.command("status", epilog=examples("env status"))
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
def env_status_command(as_json: bool) -> None:
    """Say whether it is up; exit code 1 if not."""
    from roceproof.env_command import status

    sys.exit(status(as_json=as_json))


@cli.command(epilog=examples("doctor"))
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def doctor(as_json: bool) -> None:
    """Say what this machine has and lacks, and what mends it; exit code 1 on a failure."""
    from roceproof.doctor_command import run_doctor

    sys.exit(run_doctor(as_json=as_json))


@cli.command(epilog=examples("check"))
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("-i", "--interface", help="Capture there until Ctrl-C, then report.")
@click.option("--duration", type=float, help="Seconds to capture with -i.")
@click.option(
    "--qps",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Configured QP facts that a capture alone cannot show.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@click.option(
    "--annotate",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the capture as pcapng with the findings as packet comments.",
)
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a test case for each rule.",
)
@click.option(
    "--max",
    "keep",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="Findings to keep of each file; 0 for all. They are all counted.",
)
@click.option("-j", "jobs", type=click.IntRange(1, 64), default=1, help="Workers.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only, and no progress on stderr.")
def check(
    files: tuple[str, ...],
    interface: str | None,
    duration: float | None,
    qps: Path | None,
    as_json: bool,
    annotate: Path | None,
    junit: Path | None,
    keep: int,
    jobs: int,
    quiet: bool,
) -> None:
    """Judge captures (- is stdin) by the rules of the wire; exit code 1 if one is broken."""
    from roceproof.check_command import Output, Request, run_check

    request = Request(
        files=files, interface=interface, duration=duration, qps=qps, keep=keep, jobs=jobs
    )
    output = Output(as_json=as_json, annotate=annotate, junit=junit, quiet=quiet)
    sys.exit(run_check(request, output))


@cli.command(epilog=examples("rules"))
@click.argument("rule", nargs=-1)
@click.option("--severity", type=click.Choice(["must", "should", "info"]), help="Only those.")
@click.option(
    "--role",
    type=click.Choice(["T", "R", "O"], case_sensitive=False),
    help="Only those of the requester, the responder or a passive observer.",
)
@click.option("--coverage", is_flag=True, help="Which target tests them, and why not.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def rules(
    rule: tuple[str, ...], severity: str | None, role: str | None, coverage: bool, as_json: bool
) -> None:
    """List the rules of the wire; RULE is an id or how it begins, such as PSN-02 or PSN."""
    from roceproof.rules_command import run_rules

    sys.exit(run_rules(rule, severity=severity, role=role, coverage=coverage, as_json=as_json))


@cli.command(epilog=examples("explain"))
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@click.option(
    "--qps",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Configured QP facts that a capture alone cannot show.",
)
@click.option(
    "--frames",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Frame numbers to list.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing where there is nothing to explain.")
def explain(
    files: tuple[str, ...], as_json: bool, qps: Path | None, frames: int, quiet: bool
) -> None:
    """Name the misimplementation behind wrong ICRCs and PSNs (- is stdin); exit code 1 if any."""
    from roceproof.explain_command import run_explain

    sys.exit(run_explain(files, as_json=as_json, qps=qps, quiet=quiet, frames=frames))


@cli.group(epilog=examples("wireshark"))
def wireshark() -> None:
    """ICRC verdicts, relative PSNs and findings inside Wireshark."""


@wireshark.command("install", epilog=examples("wireshark install"))
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Wireshark's personal configuration folder; the user's own if not given.",
)
@click.option("--force", is_flag=True, help="Overwrite files that are not ours, too.")
def wireshark_install(directory: Path | None, force: bool) -> None:
    """Add the plugin and a profile to the user's Wireshark."""
    from roceproof.wireshark_command import run_install

    run_install(directory=directory, force=force)


@wireshark.command("uninstall", epilog=examples("wireshark uninstall"))
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where it was installed; the user's own configuration folder if not given.",
)
def wireshark_uninstall(directory: Path | None) -> None:
    """Remove them again, unless they were changed since."""
    from roceproof.wireshark_command import run_uninstall

    run_uninstall(directory=directory)


@cli.command(epilog=examples("diff"))
@click.argument("a", type=CAPTURE)
@click.argument("b", type=CAPTURE)
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
@click.option("-q", "--quiet", is_flag=True, help="The exit code only.")
def diff(a: Path, b: Path, as_json: bool, quiet: bool) -> None:
    """Compare the same traffic from two devices (- is stdin); exit code 1 if one matters."""
    from roceproof.diff_command import run_diff

    sys.exit(run_diff(a, b, as_json=as_json, quiet=quiet))


@cli.command(epilog=examples("ladder"))
@click.argument("file", type=CAPTURE)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="HTML page.")
@click.option("--frames", help="Frame numbers to draw: 10-20, 10- or 10.")
@click.option(
    "--max",
    "most",
    type=click.IntRange(min=1),
    default=2000,
    show_default=True,
    help="Packets to draw.",
)
@click.option(
    "--qps",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Configured QP facts, as for check.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one document.")
def ladder(
    file: Path, output: Path | None, frames: str | None, most: int, qps: Path | None, as_json: bool
) -> None:
    """Draw who said what to whom in a capture (- is stdin): in the terminal, or as a page."""
    from roceproof.ladder_command import run_ladder

    sys.exit(run_ladder(file, frames=frames, most=most, output=output, qps=qps, as_json=as_json))


cli.add_command(test)


def main() -> None:
    """Run the command that the arguments name."""
    end_with(_run)


def _run() -> int:
    if instruction := os.environ.get(_COMPLETION):  # what the shell's completion script sets
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "roceproof", _COMPLETION, instruction)
    with cli.make_context("roceproof", sys.argv[1:]) as context:
        cli.invoke(context)
    return 0
