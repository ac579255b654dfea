# SPDX-License-Identifier: BSD-2-Clause
"""Running the system's tools, each with a deadline and a one-line failure."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from roceproof.children import run_to_end
from roceproof.rxe_env.errors import Unavailable

# Where each tool that may be missing comes from, in Debian and Ubuntu alike.
PACKAGES = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "rdma": "iproute2",
    "ip": "iproute2",
    "ping": "iputils-ping",
    "zstd": "zstd",
    "cc": "gcc",
    "setpriv": "util-linux",
    "dpkg-deb": "dpkg",
    "tshark": "tshark",
    "verilator": "verilator",
    "ibv_rc_pingpong": "ibverbs-utils",
    "ibv_uc_pingpong": "ibverbs-utils",
    "ibv_ud_pingpong": "ibverbs-utils",
    "ibv_srq_pingpong": "ibverbs-utils",
    "ib_write_bw": "perftest",
    "ib_read_bw": "perftest",
    "ib_send_bw": "perftest",
    "ib_atomic_bw": "perftest",
    "rping": "rdmacm-utils",
    "rstream": "rdmacm-utils",
    "ucmatose": "rdmacm-utils",
    "udaddy": "rdmacm-utils",
    "mckey": "rdmacm-utils",
}


def tool(name: str) -> str:
    """Return the path of a system tool, looking in the sbin directories too."""
    found = shutil.which(name) or shutil.which(name, path="/usr/local/sbin:/usr/sbin:/sbin")
    if not found:
        package = PACKAGES.get(name, name)
        raise Unavailable(f"{name} is not installed: apt-get install {package}")
    return found


def run(command: Sequence[str | Path], *, timeout: float = 60, cwd: Path | None = None) -> str:
    """Run a command to its end and return its standard output."""
    words = [str(word) for word in command]
    try:
        done = run_to_end(words, timeout=timeout, cwd=cwd)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{words[0]} did not end within {timeout:g} s") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        reason = lines[-1] if lines else f"exit code {done.returncode}"
        raise Unavailable(f"{Path(words[0]).name} failed: {reason}")
    return done.stdout
