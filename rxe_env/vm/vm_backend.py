# SPDX-License-Identifier: BSD-2-Clause
"""Soft-RoCE in a virtual machine with a kernel of its own. Needs no privileges."""

import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from roceproof.common.packages import missing_tools
from roceproof.rxe_env.client.agent_build import build_agent
from roceproof.rxe_env.client.channel import AgentChannel
from roceproof.rxe_env.errors import PeerDied, Unavailable
from roceproof.rxe_env.kernel import unpacked, versions
from roceproof.rxe_env.vm import accel, initramfs, rundir, saved
from roceproof.rxe_env.vm.machine import CONNECT_SECONDS, Vm, tail
from roceproof.rxe_env.vm.qemu import PEER_HOST, Machine

TOOLS = ("qemu-system-x86_64", "busybox", "cc", "zstd")
RESTART_SECONDS = 5.0
HELLO_SECONDS = 30.0


def machine(
    progress: Callable[[str], None],
    *,
    kernel: str | None = None,
    agent: Path | None = None,
    host: int = PEER_HOST,
) -> Machine:
    """Return the peer's machine with everything it boots from in place.

    `kernel` says which one as `versions.find` takes it; `agent` replaces the agent that is built
    from the sources. Two on one wire need a `host` each.
    """
    if lack := missing_tools(TOOLS):  # before anything is fetched
        raise Unavailable(lack)
    guest_kernel = versions.find(kernel, progress)
    image = initramfs.build_image(
        guest_kernel,
        modules=unpacked.PEER_MODULES,
        init="init-peer.sh",
        programs=[agent or build_agent()],
    )
    return Machine(
        guest_kernel.image,
        accel.choose(guest_kernel.image, progress),
        image,
        release=guest_kernel.release,
        append=f"peer_host={host}",
        host=host,
    )


def prepare(progress: Callable[[str], None], *, kernel: str | None = None) -> None:
    """Put into the cache all that a machine starts from."""
    saved.state_for(machine(progress, kernel=kernel), progress)


class VmBackend:
    """A machine restored from its saved state, or booted and saved the first time."""

    name = "vm"
    netns = None

    def __init__(
        self, ready: Machine, progress: Callable[[str], None], *, console_log: Path | None = None
    ) -> None:
        self.accel = ready.accel
        self.ipv4 = ready.ipv4
        self._vm, self._agent, self.channel = saved.started(
            ready, progress, lambda state: _alive(ready, state, console_log)
        )
        self.link = f"socket:{self._vm.socket_path('net')}"

    def console_tail(self) -> str:
        """Return the last lines of the guest's console."""
        return self._vm.console_tail()

    def held_up_ns(self) -> int:
        """Return for how long the host has kept the machine waiting."""
        return self._vm.held_up_ns()

    def close(self) -> None:
        self._agent.close()
        self._vm.close()


def _alive(
    ready: Machine, state: Path, console_log: Path | None
) -> tuple[Vm, socket.socket, AgentChannel]:
    """Restore the machine and have its agent answer once."""
    with ExitStack() as undo:
        machine = undo.enter_context(saved.restored(ready, state, console_log=console_log))
        agent = undo.enter_context(machine.connect("agent"))
        channel = AgentChannel(agent.fileno(), agent.fileno())
        try:
            channel.call("hello", {}, timeout=HELLO_SECONDS)
        except PeerDied as death:
            raise PeerDied(death.reason, machine.console_tail()) from None
        undo.pop_all()
        return machine, agent, channel


class AttachedBackend:
    """The background peer that env_up() started. Closing lets go of it; it stays up."""

    name = "vm"
    netns = None

    def __init__(self, status: dict[str, Any], agent_socket: Path) -> None:
        self.accel = str(status["accel"])
        self.link = str(status["link"])
        self.ipv4 = str(status["ipv4"])
        self._console = Path(status["console"])
        self._agent = rundir.connect(agent_socket, timeout=CONNECT_SECONDS)
        self.channel = AgentChannel(self._agent.fileno(), self._agent.fileno())
        try:
            self.channel.restart(timeout=RESTART_SECONDS)
        except PeerDied as error:
            self._agent.close()
            raise PeerDied(f"{error.reason}: is another program using it?") from None

    def console_tail(self) -> str:
        """Return the last lines of the guest's console."""
        return tail(self._console.read_text(errors="replace"))

    def held_up_ns(self) -> int:
        """Return nothing: somebody else's machine."""
        return 0

    def close(self) -> None:
        """Let go of the agent."""
        self._agent.close()
