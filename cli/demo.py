# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof demo`` and ``demo-tap``; the rest is imported when they run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import kernel_option, width_option
from roceproof.common.arguments import DATA_WIDTH, MANIFEST, OUTPUT_FOLDER, SEED, Number
from roceproof.common.paths import REFERENCE_DUT, RESPONDER_DUT

if TYPE_CHECKING:
    from roceproof.conformance.demo.send import Play


def _of_a_demonstration(command: Callable[..., None]) -> Callable[..., None]:
    """The options that both directions have."""
    options = (
        click.option(
            "--dut",
            type=MANIFEST,
            help="Manifest of the device; the reference endpoint if not given.",
        ),
        click.option("--backend", type=click.Choice(["auto", "vm", "native"]), default="auto"),
        kernel_option,
        width_option,
        click.option(
            "--seed", type=SEED, default=1, show_default=True, help="Payloads and start PSNs."
        ),
        click.option("--waves", is_flag=True, help="Write OUT/waves.fst, too."),
        click.option("--short", is_flag=True, help="Small messages only (for slow machines)."),
        click.option("-q", "--quiet", is_flag=True, help="No progress on stderr."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _run(play: Play, name: str, *, device: Path, quiet: bool, **options: Any) -> None:
    from roceproof.conformance.demo.meeting import Wanted
    from roceproof.conformance.demo.send import run_demo
    from roceproof.dpi.manifest.dut import load_manifest

    dut, seed, kernel = options.pop("dut"), options["seed"], options["kernel"]
    width = options.pop("width") or load_manifest(dut or device).data_widths[0]
    command = f"roceproof {name} --width {width} --seed {seed}"
    command += f" --dut {shlex.quote(str(dut))}" if dut else ""
    command += f" --kernel {kernel}" if kernel else ""
    command += f" --loss {options['loss']:g}" if options.get("loss") else ""
    wanted = Wanted(dut=dut or device, data_width=width, command=command, **options)
    sys.exit(run_demo(wanted, play, quiet=quiet))


@click.command(epilog=examples("demo"))
@_of_a_demonstration
@click.option("--out", type=OUTPUT_FOLDER, default=Path("build/demo"))
def demo(**options: Any) -> None:
    """Send every kind of message from the HDL endpoint into a real Soft-RoCE receiver."""
    from roceproof.conformance.demo.send import demonstrate

    _run(demonstrate, "demo", device=REFERENCE_DUT, **options)


@click.command("demo-receive", epilog=examples("demo-receive"))
@_of_a_demonstration
@click.option(
    "--loss",
    type=Number(0, 20, whole=False),
    default=0.0,
    show_default=True,
    help="Percent of the frames that are lost, each way; RC only then.",
)
@click.option("--out", type=OUTPUT_FOLDER, default=Path("build/demo-receive"))
def demo_receive(**options: Any) -> None:
    """Send to the HDL endpoint from a real Soft-RoCE sender, write to it and read from it."""
    from roceproof.conformance.demo.receive import demonstrate_receiving

    _run(demonstrate_receiving, "demo-receive", device=RESPONDER_DUT, **options)


@click.command("demo-tap", epilog=examples("demo-tap"))
@click.option(
    "--width", type=DATA_WIDTH, default=64, show_default=True, help="Bits of the data path."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def demo_tap(width: int, quiet: bool) -> None:
    """Ping the simulated endpoint through a TAP in a private namespace, without root."""
    from roceproof.conformance.demo.tap import run_demo_tap

    sys.exit(run_demo_tap(data_width=width, quiet=quiet))
