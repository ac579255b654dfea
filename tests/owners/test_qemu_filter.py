# SPDX-License-Identifier: BSD-2-Clause
"""What QEMU says of a guest's VLAN filter before the guest is saved and after it is restored."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from roceproof.rxe_env.vm import qemu, saved, vm_backend
from roceproof.rxe_env.vm.machine import Vm
from roceproof.rxe_env.vm.qmp import Qmp

MENDED = (8, 2)
VLAN = 7  # the guest's init joins it


def filters(monitor: Qmp) -> list[Any]:
    (card,) = monitor.command("query-rx-filter")
    return [card["vlan"], VLAN in card["vlan-table"]]


@pytest.mark.slow
@pytest.mark.rxe
def test_a_restored_guest_has_its_vlan_filter_from_8_2_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, save = qemu.network, saved.save
    before: list[Any] = []

    def network(fd: int, *, mac: str) -> list[str]:
        return [word.replace(",ctrl_vlan=off", "") for word in plain(fd, mac=mac)]

    def look_and_save(monitor: Qmp, through: Path, state: Path) -> None:
        before.extend(filters(monitor))
        save(monitor, through, state)

    monkeypatch.setattr(qemu, "network", network)
    monkeypatch.setattr(saved, "save", look_and_save)
    machine, state = vm_backend.machine(print), tmp_path / "state"
    saved.boot_and_save(machine, state)
    assert before == ["normal", True]

    with (
        Vm(
            ("agent", "net", "monitor"),
            lambda fds: [
                *saved.restore_arguments(machine, state, fds),
                *qemu.monitor(fds["monitor"]),
            ],
        ) as vm,
        vm.connect("agent"),
        vm.connect("monitor") as control,
    ):
        monitor = Qmp(control)
        while monitor.command("query-status")["status"] == "inmigrate":
            pass
        told = re.search(r"version (\d+)\.(\d+)", qemu.version())
        assert told
        keeps = tuple(map(int, told.groups())) >= MENDED
        assert filters(monitor) == (before if keeps else ["none", False])
