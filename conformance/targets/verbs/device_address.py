# SPDX-License-Identifier: BSD-2-Clause
"""A device's own addresses, as its agent's greeting tells them (`hello` in docs/agent.md)."""

from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address
from typing import Any, NamedTuple

from roceproof.conformance.targets.interface import TargetError
from roceproof.verbs.addresses import Host, parse_mac

Greeting = Mapping[str, Any]


class Address(NamedTuple):
    """One of the device's addresses; `vlan` is as in `QpSpec`."""

    host: Host
    sgid_index: int
    vlan: int | None = None


def _address(gid: str) -> IPv6Address:
    try:
        return IPv6Address(gid)
    except ValueError:
        raise TargetError(f"the agent names a GID that is no address: {gid}") from None


def routable(hello: Greeting) -> list[str]:
    """The IPs of the RoCEv2 GIDs that other hosts can be told of, each once, IPv4 first."""
    found = []
    for gid in hello["gids"]:
        address = _address(gid["gid"])
        if gid["type"] == "roce_v2" and not address.is_link_local:
            found.append(str(address.ipv4_mapped or address))
    return sorted(dict.fromkeys(found), key=lambda ip: ip_address(ip).version)


def address_of(hello: Greeting, ip: str, *, vlan: int | None = None) -> Address:
    wanted = ip_address(ip)
    for gid in hello["gids"]:
        address = _address(gid["gid"])
        if gid["type"] == "roce_v2" and wanted in (address, address.ipv4_mapped):
            host = Host(parse_mac(hello["mac"]), wanted.packed)
            return Address(host, int(gid["index"]), vlan)
    raise TargetError(f"the device has no RoCEv2 GID for {ip}: give its interface that address")
