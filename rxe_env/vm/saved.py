# SPDX-License-Identifier: BSD-2-Clause
"""A machine that is ready at once: booted a single time, saved, and restored ever after.

The saved state is only read by those who restore it, so any number of machines
can start from it at the same time. One that does not come to life is made anew.
"""

import platform
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from roceproof.common.checksum_stamp import seal_of
from roceproof.rxe_env import cache
from roceproof.rxe_env.client.channel import AgentChannel
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import PeerDied, RxeError
from roceproof.rxe_env.vm import boot, qemu, rundir
from roceproof.rxe_env.vm.machine import Vm
from roceproof.rxe_env.vm.qemu import Machine
from roceproof.rxe_env.vm.qmp import Qmp

HELLO_SECONDS = 30.0
SAVE_SECONDS = 60.0
STATE_FILE = "state.zst"

Started = TypeVar("Started")


def state_for(machine: Machine, progress: Callable[[str], None] = lambda text: None) -> Path:
    """Return the file with the machine's state just after its agent's first answer."""
    assert machine.initramfs

    def build(place: Path) -> None:
        progress(f"booting the guest once ({machine.accel})")
        boot_and_save(machine, place / STATE_FILE)

    fixed = peer_arguments(machine, {"agent": 0, "net": 0})
    key = cache.digest(
        qemu.version(),
        _host_cpu() if machine.accel == "kvm" else "",
        machine.kernel.parent.name,
        machine.initramfs.parent.name,
        *(word for word in fixed if word not in (str(machine.kernel), str(machine.initramfs))),
    )
    return cache.entry("state", key, build) / STATE_FILE


def started(
    machine: Machine, progress: Callable[[str], None], start: Callable[[Path], Started]
) -> Started:
    """Return what `start` makes of the state; after a PeerDied, of one that was saved anew."""
    state = state_for(machine, progress)
    made = seal_of(state.parent)
    try:
        return start(state)
    except PeerDied as death:
        cache.discard("state", state.parent, death.reason, made=made)
        return start(state_for(machine, progress))


def peer_arguments(machine: Machine, fds: dict[str, int]) -> list[str]:
    """Return the arguments of a Soft-RoCE peer with its agent and Ethernet sockets."""
    network = qemu.network(fds["net"], mac=machine.mac)
    return [*machine.hardware(), *qemu.agent_port(fds["agent"]), *network]


def restore_arguments(machine: Machine, state: Path, fds: dict[str, int]) -> list[str]:
    """Return the arguments of a peer that starts where its saved state ends."""
    source = f"exec:{tool('zstd')} -q -dc < {shlex.quote(str(state))}"
    return [*peer_arguments(machine, fds), "-incoming", source]


def restored(machine: Machine, state: Path, *, console_log: Path | None = None) -> Vm:
    """Start the machine where its saved state ends."""
    return Vm(
        ("agent", "net"),
        lambda fds: restore_arguments(machine, state, fds),
        console_log=console_log,
    )


def boot_and_save(machine: Machine, state: Path) -> None:
    sockets = ("agent", "net", "monitor")
    with Vm(
        sockets, lambda fds: [*peer_arguments(machine, fds), *qemu.monitor(fds["monitor"])]
    ) as vm:
        connection = vm.connect("agent")
        with connection:
            boot.wait_until_up(vm, connection, machine.release)
            agent = AgentChannel(connection.fileno(), connection.fileno())
            try:
                agent.call("hello", {}, timeout=HELLO_SECONDS)
            except PeerDied as error:
                raise PeerDied(error.reason, vm.console_tail()) from None
            with vm.connect("monitor") as control:
                save(Qmp(control), vm.socket_path("state"), state)


def save(monitor: Qmp, through: Path, state: Path) -> None:
    # The guest is idle, so that saving it while it runs converges at once, and a
    # state saved running continues by itself when it is restored.
    monitor.command(
        "migrate-set-capabilities", capabilities=[{"capability": "events", "state": True}]
    )
    monitor.command("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
    with rundir.listen(through) as listener:
        monitor.command("migrate", uri=f"unix:{through}")
        listener.settimeout(SAVE_SECONDS)
        try:
            stream = listener.accept()[0]
        except TimeoutError:
            raise RxeError(f"QEMU did not begin to save within {SAVE_SECONDS:g} s") from None
    with stream:
        pack: list[str | Path] = [tool("zstd"), "-q", "-1", "-o", state]
        run(pack, stdin=stream.fileno(), timeout=SAVE_SECONDS)
    if monitor.wait_event("MIGRATION", "status", ("completed", "failed")) == "failed":
        raise RxeError(f"QEMU could not save the guest's state to {state}: try again")


def _host_cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line for line in lines if line.startswith(("model name", "microcode"))]
    return platform.release() + "".join(sorted(set(models)))
