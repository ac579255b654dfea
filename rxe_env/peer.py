# SPDX-License-Identifier: BSD-2-Clause
"""A Soft-RoCE peer: a real kernel RDMA stack with an Ethernet port to plug a simulation into.

with SoftRoce.start() as peer:
    mr = peer.reg_mr(4096)
    qp = peer.open_qp("RC")
    ...plug the simulator into peer.link, then peer.connect(qp, ...)
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from roceproof.rxe_env import native
from roceproof.rxe_env.backend import Backend
from roceproof.rxe_env.client.verbs import CALL_SECONDS, Verbs
from roceproof.rxe_env.errors import PeerDied, RxeError, Unavailable
from roceproof.rxe_env.vm import named, vm_backend
from roceproof.rxe_env.vm.vm_backend import AttachedBackend, VmBackend

# The address that the device under test is expected to have, on the peer's subnet.
DUT_IPV4 = "10.77.0.1"


class SoftRoce(Verbs):
    """A running peer. Use it as a context manager; leaving it ends the peer without a trace."""

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._backend = backend
        self.backend = backend.name
        self.accel = backend.accel
        self.link = backend.link
        self.ipv4 = backend.ipv4
        self.netns = backend.netns
        self.hello = self.call("hello")
        self.kernel = str(self.hello["kernel"])
        self.mac = str(self.hello.get("mac", ""))
        self.gid_index = self._gid_index()

    @classmethod
    def start(
        cls,
        *,
        backend: str = "auto",
        kernel: str | None = None,
        progress: Callable[[str], None] | None = None,
        console_log: Path | None = None,
    ) -> Self:
        """Start a peer on the "vm" or "native" back end; "auto" takes native where it works.

        `kernel` names the guest's as `roceproof env up --kernel` does, and needs the vm.
        `console_log` keeps the peer's console after the peer has gone.
        """
        place = _open_backend(backend, kernel, progress or (lambda text: None), console_log)
        try:
            return cls(place)
        except BaseException:
            place.close()
            raise

    @classmethod
    def attach(cls) -> Self:
        """Use the background peer that `env up` started."""
        status = named.env_status()
        if not status["up"]:
            raise Unavailable("no background peer is up: run `roceproof env up`")
        place = AttachedBackend(status, named.agent_socket())
        try:
            return cls(place)
        except BaseException:
            place.close()
            raise

    def call(self, op: str, *, within: float = CALL_SECONDS, **fields: Any) -> dict[str, Any]:
        """Run one operation of the agent's protocol, within so many seconds.

        Raises AgentError when the agent refuses and PeerDied when there is no answer.
        """
        try:
            return self._backend.channel.call(op, fields, timeout=within)
        except PeerDied as error:
            raise PeerDied(error.reason, self.console_tail()) from None

    def console_tail(self) -> str:
        """Return the last lines of the peer's console."""
        return self._backend.console_tail()

    def held_up_ns(self) -> int:
        """Return for how long the peer could have run and had no processor."""
        return self._backend.held_up_ns()

    def close(self) -> None:
        self._backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _gid_index(self) -> int:
        wanted = f"::ffff:{self.ipv4}"
        for gid in self.hello["gids"]:
            if gid["gid"] == wanted and gid["type"] == "roce_v2":
                return int(gid["index"])
        raise RxeError(f"the peer has no RoCEv2 GID for {self.ipv4}: it has {self.hello['gids']}")


def _open_backend(
    wanted: str, kernel: str | None, progress: Callable[[str], None], console_log: Path | None
) -> Backend:
    if wanted == "native" and kernel is not None:
        raise Unavailable("the native back end has the host's kernel: use --backend vm")
    if wanted == "auto" and kernel is not None:
        wanted = "vm"
    if wanted == "auto":
        wanted = "native" if native.missing() is None else "vm"
    if wanted == "vm":
        return VmBackend(
            vm_backend.machine(progress, kernel=kernel), progress, console_log=console_log
        )
    if wanted == "native":
        return native.NativeBackend(progress, console_log=console_log)
    raise Unavailable(f"there is no back end '{wanted}': use auto, vm or native")
