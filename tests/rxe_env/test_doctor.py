# SPDX-License-Identifier: BSD-2-Clause
"""Every check of the doctor that fails says what to do."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from roceproof.common.checksum_stamp import seal
from roceproof.rxe_env import SoftRoce
from roceproof.rxe_env import doctor as examine
from roceproof.rxe_env.doctor import HOST_CHECKS, guarded, peer_checks
from roceproof.rxe_env.kernel import distribution
from roceproof.rxe_env.vm import accel, qemu


def test_the_checks_have_the_names_that_the_command_prints() -> None:
    checks = {check.name: check for check in examine()}
    assert set(HOST_CHECKS) <= set(checks)
    for check in checks.values():
        assert check.status in ("ok", "warn", "fail")
        assert check.detail
        assert check.status != "fail" or check.remedy


@pytest.mark.parametrize("name", ["QEMU", "Verilator", "tshark", "C compiler"])
def test_a_missing_tool_fails_with_the_package_to_install(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    qemu.version.cache_clear()
    check = guarded(name, HOST_CHECKS[name])
    assert check.status == "fail"
    assert check.remedy.startswith("apt-get install ")


def test_an_old_verilator_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "verilator"
    old.write_text("#!/bin/sh\necho Verilator 4.038 2020-07-11\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    check = guarded("Verilator", HOST_CHECKS["Verilator"])
    assert (check.status, "5.006" in check.remedy) == ("fail", True)


def test_a_verilator_that_tells_no_version_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unnumbered = tmp_path / "verilator"
    unnumbered.write_text("#!/bin/sh\necho ' rev vUNKNOWN-built20260516'\n")
    unnumbered.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    check = guarded("Verilator", HOST_CHECKS["Verilator"])
    assert (check.status, "5.006" in check.detail) == ("warn", True)


def test_a_folder_that_makefiles_cannot_build_in_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[guarded.__module__], "BUILD", Path("/home/me/my clone/build"))
    check = guarded("build folder", HOST_CHECKS["build folder"])
    assert (check.status, "' '" in check.detail) == ("fail", True)
    assert check.remedy.startswith("use a folder")


def test_a_missing_kvm_is_a_warning_not_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accel, "KVM_DEVICE", Path("/nonexistent"))
    assert guarded("KVM", HOST_CHECKS["KVM"]).status == "warn"


def test_a_peer_with_a_small_mtu_or_a_port_that_is_down_is_found() -> None:
    hello = {"active_mtu": 1024, "port_state": "down"}
    peer = cast(SoftRoce, SimpleNamespace(gid_index=1, ipv4="10.77.0.2", hello=hello))
    found = {check.name: check.status for check in peer_checks(peer)}
    assert found == {"peer GID": "ok", "peer MTU": "warn", "peer port": "fail"}


def test_every_kernel_that_is_kept_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCEPROOF_CACHE", str(tmp_path))
    for kind, release in (("kernel", "6.1.0-1-amd64"), ("kernels", "7.3.4-amd64")):
        place = tmp_path / kind / f"linux-image-{release}.{distribution.KEPT}"
        place.mkdir(parents=True)
        (place / "kernel.json").write_text(f'{{"release": "{release}", "needs": {{}}}}')
        seal(place)
    check = guarded("guest kernel", HOST_CHECKS["guest kernel"])
    assert check.detail.startswith("6.1.0-1-amd64 in ")
    assert check.detail.endswith("; beside it 7.3.4-amd64")
