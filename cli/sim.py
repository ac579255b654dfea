# SPDX-License-Identifier: BSD-2-Clause
"""The options of ``roceproof sim``; the rest is imported when it runs."""

from __future__ import annotations

from pathlib import Path

import click

from roceproof.cli.help_examples import examples
from roceproof.cli.shared_options import width_option
from roceproof.common.arguments import MANIFEST, OUTPUT_FILE, SEED, WORD, Number


@click.command(epilog=examples("sim"))
@click.option("--link", type=WORD, required=True, help="tap:NAME, socket:PATH or pcap:FILE.")
@click.option(
    "--dut",
    type=MANIFEST,
    help="Manifest of the device; the reference endpoint if not given.",
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
    from roceproof.cli.sim_command import run_sim

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
