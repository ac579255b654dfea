# SPDX-License-Identifier: BSD-2-Clause
"""A stand-in for a NIC and its cable: the guest plugged into a TAP of a private namespace.

Run inside the namespace: nic_namespace.py PYTEST-ARGUMENT... runs pytest there, with
NIC in the environment so that the tests find the interface and the agent. A second
TAP gets a copy of everything on the cable, as a switch's mirror port would.
"""

from __future__ import annotations

import fcntl
import os
import select
import shlex
import struct
import subprocess
import sys
import threading
from pathlib import Path

from roceproof.conformance.targets.ports import PortGone, StreamPort
from roceproof.rxe_env import saved, vm_backend
from roceproof.rxe_env.commands import run, tool

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
INTERFACE, MIRROR = "wire0", "mirror0"
MTU = "9000"
READ_BYTES = 1 << 16


def tap(name: str) -> int:
    """A TAP, up; this end of it is the cable's."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    run([tool("ip"), "link", "set", "dev", name, "addrgenmode", "none"])
    run([tool("ip"), "link", "set", "dev", name, "mtu", MTU, "up"])
    return fd


def cable(near: int, mirror: int, far: StreamPort, stop: int) -> None:
    """Carry frames both ways until told to stop, and copies to the mirror."""
    while True:
        ready = select.select([near, mirror, far, stop], [], [])[0]
        if stop in ready:
            return
        if mirror in ready:
            os.read(mirror, READ_BYTES)
        if near in ready:
            frame = os.read(near, READ_BYTES)
            os.write(mirror, frame)
            far.send(frame)
        if far in ready:
            try:
                frames = far.take()
            except PortGone:
                return
            for frame in frames:
                os.write(mirror, frame)
                os.write(near, frame)


def main(arguments: list[str]) -> int:
    near, mirror = tap(INTERFACE), tap(MIRROR)
    machine = vm_backend.machine(lambda text: None)
    stop, end = os.pipe()
    with saved.restored(machine, saved.state_for(machine)) as guest:
        far = StreamPort(guest.socket_path("net"))
        carrier = threading.Thread(target=cable, args=(near, mirror, far, stop))
        carrier.start()
        pipe = Path(__file__).parent / "agent_pipe.py"
        agent = shlex.join([sys.executable, str(pipe), str(guest.socket_path("agent"))])
        told = {"NIC_INTERFACE": INTERFACE, "NIC_MIRROR": MIRROR, "NIC_AGENT": agent}
        tests = [sys.executable, "-m", "pytest", *arguments]
        code = subprocess.run(tests, env=os.environ | told, check=False).returncode
        os.write(end, b"x")
        carrier.join()
        far.close()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
