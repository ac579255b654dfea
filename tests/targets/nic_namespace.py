# SPDX-License-Identifier: BSD-2-Clause
"""Runs pytest beside a stand-in for a NIC, inside a network namespace of its own.

nic_namespace.py PYTEST-ARGUMENT... tells the tests by NIC_INTERFACE, NIC_MIRROR and NIC_AGENT
where the device is.
"""

from __future__ import annotations

import os
import subprocess
import sys

from roceproof.conformance.nic.stand_in import stand_in
from roceproof.rxe_env.vm import vm_backend


def main(arguments: list[str]) -> int:
    with stand_in(vm_backend.machine(lambda text: None)) as device:
        told = {
            "NIC_INTERFACE": device.interface,
            "NIC_MIRROR": device.mirror,
            "NIC_AGENT": device.agent,
        }
        tests = [sys.executable, "-m", "pytest", *arguments]
        return subprocess.run(tests, env=os.environ | told, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
