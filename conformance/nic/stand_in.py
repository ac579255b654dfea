# SPDX-License-Identifier: BSD-2-Clause
"""A stand-in for a NIC and its cable: a Soft-RoCE guest plugged into a TAP.

It needs a network namespace of ours. Whoever asks gets what the user of a card has: an interface
of this host, and a command that is the agent beside the device.
"""

import fcntl
import os
import select
import shlex
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from roceproof.conformance.targets.verbs.ports import PortGone, StreamPort
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.vm import saved
from roceproof.rxe_env.vm.qemu import Machine

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
INTERFACE, MIRROR = "wire0", "mirror0"
MTU = "9000"
READ_BYTES = 1 << 16
_PIPE = "roceproof.conformance.nic.agent_pipe"


class StandIn(NamedTuple):
    """Where it is: the near end of its link, a mirror port of that, and its agent's command."""

    interface: str
    mirror: str
    agent: str


@contextmanager
def stand_in(machine: Machine) -> Iterator[StandIn]:
    """Plug a machine, restored from its saved state, into the cable for as long as it is used."""
    with ExitStack() as undo:
        near, mirror = _tap(INTERFACE), _tap(MIRROR)
        undo.callback(os.close, near)
        undo.callback(os.close, mirror)
        guest = undo.enter_context(saved.restored(machine, saved.state_for(machine)))
        far = StreamPort(guest.socket_path("net"))
        undo.callback(far.close)
        stop, end = os.pipe()
        undo.callback(os.close, stop)
        undo.callback(os.close, end)
        carrier = threading.Thread(target=_cable, args=(near, mirror, far, stop))
        carrier.start()
        undo.callback(carrier.join)
        undo.callback(os.write, end, b"x")
        agent = [sys.executable, "-m", _PIPE, str(guest.socket_path("agent"))]
        yield StandIn(INTERFACE, MIRROR, shlex.join(agent))


def _tap(name: str) -> int:
    """A TAP, up; this end of it is the cable's."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    run([tool("ip"), "link", "set", "dev", name, "addrgenmode", "none"])
    run([tool("ip"), "link", "set", "dev", name, "mtu", MTU, "up"])
    return fd


def _cable(near: int, mirror: int, far: StreamPort, stop: int) -> None:
    """Carry frames both ways until told to stop, and copies to the mirror."""
    while True:
        ready = select.select([near, mirror, far.fileno(), stop], [], [])[0]
        if stop in ready:
            return
        if mirror in ready:
            os.read(mirror, READ_BYTES)
        if near in ready:
            frame = os.read(near, READ_BYTES)
            os.write(mirror, frame)
            far.send(frame)
        if far.fileno() in ready:
            try:
                frames = far.take()
            except PortGone:
                return
            for frame in frames:
                os.write(mirror, frame)
                os.write(near, frame)
