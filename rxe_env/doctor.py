# SPDX-License-Identifier: BSD-2-Clause
"""What this machine has and lacks for the whole job, each lack with the command that mends it."""

import importlib.metadata
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from roceproof.common.checksum_stamp import flaw
from roceproof.common.paths import BUILD, IS_CHECKOUT, REPOSITORY, cache_dir
from roceproof.common.plain_path import unbuildable
from roceproof.rxe_env import native
from roceproof.rxe_env.cache import KINDS, UNFINISHED
from roceproof.rxe_env.client import agent_build
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import RxeError, Unavailable
from roceproof.rxe_env.kernel import apt, distribution, versions
from roceproof.rxe_env.peer import SoftRoce
from roceproof.rxe_env.vm import accel, named, qemu

Status = Literal["ok", "warn", "fail"]
VERILATOR_FLOOR = (5, 6)
VERILATOR_NEEDED = "5.006 or later"
PYTHON_PACKAGES = ("click", "rich", "scapy")
WANTED_MTU = 4096
# What keeps users from namespaces in Ubuntu and in Debian, and the value that lets them.
USERNS_SWITCHES = {
    "kernel.apparmor_restrict_unprivileged_userns": 0,
    "kernel.unprivileged_userns_clone": 1,
}


@dataclass(frozen=True)
class Check:
    """One finding. `remedy` is empty when there is nothing to mend."""

    name: str
    status: Status
    detail: str
    remedy: str = ""


def doctor() -> list[Check]:
    """Return every check of this machine and, when a background peer is up, of the peer."""
    checks = [guarded(name, check) for name, check in HOST_CHECKS.items()]
    if named.env_status()["up"]:
        try:
            with SoftRoce.attach() as peer:
                checks += peer_checks(peer)
        except RxeError as error:
            checks.append(Check("peer", "fail", str(error), "roceproof env down, then env up"))
    return checks


def guarded(name: str, check: Callable[[], Check]) -> Check:
    """Run a check; a missing tool is its finding, with the remedy that the error names."""
    try:
        return check()
    except Unavailable as error:
        detail, _, remedy = str(error).partition(": ")
        return Check(name, "fail", detail, remedy)


def peer_checks(peer: SoftRoce) -> list[Check]:
    """Return the three things that are wrong most often when nothing flows."""
    index = Check("peer GID", "ok", f"index {peer.gid_index} is ::ffff:{peer.ipv4}")
    mtu = int(peer.hello["active_mtu"])
    state = str(peer.hello["port_state"])
    return [
        index,
        Check("peer MTU", "ok", f"active path MTU {mtu}")
        if mtu == WANTED_MTU
        else Check("peer MTU", "warn", f"active path MTU {mtu}", "raise the interface to 4200"),
        Check("peer port", "ok", state)
        if state == "active"
        else Check("peer port", "fail", state, "open the link: the port follows its carrier"),
    ]


def _qemu() -> Check:
    return Check("QEMU", "ok", qemu.version())


def _kvm() -> Check:
    if not accel.KVM_DEVICE.exists():
        return Check("KVM", "warn", "no /dev/kvm: the guest is emulated, which is slower")
    if not os.access(accel.KVM_DEVICE, os.R_OK | os.W_OK):
        return Check("KVM", "warn", "/dev/kvm is not ours to use", "usermod -aG kvm $USER")
    have = distribution.cached()
    if not have:
        return Check("KVM", "warn", "not probed: no kernel to boot yet", "roceproof env up")
    if accel.choose(have.image) == "kvm":
        return Check("KVM", "ok", "a guest boots on it")
    return Check("KVM", "warn", "present, but no guest boots on it: the guest is emulated")


def _tun() -> Check:
    device = Path("/dev/net/tun")
    if not device.exists():
        return Check("TUN/TAP", "fail", f"{device} is missing", "modprobe tun")
    if not os.access(device, os.R_OK | os.W_OK):
        return Check("TUN/TAP", "fail", f"{device} is not ours to use", f"chmod 666 {device}")
    return Check("TUN/TAP", "ok", str(device))


def _user_namespaces() -> Check:
    unshare = tool("unshare")
    try:
        run([unshare, "-rn", "true"])
    except Unavailable as error:
        switch = next((name for name in USERNS_SWITCHES if _sysctl(name).exists()), None)
        remedy = (
            f"sysctl -w {switch}={USERNS_SWITCHES[switch]}"
            if switch
            else "boot a kernel with CONFIG_USER_NS"
        )
        return Check("user namespaces", "fail", str(error), remedy)
    return Check("user namespaces", "ok", "unshare -rn works")


def _sysctl(name: str) -> Path:
    return Path("/proc/sys", *name.split("."))


def _kernel() -> Check:
    have = distribution.cached()
    if have:
        more = [each.release for each in versions.others()]
        told = f"; beside it {', '.join(more)}" if more else ""
        return Check("guest kernel", "ok", f"{have.release} in {have.directory}{told}")
    packages = apt.kernel_packages()
    return Check("guest kernel", "ok", f"to be fetched through apt: {packages[0]}")


def _native() -> Check:
    reason = native.missing()
    if reason:
        return Check("native Soft-RoCE", "warn", *reason.split(": ", 1))
    return Check("native Soft-RoCE", "ok", "this kernel has rdma_rxe")


def _verilator() -> Check:
    line = run([tool("verilator"), "--version"]).strip()
    match = re.search(r"(\d+)\.(\d+)", line)
    if not match:
        return Check("Verilator", "warn", f"{line}: tells no version; {VERILATOR_NEEDED} is needed")
    if (int(match[1]), int(match[2])) < VERILATOR_FLOOR:
        return Check("Verilator", "fail", line, f"install Verilator {VERILATOR_NEEDED}")
    return Check("Verilator", "ok", f"{line}; {VERILATOR_NEEDED} is needed")


def _build_folder() -> Check:
    reason = unbuildable((BUILD, REPOSITORY))
    if reason:
        return Check("build folder", "fail", *reason.split(": ", 1))
    return Check("build folder", "ok", str(BUILD))


def _compiler() -> Check:
    agent_build.build_agent()
    return Check("C compiler", "ok", "builds the verbs agent")


def _tshark() -> Check:
    return Check("tshark", "ok", run([tool("tshark"), "--version"]).splitlines()[0])


def _python_packages() -> Check:
    missing = []
    for name in PYTHON_PACKAGES:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check("Python packages", "fail", f"missing {', '.join(missing)}", "make setup")
    return Check("Python packages", "ok", ", ".join(PYTHON_PACKAGES))


def _cache() -> Check:
    place = cache_dir()
    kept = f"{megabytes(place)} in {place} (to clear it: rm -r {shlex.quote(str(place))})"
    damaged = damaged_entries()
    if damaged:
        more = f", and {len(damaged) - 1} more" if damaged[1:] else ""
        return Check("cache", "warn", f"{kept}; to be made anew when needed: {damaged[0]}{more}")
    return Check("cache", "ok", kept)


def _builds() -> Check:
    clear = "make clean" if IS_CHECKOUT else f"rm -r {shlex.quote(str(BUILD))}"
    return Check("builds", "ok", f"{megabytes(BUILD)} in {BUILD} (to clear them: {clear})")


HOST_CHECKS: dict[str, Callable[[], Check]] = {
    "QEMU": _qemu,
    "KVM": _kvm,
    "TUN/TAP": _tun,
    "user namespaces": _user_namespaces,
    "guest kernel": _kernel,
    "native Soft-RoCE": _native,
    "Verilator": _verilator,
    "build folder": _build_folder,
    "C compiler": _compiler,
    "tshark": _tshark,
    "Python packages": _python_packages,
    "cache": _cache,
    "builds": _builds,
}


def megabytes(place: Path) -> str:
    """Return how much the files below a directory take, in words."""
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                total += (Path(folder) / name).lstat().st_size
            except FileNotFoundError:  # another process has just removed it
                continue
    return f"{total / 1e6:.0f} MB"


def damaged_entries() -> list[str]:
    """Return a phrase for each entry of the cache that its next user will make anew."""
    phrases = []
    for kind, (thing, _) in KINDS.items():
        if not thing:
            continue
        for place in sorted((cache_dir() / kind).glob("*")):
            reason = None if place.name.startswith(UNFINISHED) else flaw(place)
            if reason:
                phrases.append(f"the {thing} in {place} ({reason})")
    return phrases
