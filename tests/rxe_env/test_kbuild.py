# SPDX-License-Identifier: BSD-2-Clause
"""What is built of a kernel's source, and where its parts come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from roceproof.rxe_env.errors import Unavailable
from roceproof.rxe_env.kernel import apt, archives, kbuild
from roceproof.rxe_env.kernel.apt import Apt
from roceproof.rxe_env.kernel.kbuild import Workshop

RELEASE = "9.8.7+deb20-amd64"
PATCH = "--- a/drivers/infiniband/{path}\n+++ b/drivers/infiniband/{path}\n"


def _made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: Sequence[str]
) -> tuple[set[str], list[str]]:
    """The modules that patches of these files build, and the folders that make is called in."""
    commands: list[list[str]] = []
    monkeypatch.setattr(
        kbuild, "run", lambda words, **_: commands.append([str(each) for each in words])
    )
    patches = []
    for number, path in enumerate(paths):
        patches.append(tmp_path / f"{number}.patch")
        patches[-1].write_text(PATCH.format(path=path))
    built = Workshop(tmp_path, RELEASE).build("mine", patches)
    made = [word for words in commands for word in words if word.startswith("M=/tree/")]
    return set(built), made


@pytest.mark.parametrize(
    ("paths", "modules"),
    [
        ([], {"rdma_rxe"}),
        (["sw/rxe/rxe_comp.c"], {"rdma_rxe"}),
        (["core/mad.c"], {"ib_core"}),
        (["core/mad.c", "sw/rxe/rxe_qp.c"], {"ib_core", "rdma_rxe"}),
    ],
)
def test_what_patches_touch_is_built(
    paths: list[str], modules: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, made = _made(tmp_path, monkeypatch, paths)
    assert built == modules
    folders = {"rdma_rxe": "sw/rxe", "ib_core": "core"}
    assert set(made) == {f"M=/tree/drivers/infiniband/{folders[name]}" for name in modules}


@pytest.mark.parametrize("has_tests", [False, True])
@pytest.mark.parametrize("is_built", [False, True])
def test_a_selftest_is_built_by_the_trees_own_makefile(
    has_tests: bool, is_built: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "source" / kbuild.SELFTESTS / "rdma"
    (folder if has_tests else folder.parent).mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (folder.parent / "lib.mk").write_text("all:\n" + "\ttouch $(PROGRAM)\n" * is_built)
    patch = tmp_path / "1.patch"
    path = kbuild.SELFTESTS / "rdma" / "Makefile"
    added = f"+++ b/{path}\n@@ -0,0 +1,2 @@\n+PROGRAM := mine\n+include ../lib.mk\n"
    patch.write_text(f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n{added}")
    workshop = Workshop(tmp_path, RELEASE)
    if not has_tests:
        assert workshop.build_selftest("mine", patch) is None
    elif is_built:
        program = workshop.build_selftest("mine", patch)
        assert program
        assert program.is_file()
    else:
        with pytest.raises(Unavailable, match="leave mine out where pkg-config does not know"):
            workshop.build_selftest("mine", patch)


@pytest.mark.parametrize("is_here", [True, False])
@pytest.mark.parametrize("version", ["9.8.7", "9.8.9"])
def test_parts_come_from_where_the_release_is_and_its_source_has_to_fit(
    is_here: bool, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Apt, str]] = []

    class Archive(Apt):
        """An apt that has all, or nothing."""

        def known(self, packages: list[str]) -> list[str]:
            return packages if is_here or self.config else []

        def depends(self, *packages: str) -> list[str]:
            return ["linux-headers-9.8.7-common", "linux-kbuild-9.8.7", "gcc-99"]

        def closure(self, packages: Sequence[str], suite: str) -> list[str]:
            return [f"make/{suite}"]

        def download(self, packages: list[str], directory: Path) -> list[Path]:
            asked.extend((self, name) for name in packages)
            (directory / f"linux-source-9.8_{version}-1_all.deb").touch()
            return []

    @contextmanager
    def opened(progress: object) -> Iterator[Apt]:
        yield Archive(Path("other"))

    monkeypatch.setattr(apt, "Apt", Archive)
    monkeypatch.setattr(archives, "opened", opened)
    if version == "9.8.7":
        kbuild.fetch_source(RELEASE, tmp_path)
    else:
        with pytest.raises(Unavailable, match=r"no source of Linux 9\.8\.7"):
            kbuild.fetch_source(RELEASE, tmp_path)
    assert [name for _, name in asked] == [
        f"linux-headers-{RELEASE}",
        "linux-source-9.8",
        "linux-headers-9.8.7-common",
        "linux-kbuild-9.8.7",
        "make/trixie",
    ]
    sources = {each.config for each, name in asked if not name.startswith("make")}
    assert sources == {None if is_here else Path("other")}


def test_what_a_package_needs_is_named_with_its_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = "Inst libc6 (2.41 Debian:13 [amd64])\nInst make (4.4 Debian:13)\nConf make (4.4)\n"
    monkeypatch.setattr(Apt, "run", lambda *words, **options: printed)
    assert Apt().closure(["make"], "trixie") == ["libc6/trixie", "make/trixie"]
