# SPDX-License-Identifier: BSD-2-Clause
"""How stock tools are run as server and client: addresses, GIDs, readiness, losses, their end."""

import re
from dataclasses import dataclass, replace

from roceproof.conformance.interop.stock.cable import Loss

SERVER, CLIENT = "server", "client"
IPV4, IPV6, VLAN = "10.77.0.1", "fd77::1", "10.78.0.1"
# The order in which the guest's addresses become GIDs; index 0 is link-local.
GID_INDEX = {IPV4: 1, IPV6: 2, VLAN: 3}
PINGPONG_PORT = 18515
CM_PORTS = {"rping": 7174, "udaddy": 7174, "ucmatose": 7471, "rstream": 7471, "ib_write_bw": 18515}
GROUP, GROUP_MAC = "239.1.1.1", "3333ef010101"
# With these the pingpongs draw 0xFFFFFB as their start PSN.
WRAPPING_SEED = "fix_seed 1001 1702261263; "


@dataclass(frozen=True)
class Scenario:
    """Command lines of both sides, the guest command that waits for the server, what goes wrong."""

    name: str
    server: str
    client: str
    until_ready: str
    shows: str
    losses: tuple[Loss, ...] = ()
    before: str = ""
    succeeds: bool = True
    server_hangs: bool = False


def lost(towards: str, *opcodes: int, nth: int = 1, recorded: bool = False) -> Loss:
    """Return a loss in front of the recording point, or behind it when `recorded`."""
    return Loss(towards, opcodes, nth, recorded)


def pingpong(name: str, command: str, shows: str, *losses: Loss, to: str = IPV4) -> Scenario:
    """Return an ibv_*_pingpong that checks what it receives."""
    return _verbs(name, f"{command} -c -d rxe0 -g {GID_INDEX[to]}", shows, losses, to)


def perf(name: str, command: str, shows: str, *losses: Loss, to: str = IPV4) -> Scenario:
    return _verbs(name, f"{command} -F -d rxe0 -x {GID_INDEX[to]}", shows, losses, to)


def by_cm(name: str, server: str, client: str, command: str, shows: str, *losses: Loss) -> Scenario:
    """Return a tool that connects through the connection manager; `{}` is its command line."""
    port = CM_PORTS[command.split()[0]]
    ready = f"until_cm_listening {port}"
    both = server.format(command), client.format(command)
    return Scenario(name, *both, ready, shows, losses)


def multicast(name: str, command: str, shows: str) -> Scenario:
    """Return mckey with a member and a sender."""
    both = (
        f"{command} -m {GROUP} -b {IPV4}",
        f"{command} -m {GROUP} -b {IPV4.replace('.0.1', '.0.2')} -s",
    )
    return Scenario(name, *both, f"until_joined {GROUP_MAC}", shows)


def wrapping(scenario: Scenario) -> Scenario:
    """Return a pingpong whose PSNs wrap after the fifth packet of either side."""
    return replace(scenario, before=WRAPPING_SEED)


def failing(scenario: Scenario) -> Scenario:
    """Return a scenario in which both tools must fail."""
    return replace(scenario, succeeds=False)


def expecting(scenario: Scenario, *, size: int) -> Scenario:
    """Return a scenario whose server makes room for messages of another size."""
    return replace(scenario, server=re.sub(r"-s \d+", f"-s {size}", scenario.server))


def ended(scenario: Scenario) -> Scenario:
    """Return a scenario whose server, which would wait for ever, ends with the client."""
    return replace(scenario, server_hangs=True)


def _verbs(name: str, command: str, shows: str, losses: tuple[Loss, ...], to: str) -> Scenario:
    # The tools exchange QPNs over TCP, which they only do over IPv4 by themselves.
    address = IPV4 if to == IPV6 else to
    ready = f"until_listening {PINGPONG_PORT}"
    return Scenario(name, command, f"{command} {address}", ready, shows, losses)
