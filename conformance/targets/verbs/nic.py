# SPDX-License-Identifier: BSD-2-Clause
"""A real NIC as a target: a packet socket on an interface that reaches its port, and the agent.

docs/nic.md says how to set both up. What the device is called and which addresses it
has is learned from the agent.
"""

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from ipaddress import ip_address
from platform import release
from typing import Any

from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims, TargetError
from roceproof.conformance.targets.verbs.command_agent import CommandAgent
from roceproof.conformance.targets.verbs.device import VerbsDevice
from roceproof.conformance.targets.verbs.device_address import address_of, routable
from roceproof.conformance.targets.verbs.factory import (
    ABSENT_FROM_VERBS,
    PATIENCE,
    VERBS_CAPABILITIES,
    VerbsFactory,
)
from roceproof.conformance.targets.verbs.live_link import Wire
from roceproof.conformance.targets.verbs.netdev import mtu_of
from roceproof.conformance.targets.verbs.packet_port import PacketPort
from roceproof.verbs.addresses import Host, parse_mac

TOLD = ("device", "driver", "fw_ver", "board_id", "hca_type", "kernel", "host")
PATH_MTUS = (256, 512, 1024, 2048, 4096)
HEADERS_BYTES = 84  # IPv6, UDP, BTH, RETH, immediate data, ICRC
TESTER_LAST_BYTE = 101

_BY_HAND = "what its port does here depends on how it is configured: see docs/nic.md"
ABSENT = ABSENT_FROM_VERBS | {
    Capability.CREDITS: _BY_HAND,
    Capability.RECEIVE_CREDITS: _BY_HAND,
    Capability.PFC: _BY_HAND,
    Capability.CNP: _BY_HAND,
    Capability.MARKS: _BY_HAND,
    Capability.VLAN: "the agent does not tell which of the device's addresses are on a VLAN",
    Capability.FCS: "network interfaces keep the frame check sequence to themselves",
}


@dataclass(frozen=True, kw_only=True)
class NicOptions:
    """Where the NIC's wire and its agent are. Addresses left out are chosen in its subnet."""

    interface: str  # of this host, on the device's link
    agent: Sequence[str]  # the command whose standard input and output is the agent
    mirror: str | None = None  # an interface of this host that gets a copy of what the device sends
    device_ip: str | None = None  # one of the device's, where it has several
    mac: str = "02:00:00:00:0b:01"  # of this tester
    ip: str | None = None  # of this tester; nobody else's


class NicFactory(VerbsFactory):
    """One NIC; a run has it for itself."""

    def __init__(self, options: NicOptions) -> None:
        super().__init__()
        self._options = options
        self._hello: Mapping[str, Any] = {}
        room = mtu_of(options.interface) - HEADERS_BYTES
        self.claims = Claims(
            target="nic",
            device=f"the NIC behind {options.interface}",
            capabilities=VERBS_CAPABILITIES,
            path_mtus=tuple(mtu for mtu in PATH_MTUS if mtu <= room),
            qps=256,
            absent=ABSENT,
        )

    def identity(self) -> tuple[str, str]:
        """A NIC, or Soft-RoCE where the agent has that."""
        is_rxe = str(self._hello.get("device", "")).startswith("rxe")
        return ("rxe", str(self._hello.get("kernel", ""))) if is_rxe else ("nic", "")

    def prepare(self, progress: Callable[[str], None], *, waves: bool = False) -> None:
        """See that the agent starts, and learn what the device is."""
        progress("asking the agent for the device")
        with closing(CommandAgent(self._options.agent)) as agent:
            self._hello = agent.hello

    def versions(self) -> Mapping[str, str]:
        """This host's kernel, and what the agent has told by now."""
        told = {f"nic {name}": str(self._hello[name]) for name in TOLD if name in self._hello}
        return {"tester kernel": release(), **told}

    def _plug_in(self) -> VerbsDevice:
        options = self._options
        with ExitStack() as undo:
            undo.callback(_for_one_run(options.interface).close)
            agent = CommandAgent(options.agent)
            undo.callback(agent.close)
            self._hello = agent.hello
            addresses = [address_of(agent.hello, ip) for ip in self._device_ips()]
            self._check_mtu()
            own = addresses[0].host
            port = PacketPort(options.interface, mirror=options.mirror, device_mac=own.mac)
            wire = Wire(port)
            undo.callback(wire.close)
            return VerbsDevice(
                f"{agent.hello['device']} on {agent.hello['host']}",
                agent,
                wire,
                addresses=addresses,
                tester=Host(parse_mac(options.mac), self._tester_ip(own)),
                patience=PATIENCE,
                last_words=agent.last_words,
                close=undo.pop_all().close,
            )

    def _device_ips(self) -> list[str]:
        """The address that cases use first, and one of the other version where there is one."""
        found = routable(self._hello)
        first = self._options.device_ip or next(iter(found), None)
        if first is None:
            raise TargetError("the device has no RoCEv2 address: give its interface an IP")
        version = ip_address(first).version
        return [first, *[ip for ip in found if ip_address(ip).version != version][:1]]

    def _check_mtu(self) -> None:
        largest = max(self.claims.path_mtus)
        active = int(self._hello["active_mtu"])
        if active < largest:
            raise TargetError(
                f"the device's path MTU is at most {active}, {self._options.interface} has room "
                f"for {largest}: give {self._hello['netdev']} the same MTU"
            )

    def _tester_ip(self, device: Host) -> bytes:
        if self._options.ip is not None:
            return ip_address(self._options.ip).packed
        return device.ip[:-1] + bytes([TESTER_LAST_BYTE])


def _for_one_run(interface: str) -> socket.socket:
    """Something that only one process can have."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0roceproof nic {interface}")
    except OSError:
        claim.close()
        raise TargetError(
            f"{interface} is in use by another run: wait for it, and run with one worker"
        ) from None
    return claim
