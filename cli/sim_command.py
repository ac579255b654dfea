# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof sim``: one device, free-running on one link."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

from roceproof.common.paths import REFERENCE_DUT
from roceproof.common.progress import Progress
from roceproof.dpi import PortOptions
from roceproof.dpi.compile.cache import build_simulation
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.dpi.session.run import run_on_link
from roceproof.dpi.session.simulation import require_writable


def run_sim(
    *,
    manifest: Path | None,
    data_width: int | None,
    link: str,
    mac: str,
    ipv4: str,
    capture: Path | None,
    waves: Path | None,
    seed: int,
    duration_ms: float | None,
    quiet: bool,
) -> None:
    """Run until Ctrl-C or until `duration_ms` of simulated time have passed."""
    if waves:
        require_writable(waves)
    device = load_manifest(manifest or REFERENCE_DUT)
    data_width = data_width or device.data_widths[0]
    told = f"--link {link} --width {data_width} --seed {seed}"
    told += f" --dut {shlex.quote(str(manifest))}" if manifest else ""
    with Progress(quiet=quiet) as progress:
        build_simulation(
            device, data_width=data_width, ports=1, fst=waves is not None, progress=progress.step
        )
    run_on_link(
        device,
        data_width=data_width,
        port=PortOptions(mac=mac, ipv4=ipv4, link=link, capture=capture),
        report=io.StringIO() if quiet else sys.stderr,
        seed=seed,
        duration_ns=None if duration_ms is None else round(duration_ms * 1e6),
        waves=waves,
        command=f"roceproof sim {told}",
    )
