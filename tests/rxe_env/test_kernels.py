# SPDX-License-Identifier: BSD-2-Clause
"""Which kernel --kernel finds: by version, from packages and folders, however they are split."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from roceproof.common.checksum_stamp import seal
from roceproof.rxe_env import Unavailable
from roceproof.rxe_env.kernel import apt, archives, distribution, unpacked, versions

RELEASE = "9.8.7-test"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nobody is to be asked")

    monkeypatch.setattr(apt.Apt, "run", refuse)
    monkeypatch.setattr(archives, "opened", refuse)


def tree_of(root: Path, *, lib: str = "lib", lacks: str = "", built_in: bool = True) -> Path:
    """A folder of modules with all that is needed but one."""
    tree = root / lib / "modules" / RELEASE
    (tree / "kernel").mkdir(parents=True)
    for name in set(unpacked.KEPT_MODULES) - {lacks}:
        (tree / "kernel" / f"{name}.ko").write_bytes(b"\0depends=\0" + name.encode())
    if built_in:
        (tree / "modules.builtin").write_text("kernel/lib/crc32_generic.ko\n")
    return tree


def image_in(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"image")


def package(root: Path, name: str) -> Path:
    control = root / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    control.write_text(
        f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: none\nDescription: none\n"
    )
    made = root.parent / f"{name}.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "-b", str(root), str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made


def test_image_and_modules_in_one_package(empty_cache: Path, tmp_path: Path) -> None:
    root = tmp_path / "one"
    tree_of(root)
    image_in(root / "boot", f"vmlinuz-{RELEASE}")
    found = versions.find(str(package(root, "linux-image")))
    assert found.release == RELEASE
    assert found.image.read_bytes() == b"image"
    assert found.modules(["rdma_rxe"])[0].read_bytes().endswith(b"rdma_rxe")
    assert [path.name for path in found.directory.iterdir() if path.is_dir()] == ["modules"]


def test_modules_in_packages_of_their_own(empty_cache: Path, tmp_path: Path) -> None:
    image_in(tmp_path / "image" / "boot", f"vmlinuz-{RELEASE}")
    tree = tree_of(tmp_path / "extra")
    moved = tmp_path / "modules" / "lib" / "modules" / RELEASE
    moved.mkdir(parents=True)
    (tree / "kernel" / "virtio_net.ko").rename(moved / "virtio_net.ko")
    packages = [package(tmp_path / name, name) for name in ("image", "modules", "extra")]
    assert versions.find(",".join(map(str, packages))).release == RELEASE


@pytest.mark.parametrize("name", ["vmlinuz", "vmlinuz.unsigned"])
def test_everything_below_usr_lib_modules(name: str, empty_cache: Path, tmp_path: Path) -> None:
    root = tmp_path / "all"
    image_in(tree_of(root, lib="usr/lib", built_in=False), name)
    folder = tmp_path / "debs"
    folder.mkdir()
    shutil.move(package(root, "all"), folder)
    assert versions.find(str(folder)).release == RELEASE
    assert versions.find(str(root)).release == RELEASE


def test_a_boot_image_and_the_folder_of_its_modules(empty_cache: Path, tmp_path: Path) -> None:
    tree = tree_of(tmp_path, built_in=False)
    image_in(tmp_path, "bzImage")
    words = f"{tmp_path / 'bzImage'},{tree}"
    assert versions.kept(words) is None
    assert versions.find(words) == versions.kept(words)
    assert versions.pinned(words) == words


def test_another_content_is_another_kernel(empty_cache: Path, tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    image_in(tmp_path, "bzImage")
    words = f"{tmp_path / 'bzImage'},{tree}"
    first = versions.find(words)
    (tree / "kernel" / "rdma_rxe.ko").write_bytes(b"\0depends=\0mended")
    second = versions.find(words)
    assert first.directory != second.directory
    assert second.modules(["rdma_rxe"])[0].read_bytes().endswith(b"mended")


@pytest.mark.parametrize("built_in", [True, False])
def test_a_kernel_without_rxe_is_one_line(
    built_in: bool, empty_cache: Path, tmp_path: Path
) -> None:
    root = tmp_path / "bare"
    image_in(tree_of(root, lacks="rdma_rxe", built_in=built_in), "vmlinuz")
    with pytest.raises(Unavailable, match=rf"kernel {RELEASE} has no module rdma_rxe") as caught:
        versions.find(str(root))
    assert "\n" not in str(caught.value)
    assert list(empty_cache.glob("kernels/*")) == []


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("latest", "is neither distribution, newest, a version such as 6.12, nor a path"),
        ("/nowhere/a.deb", "/nowhere/a.deb does not exist"),
        ("6.1 ", "is neither"),
    ],
)
def test_what_names_no_kernel_is_refused_with_the_choices(
    wanted: str, why: str, empty_cache: Path, no_network: None
) -> None:
    with pytest.raises(Unavailable, match=why):
        versions.find(wanted)


def test_packages_without_an_image_or_without_modules_say_what_is_missing(
    empty_cache: Path, tmp_path: Path
) -> None:
    tree_of(tmp_path / "modules")
    with pytest.raises(Unavailable, match="no package has a boot image"):
        versions.find(str(package(tmp_path / "modules", "modules")))
    image_in(tmp_path / "image" / "boot", f"vmlinuz-{RELEASE}")
    with pytest.raises(Unavailable, match=f"no package has the modules of vmlinuz-{RELEASE}"):
        versions.find(str(package(tmp_path / "image", "image")))


def test_of_several_kernels_none_is_guessed(empty_cache: Path, tmp_path: Path) -> None:
    root = tmp_path / "two"
    tree = tree_of(root)
    image_in(tree, "vmlinuz")
    shutil.copytree(tree, tree.with_name("9.9.9-other"))
    with pytest.raises(Unavailable, match="there are several kernels") as caught:
        versions.find(str(root))
    assert f"lib/modules/{RELEASE}, lib/modules/9.9.9-other: name one" in str(caught.value)


def test_a_tree_with_two_ways_to_it_is_one(empty_cache: Path, tmp_path: Path) -> None:
    root = tmp_path / "merged"
    image_in(tree_of(root, lib="usr/lib"), "vmlinuz")
    (root / "lib").symlink_to("usr/lib")
    assert versions.find(str(root)).release == RELEASE


def keep(cache: Path, kind: str, release: str) -> None:
    place = cache / kind / f"linux-image-{release}.{distribution.KEPT}"
    place.mkdir(parents=True)
    (place / "kernel.json").write_text(f'{{"release": "{release}", "needs": {{}}}}')
    seal(place)


def test_what_is_kept_is_found_by_its_version_and_nobody_is_asked(
    empty_cache: Path, no_network: None
) -> None:
    keep(empty_cache, "kernel", "6.1.0-56-amd64")
    for release in ("6.12.9+deb13-amd64", "6.12.107+deb13-amd64", "7.2.13+deb14-amd64"):
        keep(empty_cache, "kernels", release)
    assert versions.find("6.1").release == "6.1.0-56-amd64"
    assert versions.find("6.12").release == "6.12.107+deb13-amd64"
    assert versions.find("6.12.9").release == "6.12.9+deb13-amd64"
    assert versions.find("7.2.13+deb14-amd64").release == "7.2.13+deb14-amd64"
    assert versions.find("distribution").release == "6.1.0-56-amd64"
    assert versions.kept("newest") == versions.kept("7.2")
    assert versions.pinned("newest") == "7.2.13+deb14-amd64"
    assert versions.pinned("6.1") == "6.1.0-56-amd64"


POLICY = """\
linux-image-6.12.9+deb13-amd64:
  Installed: (none)
  Candidate: 6.12.9-1
linux-image-6.12.107+deb13-amd64:
  Installed: (none)
  Candidate: 6.12.107-1
linux-image-6.1.0-9-amd64:
  Installed: (none)
  Candidate: (none)
"""


def test_only_plain_kernels_that_can_be_had_count(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(self: apt.Apt, name: str, *words: str, **_: object) -> str:
        if words[0] == "pkgnames":
            names = ["6.12.9+deb13-amd64", "6.12.107+deb13-amd64", "6.1.0-9-amd64"]
            names += ["6.12.9+deb13-cloud-amd64", "7.2~rc5-amd64", "6.1.0-9-rt-amd64", "amd64"]
            return "\n".join(f"linux-image-{name}" for name in names)
        asked.extend(words[1:])
        return POLICY

    monkeypatch.setattr(apt.Apt, "run", answer)
    assert apt.Apt().releases() == ["6.12.107+deb13-amd64", "6.12.9+deb13-amd64"]
    assert len(asked) == 3


def test_a_version_that_nobody_has_is_told_with_those_that_there_are(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Opened:
        def __enter__(self) -> apt.Apt:
            return apt.Apt()

        def __exit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(apt.Apt, "releases", lambda self: ["7.2.1-amd64", "6.12.9-amd64"])
    monkeypatch.setattr(archives, "opened", lambda *_, **__: Opened())
    with pytest.raises(Unavailable, match=r"apt has no kernel 6\.6; it has 7\.2, 6\.12: take one"):
        versions.find("6.6")


def test_offline_the_newest_is_the_newest_that_is_kept(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise Unavailable("no network")

    monkeypatch.setattr(archives, "opened", refuse)
    with pytest.raises(Unavailable, match="no network"):
        versions.find("newest")
    keep(empty_cache, "kernels", "7.2.13+deb14-amd64")
    assert versions.find("newest").release == "7.2.13+deb14-amd64"
    assert capsys.readouterr().err == (
        "roceproof: no network; taking 7.2.13+deb14-amd64, which is kept\n"
    )


def test_where_the_lists_have_no_kernel_the_newest_is_the_newest_that_is_kept(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "opened", lambda *_, **__: nullcontext(apt.Apt()))
    monkeypatch.setattr(apt.Apt, "releases", lambda self: [])
    with pytest.raises(Unavailable, match="have no kernel: connect to the network, or name"):
        versions.find("newest")
    keep(empty_cache, "kernels", "7.2.13+deb14-amd64")
    assert versions.find("newest").release == "7.2.13+deb14-amd64"
