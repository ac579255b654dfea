# SPDX-License-Identifier: BSD-2-Clause
"""Run inside a network namespace of its own: checks `lo` live while a frame is sent there.

Usage: live_inside.py FRAME_HEX interrupt|duration COMMAND...
Prints what the command prints and ends with its exit code. The frame is sent
again and again while the command lives; "interrupt" is a Ctrl-C once the
oracle waits for one.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ETH_P_ALL = 3
POLL_SECONDS = 0.01


def oracle_is_ready() -> bool:
    """Whether a roce-check of this namespace has a handler for SIGINT."""
    own = Path("/proc/self/ns/net").readlink()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text() != "roce-check\n":
                continue
            status = (process / "status").read_text()
            here = (process / "ns/net").readlink() == own
        except OSError:
            continue
        caught = int(status.split("SigCgt:")[1].split()[0], 16)
        if here and caught >> (signal.SIGINT - 1) & 1:
            return True
    return False


def main() -> int:
    frame, ending, command = bytes.fromhex(sys.argv[1]), sys.argv[2], sys.argv[3:]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sender.bind(("lo", ETH_P_ALL))
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            sender.send(frame)
            if ending == "interrupt" and oracle_is_ready():
                process.send_signal(signal.SIGINT)
                ending = "told"
            time.sleep(POLL_SECONDS)
        return process.returncode


sys.exit(main())
