# SPDX-License-Identifier: BSD-2-Clause
"""The first use on a machine: what is fetched, built, probed and remembered."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from roceproof.common.checksum_stamp import seal
from roceproof.rxe_env import SoftRoce, Unavailable, cache
from roceproof.rxe_env.kernel import distribution, kmodules
from roceproof.rxe_env.vm import accel, cpio, qemu

OFFLINE = """
Acquire::Retries "0";
Acquire::http::Proxy "http://127.0.0.1:9";
Acquire::https::Proxy "http://127.0.0.1:9";
"""


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("ROCEPROOF_CACHE", str(place))
    return place


@pytest.fixture
def silent_qemu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A QEMU that counts how often it is started and never prints a byte."""
    starts = tmp_path / "starts"
    fake = tmp_path / "bin" / "qemu-system-x86_64"
    fake.parent.mkdir()
    fake.write_text(
        f"""#!/bin/sh
[ "$1" = --version ] && {{ echo "QEMU emulator version 0.0"; exit; }}
echo started >>{starts}
exec sleep 60
"""
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=":")
    qemu.version.cache_clear()
    yield starts
    qemu.version.cache_clear()


def apt_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    config = tmp_path / "apt.conf"
    config.write_text(text)
    monkeypatch.setenv("APT_CONFIG", str(config))


@pytest.mark.slow
def test_offline_with_nothing_cached_is_one_line_with_the_remedy(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt_config(tmp_path, monkeypatch, OFFLINE)
    with pytest.raises(Unavailable) as caught:
        distribution.fetch()
    text = str(caught.value)
    assert "\n" not in text
    assert "linux-image-" in text
    assert "connect to the network" in text
    assert list(empty_cache.glob("kernel/*")) == []


def test_apt_without_package_lists_says_how_to_get_them(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none").mkdir()
    apt_config(
        tmp_path,
        monkeypatch,
        f'Dir::State::lists "{tmp_path}/none";\nDir::Cache "{tmp_path}/none";\n'
        f'Dir::State::status "/dev/null";\n',
    )
    with pytest.raises(Unavailable, match="apt-get update"):
        distribution.fetch()


@pytest.mark.rxe
def test_a_cached_kernel_needs_no_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = distribution.fetch()
    apt_config(tmp_path, monkeypatch, OFFLINE)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert distribution.fetch() == fetched


def test_a_kernel_that_was_kept_with_other_modules_is_not_used(empty_cache: Path) -> None:
    facts = '{"release": "6.1.0-test", "needs": {}}'
    for key in ("00000000", distribution.KEPT):
        assert distribution.cached() is None
        place = empty_cache / "kernel" / f"linux-image-1.{key}"
        place.mkdir(parents=True)
        (place / "kernel.json").write_text(facts)
        seal(place)
    assert distribution.cached() == distribution.Kernel(place, "6.1.0-test", {})


@pytest.mark.rxe
@pytest.mark.slow  # whoever never ran it before has it start so
def test_a_peer_starts_from_cold(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROCEPROOF_CACHE")
    have = distribution.fetch().directory
    monkeypatch.setenv("ROCEPROOF_CACHE", str(empty_cache))
    shutil.copytree(have, empty_cache / "kernel" / have.name)
    monkeypatch.setenv("ROCEPROOF_ACCEL", "tcg")
    said: list[str] = []
    with SoftRoce.start(backend="vm", progress=said.append) as peer:
        assert peer.accel == "tcg"
    assert said == ["booting the guest once (tcg)"]
    assert sorted(path.name for path in empty_cache.iterdir() if path.is_dir()) == [
        "agent",
        "initramfs",
        "kernel",
        "state",
    ]


def test_a_kvm_that_never_prints_is_found_useless_and_remembered(
    empty_cache: Path, silent_qemu: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accel, "KVM_DEVICE", Path("/dev/null"))
    monkeypatch.delenv("ROCEPROOF_ACCEL", raising=False)
    assert accel.choose(Path("/boot/none")) == "tcg"
    assert accel.choose(Path("/boot/none")) == "tcg"
    assert silent_qemu.read_text().splitlines() == ["started"]


def test_without_kvm_the_guest_is_emulated(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accel, "KVM_DEVICE", Path("/nonexistent"))
    monkeypatch.delenv("ROCEPROOF_ACCEL", raising=False)
    assert accel.choose(Path("/boot/none")) == "tcg"


def test_the_accelerator_can_be_chosen_and_a_wrong_choice_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ROCEPROOF_ACCEL", "kvm")
    assert accel.choose(Path("/boot/none")) == "kvm"
    monkeypatch.setenv("ROCEPROOF_ACCEL", "warp")
    with pytest.raises(Unavailable, match="kvm or tcg"):
        accel.choose(Path("/boot/none"))


def test_an_unknown_back_end_is_refused_with_the_choices() -> None:
    with pytest.raises(Unavailable, match="auto, vm or native"):
        SoftRoce.start(backend="cloud")


def test_a_failed_build_leaves_no_entry(empty_cache: Path) -> None:
    def fail(place: Path) -> None:
        (place / "half").write_text("of it")
        raise Unavailable("no more")

    with pytest.raises(Unavailable):
        cache.entry("agent", "key", fail)
    assert list((empty_cache / "agent").iterdir()) == []


def test_old_entries_make_room_for_new_ones(empty_cache: Path) -> None:
    for number in range(cache.KEEP_ENTRIES + 3):
        cache.entry("agent", str(number), lambda place: None)
    left = {path.name for path in (empty_cache / "agent").iterdir()}
    assert len(left) == cache.KEEP_ENTRIES
    assert str(cache.KEEP_ENTRIES + 2) in left


def test_an_archive_is_the_same_bytes_for_the_same_files_and_cpio_reads_it() -> None:
    files = {"/b/c/d": b"12345", "/a": b"", "/b/x": b"1234"}
    first = cpio.archive(files, executable=frozenset({"/a"}))
    again = cpio.archive(dict(reversed(files.items())), executable=frozenset({"/a"}))
    assert first == again
    cpio_tool = shutil.which("cpio")
    if cpio_tool:
        listing = subprocess.run(
            [cpio_tool, "-tv"], input=first, capture_output=True, check=True
        ).stdout.decode()
        assert [line.split()[-1] for line in listing.splitlines()] == [
            "b",
            "b/c",
            "a",
            "b/c/d",
            "b/x",
        ]
        assert "-rwxr-xr-x" in listing


def test_modules_load_after_what_they_need() -> None:
    needs = {"rxe": ["core", "tunnel"], "core": ["base"], "tunnel": [], "base": [], "other": []}
    assert kmodules.load_order(needs, ["rxe", "core"]) == ["base", "core", "tunnel", "rxe"]


def test_a_modules_own_needs_are_read_with_underscores() -> None:
    image = b"\x7fELF...\0license=GPL\0depends=ib_core,udp-tunnel\0name=x\0"
    assert kmodules.depends(image) == ["ib_core", "udp_tunnel"]
    assert kmodules.depends(b"\0depends=\0") == []


def test_a_missing_module_is_named_with_the_kernel(tmp_path: Path) -> None:
    tree = tmp_path / "6.1.0-test"
    tree.mkdir()
    (tree / "modules.builtin").write_text("kernel/net/virtio-net.ko\n")
    assert kmodules.closure(tree, ["virtio_net"], ["crc32_generic"]) == {}
    with pytest.raises(Unavailable, match=r"6\.1\.0-test has no module rdma_rxe"):
        kmodules.closure(tree, ["rdma_rxe"], [])


def test_what_a_killed_builder_left_in_the_cache_is_removed(empty_cache: Path) -> None:
    (empty_cache / "state" / ".new-killed").mkdir(parents=True)
    cache.entry("state", "key", lambda place: (place / "file").touch())
    assert [path.name for path in (empty_cache / "state").iterdir()] == ["key"]


def test_a_cache_that_cannot_be_written_is_one_line_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ROCEPROOF_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(Unavailable, match=r"file/cache: Not a directory: .* set ROCEPROOF_CACHE"):
        cache.entry("state", "key", lambda place: None)
