# SPDX-License-Identifier: BSD-2-Clause
"""The TAP link, in a user and network namespace of its own: no root, no trace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.dpi import build_simulation

pytestmark = pytest.mark.sim

UNSHARE = ("unshare", "--user", "--map-root-user", "--net")


def missing() -> str | None:
    if not Path("/dev/net/tun").exists():
        return "this machine has no /dev/net/tun"
    probe = subprocess.run(
        [*UNSHARE, "ip", "tuntap", "add", "dev", "rp0", "mode", "tap"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    return f"no TAP in a user namespace: {probe.stderr.strip()}" if probe.returncode else None


def test_frames_cross_a_tap_in_a_private_namespace(echo_manifest):
    if reason := missing():
        pytest.skip(reason)
    build_simulation(echo_manifest, data_width=64, ports=1)
    peer = Path(__file__).with_name("tap_peer.py")
    done = subprocess.run(
        [*UNSHARE, sys.executable, peer, echo_manifest.path],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "ok\n", done.stderr
