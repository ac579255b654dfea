# SPDX-License-Identifier: BSD-2-Clause
"""The ``roceproof`` console command: one subcommand per job.

Exit codes: 0 fine, 1 findings, 2 usage or environment, 77 skipped because the
machine lacks something, 130 interrupted. Results go to stdout, diagnostics to
stderr. Each subcommand imports what it needs only when it runs.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import click
from roceproof import __version__
from roceproof.errors import RoceproofError

EXIT_ENVIRONMENT = 2
EXIT_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="roceproof")
def cli() -> None:
    """Co-simulation and protocol conformance for RoCEv2 transmitters."""


@cli.command()
@click.option("--backend", type=click.Choice(["auto", "vm", "native"]), default="auto")
@click.option("--width", type=int, default=64, show_default=True, help="Bits of the data path.")
@click.option("--seed", type=int, default=1, show_default=True, help="Payloads and start PSNs.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("build/demo"))
@click.option("--waves", is_flag=True, help="Write OUT/waves.fst, too.")
@click.option("--short", is_flag=True, help="Small messages only (for slow machines).")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def demo(
    backend: str, width: int, seed: int, out: Path, waves: bool, short: bool, quiet: bool
) -> None:
    """Send every kind of message from the HDL endpoint into a real Soft-RoCE receiver."""
    from roceproof.demo import run_demo

    sys.exit(
        run_demo(
            backend=backend,
            data_width=width,
            seed=seed,
            out=out,
            waves=waves,
            short=short,
            quiet=quiet,
        )
    )


@cli.command("demo-tap")
@click.option("--width", type=int, default=64, show_default=True, help="Bits of the data path.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def demo_tap(width: int, quiet: bool) -> None:
    """Ping the simulated endpoint through a TAP in a private namespace, without root."""
    from roceproof.demo_tap import run_demo_tap

    sys.exit(run_demo_tap(data_width=width, quiet=quiet))


def main() -> None:
    """Run the command; turn the project's errors into one line and an exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(EXIT_INTERRUPTED)
    except KeyboardInterrupt:
        click.echo("roceproof: interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_ENVIRONMENT)
    except RoceproofError as error:
        click.echo(f"roceproof: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_ENVIRONMENT)


def _terminate(signum: int, frame: object) -> None:
    raise KeyboardInterrupt
