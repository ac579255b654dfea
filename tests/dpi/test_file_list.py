# SPDX-License-Identifier: BSD-2-Clause
"""Sources by name, pattern and list: each file once, in the order of compilation."""

from __future__ import annotations

from pathlib import Path

import pytest

from roceproof.dpi import ManifestError
from roceproof.dpi.manifest.file_list import FileList


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("pkg.sv", "core/a.sv", "core/b.sv", "core/deep/c.v", "lib/lib.v", "inc/x.svh"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    return tmp_path


def names(files: FileList, home: Path) -> list[str]:
    return [str(path.relative_to(home)) for path in files.sources]


def test_a_pattern_gives_all_files_in_order_and_each_file_counts_once(home: Path) -> None:
    files = FileList()
    for name in ("core/b.sv", "core/**/*.*v", "pkg.sv"):
        files.add(name, home)
    assert names(files, home) == ["core/b.sv", "core/a.sv", "core/deep/c.v", "pkg.sv"]


def test_a_list_of_another_tool_is_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORE", str(home / "core"))
    (home / "core" / "core.f").write_text("a.sv // the first\n/* not\nthis.sv */ deep/c.v\n")
    (home / "all.f").write_text(
        "# everything\n+incdir+inc+lib\n+define+SYNTHESIS+DEPTH=4\n-DFAST -I inc\n".replace(
            "-I inc", "-Iinc"
        )
        + 'pkg.sv\n-F core/core.f\n-v lib/lib.v\n"$CORE/b.sv"\n${CORE}/a.sv\n'
    )
    files = FileList()
    files.add("all.f", home)
    assert names(files, home) == ["pkg.sv", "core/a.sv", "core/deep/c.v", "lib/lib.v", "core/b.sv"]
    assert files.includes == [home / "inc", home / "lib"]
    assert files.defines == {"SYNTHESIS": "", "DEPTH": "4", "FAST": ""}


def test_names_in_a_list_within_a_list_are_relative_to_the_outer_one(home: Path) -> None:
    (home / "core" / "inner.f").write_text("core/a.sv\n")
    (home / "outer.f").write_text("-f core/inner.f\n")
    files = FileList()
    files.add("outer.f", home)
    assert names(files, home) == ["core/a.sv"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("gone/*.sv", "", "fits no file below"),
        ("x.f", "gone.sv", "gone.sv does not exist"),
        ("x.f", "-y lib", "'-y' is not understood"),
        ("x.f", "+notimingchecks", "is not understood"),
        ("x.f", "$NOT_SET_ANYWHERE/a.sv", "$NOT_SET_ANYWHERE is not set"),
        ("x.f", "-f x.f", "lists within lists"),
        ("x.f", "-f", "does not exist"),
        ("x.f", "+incdir+gone", "gone is no folder"),
        ("x.f", '"a.sv', "no list of files"),
        ("x.f", "a\0b.sv", "a\\x00b.sv"),
        ("gone.f", None, "gone.f does not exist"),
    ],
)
def test_what_cannot_be_used_is_named(home: Path, name: str, text: str | None, words: str) -> None:
    if text is not None:
        (home / "x.f").write_text(text)
    with pytest.raises(ManifestError) as caught:
        FileList().add(name, home)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
