# SPDX-License-Identifier: BSD-2-Clause
"""Run inside a private network namespace by test_tap.py: one device on one TAP.

Usage: tap_peer.py MANIFEST. Prints "ok" or fails with what went wrong.
"""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from pathlib import Path

from roceproof.dpi import PortOptions, Simulation, SimulationError, load_manifest

NAME = "rp0"
FROM_DEVICE = 4  # sll_pkttype PACKET_OUTGOING marks what we sent ourselves


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, timeout=10)


def main() -> None:
    manifest = load_manifest(Path(sys.argv[1]))
    ip("tuntap", "add", "dev", NAME, "mode", "tap")
    options = PortOptions(link=f"tap:{NAME}")

    def start() -> Simulation:
        return Simulation.start(manifest, data_width=64, ports=[options], free_running=True)

    try:
        start().close()
    except SimulationError as error:
        assert f"ip link set {NAME} up" in str(error), error
    else:
        raise AssertionError("a device that is down was accepted")

    ip("link", "set", NAME, "mtu", "9000")
    ip("link", "set", NAME, "up")
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5))
    wire.bind((NAME, 0x88B5))
    wire.settimeout(20)
    with wire, start() as simulation:
        try:
            start().close()
        except SimulationError as error:
            assert "in use by another program" in str(error), error
        else:
            raise AssertionError("a TAP was attached twice")
        for i, size in enumerate((60, 61, 1514, 9000)):
            payload = random.Random(i).randbytes(size - 14)
            here, there = b"\x02\0\0\0\0\x0a", b"\x02\0\0\0\0\x0b"
            wire.send(there + here + b"\x88\xb5" + payload)
            while True:
                data, (_, _, kind, _, _) = wire.recvfrom(65536)
                if kind != FROM_DEVICE:
                    break
            assert data == here + there + b"\x88\xb5" + payload, f"frame of {size} bytes"
        (statistics,) = simulation.statistics().ports
        assert statistics.dropped_in == statistics.dropped_out == 0, statistics
    print("ok")


main()
