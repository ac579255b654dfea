# SPDX-License-Identifier: BSD-2-Clause
"""A machine with the stock RDMA tools of this host and a shell that we talk to without waiting.

Two of them, joined by a wire of ours, are client and server. Everything here
only moves bytes that are there; whoever owns the event loop waits.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from roceproof.common import packages
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import PeerDied
from roceproof.rxe_env.kernel import unpacked, versions
from roceproof.rxe_env.kernel.distribution import Kernel
from roceproof.rxe_env.vm import accel, initramfs, qemu
from roceproof.rxe_env.vm.machine import Vm
from roceproof.rxe_env.vm.qemu import Machine

STOCK_PACKAGES = ("ibverbs-utils", "perftest", "rdmacm-utils")
TOOLS = tuple(name for name, package in packages.TOOLS.items() if package in STOCK_PACKAGES)
# The C library loads it when a thread ends, so that ldd does not name it.
UNWINDER = "libgcc_s.so.1"
READ_BYTES = 1 << 16
_END = re.compile(rb"\nexit (\d+)\n")


@dataclass(frozen=True)
class Stock:
    """What both machines boot from."""

    kernel: Kernel
    image: Path
    accel: str


def prepare(
    progress: Callable[[str], None] = lambda text: None, *, kernel: str | None = None
) -> Stock:
    """Return kernel and image with the stock tools in it, made first where they are missing."""
    guest_kernel = versions.find(kernel, progress)
    image = initramfs.build_image(
        guest_kernel,
        modules=unpacked.STOCK_MODULES,
        init="init-stock.sh",
        programs=[Path(tool(name)) for name in TOOLS],
        files={f"/lib/{UNWINDER}": Path(_unwinder()).read_bytes()},
    )
    return Stock(guest_kernel, image, accel.choose(guest_kernel.image, progress))


def _unwinder() -> str:
    return run([tool("cc"), f"-print-file-name={UNWINDER}"]).strip()


class StockGuest:
    """Host number `number`: 10.77.0.NUMBER and fd77::NUMBER, MAC ending in NUMBER."""

    def __init__(self, stock: Stock, number: int) -> None:
        machine = Machine(
            stock.kernel.image, stock.accel, stock.image, append=f"stock_host={number}", host=number
        )
        self.number = number
        self.ipv4 = machine.ipv4
        self.ipv6 = f"fd77::{number}"
        self._vm = Vm(
            ("agent", "net"),
            lambda fds: [
                *machine.hardware(),
                *qemu.agent_port(fds["agent"]),
                *qemu.network(fds["net"], mac=machine.mac),
            ],
        )
        try:
            self.shell = self._vm.connect("agent")
            self.port = self._vm.connect("net")
        except BaseException:
            self._vm.close()
            raise
        self._said = bytearray()

    def begin(self, command: str) -> None:
        """Send the next command to the shell; the one before it must have ended."""
        self._said.clear()
        self.shell.sendall(command.encode() + b"\n")

    def listen(self) -> None:
        """Take what the shell has to say; call it when there is something."""
        data = self.shell.recv(READ_BYTES)
        if not data:
            raise PeerDied(f"stock guest {self.number} ended", self._vm.console_tail())
        self._said += data.replace(b"\r", b"")

    @property
    def said(self) -> str:
        """What the command has printed so far."""
        return _END.sub(b"", bytes(self._said)).decode(errors="replace")

    @property
    def code(self) -> int | None:
        """The command's exit code once it has ended."""
        end = _END.search(self._said)
        return int(end.group(1)) if end else None

    def console_tail(self) -> str:
        """Return the last lines of the guest's console."""
        return self._vm.console_tail()

    def held_up_ns(self) -> int:
        """Return for how long the machine could have run and had no processor of the host's."""
        return self._vm.held_up_ns()

    def close(self) -> None:
        self.shell.close()
        self.port.close()
        self._vm.close()
