# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof demo`` and ``demo-tap``; the rest is imported when they run."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from roceproof.examples import examples
from roceproof.shared_options import kernel_option


@click.command(epilog=examples("demo"))
@click.option(
    "--dut",
    type=click.Path(path_type=Path),
    help="Manifest of the device; the reference endpoint if not given.",
)
@click.option("--backend", type=click.Choice(["auto", "vm", "native"]), default="auto")
@kernel_option
@click.option("--width", type=int, default=64, show_default=True, help="Bits of the data path.")
@click.option("--seed", type=int, default=1, show_default=True, help="Payloads and start PSNs.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("build/demo"))
@click.option("--waves", is_flag=True, help="Write OUT/waves.fst, too.")
@click.option("--short", is_flag=True, help="Small messages only (for slow machines).")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def demo(
    dut: Path | None,
    backend: str,
    kernel: str | None,
    width: int,
    seed: int,
    out: Path,
    waves: bool,
    short: bool,
    quiet: bool,
) -> None:
    """Send every kind of message from the HDL endpoint into a real Soft-RoCE receiver."""
    from roceproof.demo import Wanted, run_demo

    wanted = Wanted(
        dut=dut,
        backend=backend,
        kernel=kernel,
        data_width=width,
        seed=seed,
        out=out,
        waves=waves,
        short=short,
        command=f"roceproof demo --width {width} --seed {seed}"
        + (f" --kernel {kernel}" if kernel else ""),
    )
    sys.exit(run_demo(wanted, quiet=quiet))


@click.command("demo-tap", epilog=examples("demo-tap"))
@click.option("--width", type=int, default=64, show_default=True, help="Bits of the data path.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def demo_tap(width: int, quiet: bool) -> None:
    """Ping the simulated endpoint through a TAP in a private namespace, without root."""
    from roceproof.demo_tap import run_demo_tap

    sys.exit(run_demo_tap(data_width=width, quiet=quiet))
