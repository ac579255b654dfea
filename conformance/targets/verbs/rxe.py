# SPDX-License-Identifier: BSD-2-Clause
"""Linux Soft-RoCE as a target: a real kernel's RDMA stack in a machine that may die.

It is always the virtual machine, never the caller's kernel: some of what the suite
sends is made to break a receiver.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from socket import inet_aton

from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.conformance.targets.verbs.device import VerbsDevice
from roceproof.conformance.targets.verbs.device_address import address_of
from roceproof.conformance.targets.verbs.factory import (
    ABSENT_FROM_VERBS,
    PATIENCE,
    VERBS_CAPABILITIES,
    VerbsFactory,
)
from roceproof.conformance.targets.verbs.live_link import Wire
from roceproof.conformance.targets.verbs.ports import StreamPort
from roceproof.rxe_env import DUT_IPV4, SoftRoce
from roceproof.rxe_env.kernel import versions
from roceproof.rxe_env.vm import qemu, vm_backend
from roceproof.verbs.addresses import Host, parse_mac
from roceproof.verbs.limit_table import ANY
from roceproof.verbs.limits import Limits

TESTER_MAC = "02:00:00:00:00:01"
# As rxe_env/vm/guest/boot.sh gives them: VLAN 7 with priority 3.
GUEST_ADDRESSES = (("10.77.0.2", None), ("fd77::2", None), ("10.78.0.2", 3 << 13 | 7))
NO_SUCH_RXE = "rdma_rxe has no such thing"
ABSENT = ABSENT_FROM_VERBS | {
    Capability.CREDITS: "rdma_rxe sends whatever credits it is given",
    Capability.RECEIVE_CREDITS: "rdma_rxe acknowledges with the code for no credits",
    Capability.PFC: "a virtual link has no pause frames",
    Capability.CNP: NO_SUCH_RXE,
    Capability.MARKS: NO_SUCH_RXE,
    Capability.FCS: "a virtual link has no frame check sequence",
}


class RxeFactory(VerbsFactory):
    """One guest per process, restored from its saved state, and again when it has died."""

    claims = Claims(
        target="rxe",
        device="Soft-RoCE (rdma_rxe)",
        capabilities=VERBS_CAPABILITIES | {Capability.VLAN},
        qps=256,
        limits=Limits(identification=ANY),
        absent=ABSENT,
    )

    def __init__(self, kernel: str | None = None) -> None:
        """`kernel` names the guest's as `roceproof test --kernel` does."""
        super().__init__()
        self._kernel = kernel
        self._release = ""

    def prepare(self, progress: Callable[[str], None], *, waves: bool = False) -> None:
        """Fetch the kernel, boot and save the guest."""
        vm_backend.prepare(progress, kernel=self._kernel)

    def _plug_in(self) -> VerbsDevice:
        with ExitStack() as undo:
            peer = undo.enter_context(SoftRoce.start(backend="vm", kernel=self._kernel))
            wire = Wire(StreamPort(Path(peer.link.removeprefix("socket:"))))
            undo.callback(wire.close)
            return VerbsDevice(
                "the Soft-RoCE guest",
                peer,
                wire,
                addresses=[address_of(peer.hello, ip, vlan=vlan) for ip, vlan in GUEST_ADDRESSES],
                tester=Host(parse_mac(TESTER_MAC), inet_aton(DUT_IPV4)),
                patience=PATIENCE,
                last_words=peer.console_tail,
                close=undo.pop_all().close,
                held_up_ns=peer.held_up_ns,
            )

    def identity(self) -> tuple[str, str]:
        return "rxe", self.versions().get("kernel", "")

    def versions(self) -> Mapping[str, str]:
        """The guest's kernel, once it has been fetched, and what it runs on."""
        if not self._release and (guest := versions.kept(self._kernel)):
            self._release = guest.release
        return {"qemu": qemu.version(), **({"kernel": self._release} if self._release else {})}
