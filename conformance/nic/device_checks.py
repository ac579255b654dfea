# SPDX-License-Identifier: BSD-2-Clause
"""What the host of a NIC has and lacks to be tested, each lack with the command that mends it.

Nothing here knows a driver: what a device is called and has is read from sysfs.
"""

import re
from collections.abc import Iterator
from ipaddress import ip_address

from roceproof.conformance.nic.looking import Look, line
from roceproof.conformance.targets.verbs.device_address import Greeting, routable
from roceproof.rxe_env.doctor import Check

DEVICES = "/sys/class/infiniband"
NODES = "/sys/class/infiniband_verbs"
WANTED_MTU = 4200
LOCKED_BYTES = 64 << 20
FIRST_PLAYED = 100  # last bytes from here on are those of hosts that cases play
CAP_IPC_LOCK = 14
_LOCKED = re.compile(r"^Max locked memory +(\S{1,20})", re.MULTILINE)
_EFFECTIVE = re.compile(r"^CapEff:\s*([0-9a-f]{1,16})", re.MULTILINE)


def device_checks(look: Look, hello: Greeting | None, refusal: str = "") -> Iterator[Check]:
    """All checks of a device's host; `hello` is its agent's greeting, or `refusal` why it has none.

    Without a greeting only what can be the reason is looked at.
    """
    names = look(DEVICES).names
    if not names:
        mend = "load its driver: modprobe mlx5_ib, irdma, bnxt_re, or what it needs"
        yield Check("RDMA device", "fail", "the kernel shows none", mend)
        return
    yield _rights(look, hello["device"] if hello else names[0])
    if hello is None:
        mend = "mend what is above, or name one with --device"
        yield Check("RDMA device", "fail", f"{refusal}; there are {', '.join(names)}", mend)
        return
    device = str(hello["device"])
    yield Check("RDMA device", "ok", _made(look, device, hello))
    yield from (_managed(look), _locked(look))
    yield from _link(look, device, hello)
    yield _gids(hello)
    yield _congestion(look, str(hello.get("netdev", "")))
    yield _counters(look, device)


def _rights(look: Look, device: str) -> Check:
    for node in look(NODES).names:
        if line(look, f"{NODES}/{node}/ibdev") == device:
            path = f"/dev/infiniband/{node}"
            seen = look(path)
            if seen.readable and seen.writable:
                return Check("rights", "ok", f"{path} is the agent's to use")
            if not seen.exists:
                return Check("rights", "fail", f"{path} is missing", "udevadm trigger")
            return Check("rights", "fail", f"{path} is not ours to use", f"sudo chmod a+rw {path}")
    return Check("rights", "fail", f"no verbs node for {device}", "modprobe ib_uverbs")


def _made(look: Look, device: str, hello: Greeting) -> str:
    firmware = hello.get("fw_ver") or "unknown"
    kind = hello.get("board_id") or hello.get("hca_type") or ""
    driver = hello.get("driver", "no driver of a bus")
    return " ".join(
        f"{device}: {driver}, firmware {firmware}, Linux {hello['kernel']} {kind}".split()
    )


def _managed(look: Look) -> Check:
    seen = look("/dev/infiniband/rdma_cm")
    if seen.exists and seen.writable:
        return Check("connections", "ok", "/dev/infiniband/rdma_cm")
    mend = "sudo chmod a+rw /dev/infiniband/rdma_cm" if seen.exists else "modprobe rdma_ucm"
    return Check("connections", "warn", "cases of connection management will fail", mend)


def _locked(look: Look) -> Check:
    limit = _LOCKED.search(look("/proc/self/limits").text)
    rights = _EFFECTIVE.search(look("/proc/self/status").text)
    if rights and int(rights[1], 16) >> CAP_IPC_LOCK & 1:
        return Check("locked memory", "ok", "no limit for this user")
    if limit is None or not limit[1].isdecimal() or int(limit[1]) >= LOCKED_BYTES:
        return Check("locked memory", "ok", limit[1] if limit else "no limit told")
    mend = "ulimit -l unlimited, lasting: in /etc/security/limits.d"
    return Check("locked memory", "fail", f"only {limit[1]} bytes", mend)


def _link(look: Look, device: str, hello: Greeting) -> Iterator[Check]:
    port = f"{DEVICES}/{device}/ports/1"
    netdev = str(hello.get("netdev", ""))
    layer = line(look, f"{port}/link_layer")
    if layer not in ("Ethernet", ""):
        yield Check("link", "fail", f"the port speaks {layer}", "set its link type to Ethernet")
        return
    state, rate = line(look, f"{port}/state"), line(look, f"{port}/rate")
    words = f"{netdev or 'no interface'}: {state}, {rate}"
    if "ACTIVE" in state:
        yield Check("link", "ok", words)
    else:
        yield Check("link", "fail", words, f"plug in the cable; ip link set dev {netdev} up")
    said = line(look, f"/sys/class/net/{netdev}/mtu")
    mtu = int(said) if said.isdecimal() and len(said) < 10 else 0
    if mtu >= WANTED_MTU:
        yield Check("MTU", "ok", f"{mtu}, path MTU {hello['active_mtu']}")
    else:
        mend = f"ip link set dev {netdev} mtu {WANTED_MTU}"
        yield Check("MTU", "warn", f"{mtu}: too little for path MTU 4096", mend)


def _gids(hello: Greeting) -> Check:
    found = routable(hello)
    netdev = hello.get("netdev", "its interface")
    if not found:
        mend = f"ip addr add 192.168.50.2/24 dev {netdev}"
        return Check("addresses", "fail", "no RoCEv2 GID that others can reach", mend)
    high = [ip for ip in found if ip_address(ip).packed[-1] >= FIRST_PLAYED]
    if high:
        mend = "choose one whose last byte is below 100"
        return Check("addresses", "fail", f"{high[0]} may be that of a host cases play", mend)
    versions = {ip_address(ip).version for ip in found}
    if versions != {4, 6}:
        lacking = "IPv6" if 6 not in versions else "IPv4"
        words = f"{', '.join(found)}; cases over {lacking} will not run"
        return Check("addresses", "warn", words, f"give {netdev} an address of {lacking}")
    return Check("addresses", "ok", ", ".join(found))


def _congestion(look: Look, netdev: str) -> Check:
    """As the driver shows it: no case depends on it, but what a card answers to CE marks does."""
    place = f"/sys/class/net/{netdev}/ecn"
    said = []
    for side in ("roce_np", "roce_rp"):
        on = [
            number
            for number in look(f"{place}/{side}/enable").names
            if line(look, f"{place}/{side}/enable/{number}") == "1"
        ]
        said += [f"{side} on priority {', '.join(on)}"] if on else []
    how = f"see also: dcb pfc show dev {netdev}; ethtool -a {netdev}"
    return Check("ECN, PFC", "ok", f"{'; '.join(said) or 'the driver shows no ECN here'}; {how}")


def _counters(look: Look, device: str) -> Check:
    names = look(f"{DEVICES}/{device}/ports/1/hw_counters").names
    if names:
        return Check("counters", "ok", f"{len(names)} of the port's hardware")
    return Check("counters", "warn", "the driver shows none: silence is all that a drop leaves")
