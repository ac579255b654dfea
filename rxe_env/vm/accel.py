# SPDX-License-Identifier: BSD-2-Clause
"""Decides between KVM and emulation by what KVM does, not by whether it is there.

A nested or paravirtual host may offer a /dev/kvm on which no guest ever prints a
byte. The probe boots the kernel without a root until it complains about that.
"""

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

from roceproof.rxe_env import cache
from roceproof.rxe_env.errors import Unavailable
from roceproof.rxe_env.vm import qemu
from roceproof.rxe_env.vm.machine import Vm
from roceproof.rxe_env.vm.qemu import Machine

KVM_DEVICE = Path("/dev/kvm")
FIRST_BYTE_SECONDS = 3.0
BOOT_SECONDS = 12.0
POLL_SECONDS = 0.05
BOOTED = "Unable to mount root fs"


def choose(kernel: Path, progress: Callable[[str], None] = lambda text: None) -> str:
    """Return "kvm" or "tcg"; $ROCEPROOF_ACCEL decides when it is set."""
    wanted = os.environ.get("ROCEPROOF_ACCEL")
    if wanted:
        if wanted not in qemu.CPU:
            raise Unavailable(f"ROCEPROOF_ACCEL={wanted}: set it to kvm or tcg, or unset it")
        return wanted
    if not os.access(KVM_DEVICE, os.R_OK | os.W_OK):
        return "tcg"

    def build(place: Path) -> None:
        progress("probing KVM")
        (place / "verdict.json").write_text(json.dumps({"kvm": kvm_works(kernel)}))

    # A kernel that does not boot at all says nothing of KVM with another.
    host = (platform.release(), platform.version(), qemu.version())
    key = cache.digest(*host, kernel.parent.name)
    verdict = json.loads((cache.entry("accel", key, build) / "verdict.json").read_text())
    return "kvm" if verdict["kvm"] else "tcg"


def kvm_works(kernel: Path) -> bool:
    """Return whether a guest boots under KVM before the deadline."""
    machine = Machine(kernel, "kvm", append="earlyprintk=serial,ttyS0")
    start = time.monotonic()
    with Vm((), lambda fds: machine.hardware()) as vm:
        while True:
            said = vm.console()
            elapsed = time.monotonic() - start
            if BOOTED in said:
                return True
            if elapsed > (BOOT_SECONDS if said else FIRST_BYTE_SECONDS):
                return False
            time.sleep(POLL_SECONDS)
