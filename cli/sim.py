# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof sim``: one device, free-running on one link."""

import io
import shlex
import sys
from pathlib import Path

import click

from roceproof.cli.console.help_examples import examples
from roceproof.cli.console.shared_options import width_option
from roceproof.common.arguments import MANIFEST, OUTPUT_FILE, SEED, WORD, Number
from roceproof.common.paths import REFERENCE_DUT


@click.command(epilog=examples("sim"))
@click.option("--link", type=WORD, required=True, help="tap:NAME, socket:PATH or pcap:FILE.")
@click.option(
    "--line",
    type=WORD,
    help="In front of the link, in simulated time: rate, delay, buffer, mark, loss, twice, swap,"
    " corrupt (docs/bridge.md).",
)
@click.option(
    "--dut", type=MANIFEST, help="Manifest of the device; the reference endpoint if not given."
)
@width_option
@click.option("--mac", type=WORD, default="02:00:00:00:00:01", show_default=True)
@click.option("--ip", "ipv4", type=WORD, default="10.77.0.1", show_default=True)
@click.option("--capture", type=OUTPUT_FILE, help="Write a pcapng of the port.")
@click.option("--waves", type=OUTPUT_FILE, help="Write an FST of the run.")
@click.option("--seed", type=SEED, default=1, show_default=True)
@click.option(
    "--duration",
    type=Number(1e-6, 10**9, whole=False),
    help="Simulated milliseconds; until Ctrl-C if not given.",
)
@click.option("-q", "--quiet", is_flag=True, help="No heartbeat on stderr.")
def sim(
    link: str,
    line: str | None,
    dut: Path | None,
    width: int | None,
    mac: str,
    ipv4: str,
    capture: Path | None,
    waves: Path | None,
    seed: int,
    duration: float | None,
    quiet: bool,
) -> None:
    """Run a device free on a link, until Ctrl-C."""
    from roceproof.common.progress import Progress
    from roceproof.dpi import PortOptions
    from roceproof.dpi.compile.cache import build_simulation
    from roceproof.dpi.manifest.dut import load_manifest
    from roceproof.dpi.session.run import run_on_link
    from roceproof.dpi.session.simulation import require_writable

    if waves:
        require_writable(waves)
    device = load_manifest(dut or REFERENCE_DUT)
    width = width or device.data_widths[0]
    told = f"--line {line} " if line else ""
    told += f"--link {link} --width {width} --seed {seed}"
    told += f" --dut {shlex.quote(str(dut))}" if dut else ""
    if line is not None:
        link = f"line:seed={seed % 2**32},{line};{link}"
    with Progress(quiet=quiet) as progress:
        build_simulation(
            device, data_width=width, ports=1, fst=waves is not None, progress=progress.step
        )
    run_on_link(
        device,
        data_width=width,
        port=PortOptions(mac=mac, ipv4=ipv4, link=link, capture=capture),
        report=io.StringIO() if quiet else sys.stderr,
        seed=seed,
        duration_ns=None if duration is None else round(duration * 1e6),
        waves=waves,
        command=f"roceproof sim {told}",
    )
