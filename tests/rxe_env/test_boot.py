# SPDX-License-Identifier: BSD-2-Clause
"""A kernel that does not come up is one line that says why, soon."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from roceproof.rxe_env import SoftRoce, Unavailable
from roceproof.rxe_env.kernel import distribution, versions
from roceproof.rxe_env.vm import boot

SECTOR = 512
RELEASE = "9.8.7-test"
MODULES = ("virtio_pci", "virtio_net", "virtio_console", "8021q", "rdma_rxe", "rdma_ucm")
MODULES += ("tun", "9p", "9pnet_virtio")


def hanging_image() -> bytes:
    """A boot image by the protocol's header, whose first instruction jumps to itself."""
    setup = bytearray(2 * SECTOR)
    setup[0x1F1] = 1  # sectors of set-up behind the first
    setup[0x1FE:0x200] = b"\x55\xaa"
    setup[0x200:0x202] = b"\xeb\xfe"
    setup[0x202:0x206] = b"HdrS"
    setup[0x206:0x208] = (0x0204).to_bytes(2, "little")
    setup[0x211] = 1  # loaded high
    setup[0x22C:0x230] = (0x37FFFFFF).to_bytes(4, "little")  # room for the root
    return bytes(setup) + bytes(SECTOR)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The distribution's modules as a tree of their own, and a cache of its own."""
    have = distribution.fetch().directory
    monkeypatch.setenv("ROCEPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ROCEPROOF_ACCEL", "tcg")
    tree = tmp_path / "modules" / RELEASE
    shutil.copytree(have / "modules", tree)
    shutil.copyfile(have / "vmlinuz", tmp_path / "vmlinuz")
    present = {path.name.removesuffix(".ko") for path in tree.iterdir()}
    builtin = "".join(f"kernel/{name}.ko\n" for name in {*MODULES} - present)
    (tree / "modules.builtin").write_text(builtin)
    return tmp_path


def failure(folder: Path) -> str:
    with pytest.raises(Unavailable) as caught:
        SoftRoce.start(kernel=f"{folder / 'vmlinuz'},{folder / 'modules' / RELEASE}")
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"Linux {RELEASE} does not boot here: ")
    assert text.endswith(boot.MEND)
    assert not list((folder / "cache" / "state").glob("*"))
    return text


@pytest.mark.whole
@pytest.mark.rxe
def test_a_kernel_that_hangs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boot, "BOOT_SECONDS", 2.0)
    (folder / "vmlinuz").write_bytes(hanging_image())
    assert "it hangs, " in failure(folder)


@pytest.mark.slow  # a whole boot; a kernel that hangs, and the reasons below, stand for it
@pytest.mark.rxe
def test_a_kernel_whose_modules_do_not_load(folder: Path) -> None:
    (folder / "modules" / RELEASE / "rdma_rxe.ko").write_bytes(b"\0depends=ib_core\0")
    start = time.monotonic()
    assert "cannot load rdma_rxe.ko (insmod: " in failure(folder)
    assert time.monotonic() - start < boot.LONGEST_SECONDS


def test_the_reason_is_what_a_person_would_read_out_of_the_console() -> None:
    panic = "[    1.2] a line\n[    1.3] Kernel panic - not syncing: VFS\n[    1.4] CPU: 0"
    assert boot.reason_in(panic, hangs=True) == "Kernel panic - not syncing: VFS"
    assert boot.reason_in("", hangs=True) == "it hangs, its console says nothing"
    assert boot.reason_in("[    0.1] last\n", hangs=True) == 'it hangs, its last words are "last"'
    assert boot.reason_in("qemu: no such file", hangs=False).startswith("it ended, ")


def test_a_version_is_no_part_of_another() -> None:
    assert versions.is_of("6.1.0-56-amd64", "6.1")
    assert versions.is_of("6.12.107+deb13-amd64", "6.12.107")
    assert not versions.is_of("6.12.107+deb13-amd64", "6.1")
    assert not versions.is_of("6.12.107+deb13-amd64", "6.12.10")
