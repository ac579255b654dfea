# SPDX-License-Identifier: BSD-2-Clause
"""Soft-RoCE in a virtual machine with the distribution's kernel. Needs no privileges."""

from __future__ import annotations

from collections.abc import Callable

from roceproof.rxe_env import accel, initramfs, kernel, saved
from roceproof.rxe_env.agent_build import build_agent
from roceproof.rxe_env.channel import AgentChannel
from roceproof.rxe_env.qemu import Machine

GUEST_IPV4 = "10.77.0.2"


def machine(progress: Callable[[str], None]) -> Machine:
    """Return the peer's machine with everything it boots from in place."""
    guest_kernel = kernel.fetch(progress)
    image = initramfs.build_image(
        guest_kernel,
        modules=kernel.PEER_MODULES,
        init="init-peer.sh",
        programs=[build_agent()],
    )
    return Machine(guest_kernel.image, accel.choose(guest_kernel.image, progress), image)


class VmBackend:
    """A machine restored from its saved state, or booted and saved the first time."""

    name = "vm"
    ipv4 = GUEST_IPV4
    netns = None

    def __init__(self, progress: Callable[[str], None]) -> None:
        ready = machine(progress)
        self.accel = ready.accel
        self._vm = saved.restored(ready, saved.state_for(ready, progress))
        self.link = f"socket:{self._vm.socket_path('net')}"
        try:
            self._agent = self._vm.connect("agent")
        except BaseException:
            self._vm.close()
            raise
        self.channel = AgentChannel(self._agent.fileno(), self._agent.fileno())

    def console_tail(self) -> str:
        """Return the last lines of the guest's console."""
        return self._vm.console_tail()

    def close(self) -> None:
        """End the machine."""
        self._agent.close()
        self._vm.close()
