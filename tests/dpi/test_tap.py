# SPDX-License-Identifier: BSD-2-Clause
"""The TAP link, in a user and network namespace of its own: no root, no trace."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.dpi import PortOptions, Simulation, SimulationError, build_simulation

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


@pytest.mark.skipif(os.geteuid() != 0, reason="entering a named network namespace needs root")
def test_a_simulation_can_run_in_a_named_network_namespace(echo_manifest):
    name = f"roceproof-test-{secrets.token_hex(4)}"
    inside = ["ip", "netns", "exec", name]
    added = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if added.returncode:
        pytest.skip(f"no named network namespaces here: {added.stderr.strip()}")
    try:
        subprocess.run([*inside, "ip", "tuntap", "add", "dev", "rp0", "mode", "tap"], check=True)
        subprocess.run([*inside, "ip", "link", "set", "rp0", "up"], check=True)
        port = PortOptions(link="tap:rp0")
        with Simulation.start(
            echo_manifest, data_width=64, ports=[port], free_running=True, netns=name
        ) as simulation:
            assert simulation.statistics().cycle >= 0
        with pytest.raises(SimulationError, match="rp0"):
            Simulation.start(echo_manifest, data_width=64, ports=[port], free_running=True)
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)
