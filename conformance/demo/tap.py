# SPDX-License-Identifier: BSD-2-Clause
"""Ping the simulated endpoint through a TAP in a private namespace, without root.

This half checks what the machine offers, builds the simulation and enters a
new user and network namespace; ``demo_tap_inside`` does the work there. The
namespace and the TAP vanish with the process.
"""

import os
import subprocess
import sys
from pathlib import Path

from roceproof.common.children import run_to_end
from roceproof.common.errors import Skipped
from roceproof.common.paths import REFERENCE_DUT
from roceproof.common.progress import Progress

UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--")
TUN_DEVICE = Path("/dev/net/tun")


def run_demo_tap(*, data_width: int, quiet: bool) -> int:
    """Build, enter the namespace and ping; the exit code is that of the inner half."""
    require_tap()
    from roceproof.dpi.compile.cache import build_simulation
    from roceproof.dpi.manifest.dut import load_manifest

    with Progress(quiet=quiet) as progress:
        progress.step(f"building the {data_width}-bit simulation")
        build_simulation(load_manifest(REFERENCE_DUT), data_width=data_width, ports=1)
    inner = [sys.executable, "-P", "-m", "roceproof.conformance.demo.tap_inside", str(data_width)]
    loudness = "quiet" if quiet else "loud"
    command = [*UNSHARE, *inner, loudness]
    return run_to_end(command, timeout=None, stdout=None, stderr=None).returncode


def require_tap() -> None:
    """Raise `Skipped` unless a TAP can be made in a private namespace here."""
    if not TUN_DEVICE.exists():
        raise Skipped(f"{TUN_DEVICE} is missing; load the tun module: sudo modprobe tun")
    if not os.access(TUN_DEVICE, os.R_OK | os.W_OK):
        raise Skipped(f"{TUN_DEVICE} may not be opened; allow it: sudo chmod 666 {TUN_DEVICE}")
    try:
        probe = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Skipped("unshare is missing; install it: sudo apt-get install util-linux") from None
    if probe.returncode != 0:
        reason = probe.stderr.strip().splitlines()[-1:] or ["refused"]
        raise Skipped(
            f"user namespaces do not work here ({reason[0]}); "
            "allow them: sudo sysctl kernel.unprivileged_userns_clone=1 "
            "kernel.apparmor_restrict_unprivileged_userns=0"
        )
