# SPDX-License-Identifier: BSD-2-Clause
"""The virtual machine as QEMU's command line: fixed hardware, fixed addresses, no open ports."""

import functools
from dataclasses import dataclass
from pathlib import Path

from roceproof.rxe_env.commands import run, tool

PEER_HOST = 2
MEMORY_MIB = 512
HOST_MTU = 9000
CONSOLE_LOG = "console.log"

# A kernel oops is an end that can be noticed: panic, reboot at once, -no-reboot.
KERNEL_ARGUMENTS = (
    "console=ttyS0 loglevel=5 oops=panic panic=-1 mitigations=off nokaslr net.ifnames=0"
)
# The host's own model where the hardware runs it, everything QEMU can emulate otherwise.
CPU = {"kvm": "host", "tcg": "max"}


@functools.cache
def version() -> str:
    return run([tool("qemu-system-x86_64"), "--version"]).splitlines()[0]


@dataclass(frozen=True)
class Machine:
    """A machine that boots a kernel; sockets and logs are added by whoever starts it."""

    kernel: Path
    accel: str
    initramfs: Path | None = None
    append: str = ""
    release: str = ""  # of the kernel, for who is told that it does not boot
    host: int = PEER_HOST  # the last number of its addresses

    @property
    def ipv4(self) -> str:
        """The address of its Ethernet port."""
        return f"10.77.0.{self.host}"

    @property
    def mac(self) -> str:
        """The hardware address of its Ethernet port."""
        return f"52:54:00:77:00:{self.host:02x}"

    def hardware(self) -> list[str]:
        """Return the arguments that decide what the guest sees."""
        boot = ["-kernel", str(self.kernel)]
        if self.initramfs:
            boot += ["-initrd", str(self.initramfs)]
        return [
            tool("qemu-system-x86_64"),
            *("-M", "pc", "-accel", self.accel, "-cpu", CPU[self.accel]),
            *("-m", str(MEMORY_MIB), "-smp", "1"),
            *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
            *boot,
            *("-append", f"{KERNEL_ARGUMENTS} {self.append}".strip()),
        ]


def console(log: Path) -> list[str]:
    """Return the arguments that log the serial console in a file."""
    return ["-chardev", f"file,id=console,path={log}", "-serial", "chardev:console"]


def agent_port(fd: int) -> list[str]:
    """Return the arguments for the agent's virtio port, served on listening socket `fd`."""
    return [
        *("-chardev", f"socket,id=agent,fd={fd},server=on,wait=off"),
        *("-device", "virtio-serial-pci,max_ports=2"),
        *("-device", "virtserialport,chardev=agent,nr=1"),
    ]


def network(fd: int, *, mac: str) -> list[str]:
    """Return the arguments for the Ethernet port, served on listening socket `fd`."""
    # QEMU before 8.2 forgets a guest's VLAN filter when it restores it, so the guest has none.
    card = (
        f"virtio-net-pci,netdev=net,mac={mac},romfile=,host_mtu={HOST_MTU},speed=100000,duplex=full"
        ",ctrl_vlan=off"
    )
    return [
        *("-netdev", f"stream,id=net,server=on,addr.type=fd,addr.str={fd}"),
        *("-device", card),
    ]


def monitor(fd: int) -> list[str]:
    """Return the arguments for QMP, served on listening socket `fd`."""
    return [
        *("-chardev", f"socket,id=monitor,fd={fd},server=on,wait=off"),
        *("-mon", "chardev=monitor,mode=control"),
    ]
