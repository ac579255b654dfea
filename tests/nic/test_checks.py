# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with a NIC's host is found, by its name, with a command that mends it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from roceproof.conformance.nic import looking
from roceproof.conformance.nic import near_checks as near_checks_module
from roceproof.conformance.nic.device_checks import device_checks
from roceproof.conformance.nic.looking import Seen
from roceproof.conformance.nic.near_checks import near_checks
from roceproof.conformance.targets.verbs import netdev
from roceproof.rxe_env.doctor import Check

HELLO: dict[str, Any] = {
    "device": "mlx5_0",
    "kernel": "6.12.0",
    "host": "lab",
    "driver": "mlx5_core",
    "fw_ver": "22.31.1014",
    "board_id": "MT_0000000436",
    "netdev": "ens1",
    "active_mtu": 4096,
    "gids": [
        {"index": 0, "gid": "fe80::1", "type": "roce_v2"},
        {"index": 3, "gid": "::ffff:192.168.50.2", "type": "roce_v2"},
        {"index": 5, "gid": "fd50::2", "type": "roce_v2"},
    ],
}
PORT = "/sys/class/infiniband/mlx5_0/ports/1"
NODE = Seen(True, True, True)


def text(words: str) -> Seen:
    return Seen(True, True, False, words)


def names(*found: str) -> Seen:
    return Seen(True, True, False, names=found)


HEALTHY = {
    "/sys/class/infiniband": names("mlx5_0"),
    "/sys/class/infiniband_verbs": names("abi_version", "uverbs0"),
    "/sys/class/infiniband_verbs/uverbs0/ibdev": text("mlx5_0\n"),
    "/dev/infiniband/uverbs0": NODE,
    "/dev/infiniband/rdma_cm": NODE,
    "/proc/self/limits": text("Max locked memory         unlimited   unlimited   bytes\n"),
    "/proc/self/status": text("CapEff:\t0000000000000000\n"),
    f"{PORT}/link_layer": text("Ethernet\n"),
    f"{PORT}/state": text("4: ACTIVE\n"),
    f"{PORT}/rate": text("100 Gb/sec (4X EDR)\n"),
    f"{PORT}/hw_counters": names("out_of_sequence", "rx_icrc_encapsulated"),
    "/sys/class/net/ens1/mtu": text("4200\n"),
    "/sys/class/net/ens1/ecn/roce_np/enable": names("0", "3"),
    "/sys/class/net/ens1/ecn/roce_np/enable/3": text("1\n"),
}


def checks(changed: dict[str, Seen], hello: dict[str, Any] | None = HELLO) -> list[Check]:
    tree = {**HEALTHY, **changed}
    return list(device_checks(lambda path: tree.get(path, Seen()), hello, "no such device"))


def test_a_healthy_host_has_nothing_to_mend() -> None:
    found = checks({})
    assert {check.status for check in found} == {"ok"}
    assert all(not check.remedy for check in found)
    said = {check.name: check.detail for check in found}
    assert said["RDMA device"] == (
        "mlx5_0: mlx5_core, firmware 22.31.1014, Linux 6.12.0 MT_0000000436"
    )
    assert said["addresses"] == "192.168.50.2, fd50::2"
    assert said["ECN, PFC"].startswith("roce_np on priority 3; ")


@pytest.mark.parametrize(
    ("changed", "status", "name", "mend"),
    [
        ({"/sys/class/infiniband": Seen()}, "fail", "RDMA device", "modprobe"),
        ({"/dev/infiniband/uverbs0": Seen(True)}, "fail", "rights", "chmod a+rw /dev/inf"),
        ({"/dev/infiniband/uverbs0": Seen()}, "fail", "rights", "udevadm"),
        ({"/sys/class/infiniband_verbs": Seen()}, "fail", "rights", "modprobe ib_uverbs"),
        ({"/dev/infiniband/rdma_cm": Seen()}, "warn", "connections", "modprobe rdma_ucm"),
        (
            {"/proc/self/limits": text("Max locked memory     8388608   8388608   bytes\n")},
            *("fail", "locked memory", "ulimit -l unlimited"),
        ),
        ({f"{PORT}/link_layer": text("InfiniBand\n")}, "fail", "link", "link type to Ethernet"),
        ({f"{PORT}/state": text("1: DOWN\n")}, "fail", "link", "ip link set dev ens1 up"),
        ({"/sys/class/net/ens1/mtu": text("1500\n")}, "warn", "MTU", "dev ens1 mtu 4200"),
        ({f"{PORT}/hw_counters": Seen()}, "warn", "counters", ""),
    ],
)
def test_a_lack_is_found_with_its_mend(
    changed: dict[str, Seen], status: str, name: str, mend: str
) -> None:
    (bad,) = [check for check in checks(changed) if check.status != "ok"]
    assert (bad.status, bad.name) == (status, name)
    assert mend in bad.remedy


def test_a_limit_does_not_bind_who_may_lock_memory() -> None:
    limits = text("Max locked memory     65536   65536   bytes\n")
    status = text("CapEff:\t0000000000004000\n")
    found = checks({"/proc/self/limits": limits, "/proc/self/status": status})
    assert {check.status for check in found} == {"ok"}


@pytest.mark.parametrize(
    ("gids", "status", "words"),
    [
        (["fe80::1"], "fail", "no RoCEv2 GID"),
        (["::ffff:10.0.0.104", "fd50::2"], "fail", "10.0.0.104 may be that of a host cases play"),
        (["::ffff:10.0.0.4"], "warn", "cases over IPv6 will not run"),
    ],
)
def test_addresses_that_do_not_do_are_told(gids: list[str], status: str, words: str) -> None:
    table = [{"index": n, "gid": gid, "type": "roce_v2"} for n, gid in enumerate(gids)]
    (bad,) = [check for check in checks({}, HELLO | {"gids": table}) if check.status != "ok"]
    assert bad.status == status
    assert words in bad.detail


def test_an_agent_without_a_device_is_told_which_there_are() -> None:
    last = checks({}, None)[-1]
    assert last.status == "fail"
    assert last.detail == "no such device; there are mlx5_0"


def near(interface: str, tree: dict[str, Seen] | None = None) -> dict[str, Check]:
    found = near_checks(lambda path: (tree or {}).get(path, Seen()), interface)
    return {check.name: check for check in found}


def test_an_interface_that_is_not_there_is_told() -> None:
    found = near("nosuch0")["interface"]
    assert (found.status, found.detail, found.remedy) == (
        *("fail", "there is no interface nosuch0"),
        "see `ip link`",
    )


@pytest.mark.parametrize(
    ("flags", "words", "mend"),
    [(0, "lo is down", "ip link set dev lo up"), (1, "lo has no carrier", "plug in the cable")],
)
def test_a_link_that_is_down_is_told(
    flags: int, words: str, mend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (near_checks_module, netdev):
        monkeypatch.setattr(module, "flags_of", lambda name: flags)
    found = near("lo")["interface"]
    assert (found.status, found.detail, found.remedy) == ("fail", words, mend)


def test_a_small_mtu_and_a_device_that_may_keep_frames_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(near_checks_module, "mtu_of", lambda name: 1500)
    monkeypatch.setattr(near_checks_module, "flags_of", lambda name: 0x41)
    found = near("lo", {"/sys/class/net/lo/device/infiniband": names("mlx5_1")})
    assert found["near MTU"].remedy == "ip link set dev lo mtu 9000"
    assert found["RoCE frames"].status == "warn"
    assert found["interface"].status == "ok"


@pytest.mark.parametrize(
    ("question", "answer", "name", "mend"),
    [
        (near_checks_module.GET_GRO, (0, 1, 0, 0), "offloads", "ethtool -K lo gro off"),
        (near_checks_module.GET_FLAGS, (0, 1 << 15, 0, 0), "offloads", "ethtool -K lo lro off"),
        (near_checks_module.GET_PAUSE, (0, 0, 1, 0), "pause", "ethtool -A lo rx off tx off"),
    ],
)
def test_what_may_merge_frames_or_hold_them_up_is_told(
    question: int, answer: tuple[int, ...], name: str, mend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(interface: str, which: int) -> tuple[int, ...]:
        return answer if which == question else (0, 0, 0, 0)

    monkeypatch.setattr(near_checks_module, "_asked", asked)
    monkeypatch.setattr(near_checks_module, "flags_of", lambda name: 0x41)
    found = near("lo")
    assert (found[name].status, found[name].remedy) == ("warn", mend)


def test_who_may_not_open_packet_sockets_is_told() -> None:
    program = (
        "from roceproof.conformance.nic.looking import here\n"
        "from roceproof.conformance.nic.near_checks import near_checks\n"
        "(found,) = [c for c in near_checks(here, 'lo') if c.name == 'packet socket']\n"
        "print(found.status)\n"
    )
    words = [sys.executable, "-c", program]
    if os.geteuid() == 0:
        words = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw", *words]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "fail\n"


def test_looking_here_is_like_looking_far_away() -> None:
    assert not looking.here("/sys/nosuch").exists
    assert "lo" in looking.here("/sys/class/net").names
    assert looking.line(looking.here, "/sys/class/net/lo/mtu").isdigit()
