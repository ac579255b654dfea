# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command of this file system on a kernel that has rdma_rxe: the native back end's proof.

The host's root is mounted read-only over 9p. /tmp and /run are fresh, save for the working
directory, the sources and the cache, which may lie there.
"""

import os
import shlex
import time
from collections.abc import Sequence
from pathlib import Path

from roceproof.common.paths import REPOSITORY, cache_dir
from roceproof.rxe_env.errors import PeerDied
from roceproof.rxe_env.kernel import unpacked, versions
from roceproof.rxe_env.vm import accel, initramfs, qemu
from roceproof.rxe_env.vm.machine import Vm
from roceproof.rxe_env.vm.qemu import Machine

RUN_SECONDS = 240.0
READ_BYTES = 1 << 16
FRESH = (("tmp",), ("run",))
EXPORT = "local,path=/,security_model=none,readonly=on,multidevs=remap,mount_tag=host"


def run_inside_vm(
    argv: Sequence[str], *, kernel: str | None = None, timeout: float = RUN_SECONDS
) -> tuple[int, str]:
    """Run a command in the machine and return its exit code and everything it printed.

    `kernel` says which one as `versions.find` takes it.
    """
    guest_kernel = versions.find(kernel)
    image = initramfs.build_image(
        guest_kernel,
        modules=unpacked.INSIDE_MODULES,
        init="init-inside.sh",
        files={"/command": _script(argv).encode(), "/keep": _kept().encode()},
    )
    machine = Machine(guest_kernel.image, accel.choose(guest_kernel.image), image)
    with Vm(
        ("agent",),
        lambda fds: [*machine.hardware(), *qemu.agent_port(fds["agent"]), "-virtfs", EXPORT],
    ) as vm:
        output = _read_all(vm, timeout)
        text, _, code = output.rstrip().rpartition("\nexit ")
        if not code.isdigit():
            raise PeerDied("the machine ended before its command did", vm.console_tail())
        return int(code), text


def _kept() -> str:
    wanted = {Path.cwd(), REPOSITORY, cache_dir().resolve()}
    fresh = [path for path in sorted(wanted) if path.parts[1:2] in FRESH and path.is_dir()]
    return "".join(f"{path}\n" for path in fresh)


def _script(argv: Sequence[str]) -> str:
    environment = {
        "HOME": str(Path.home()),
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ROCEPROOF_CACHE": str(cache_dir()),
    }
    exports = "".join(
        f"export {name}={shlex.quote(value)}\n" for name, value in environment.items()
    )
    return f"{exports}cd {shlex.quote(str(Path.cwd()))}\nexec {shlex.join(argv)}\n"


def _read_all(vm: Vm, timeout: float) -> str:
    deadline = time.monotonic() + timeout
    received = bytearray()
    with vm.connect("agent") as stream:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise PeerDied(f"the command did not end within {timeout:g} s", vm.console_tail())
            stream.settimeout(left)
            try:
                data = stream.recv(READ_BYTES)
            except TimeoutError:
                continue
            except ConnectionResetError:
                data = b""
            if not data:
                return received.decode(errors="replace")
            received += data
