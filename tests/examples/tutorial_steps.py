# SPDX-License-Identifier: BSD-2-Clause
"""The tutorial as a reader follows it: what he runs, writes into the files, and is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from roceproof.common.paths import REPOSITORY

TUTORIAL = REPOSITORY / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_GAP = re.compile(r"  // (\d)\. ")
_TABLE = re.compile(r"^\[(\w+)\]\n")
_KEY = re.compile(r"^(\w+) = (?:\[\n.*?^\]|[^\n]*)", re.MULTILINE | re.DOTALL)


class Step(NamedTuple):
    """A block of the page: `sh` is run, `toml` and `systemverilog` are written, `` is shown."""

    kind: str
    text: str


def steps() -> Iterator[Step]:
    """All of them, in their order."""
    for kind, text in _BLOCK.findall(TUTORIAL.read_text(encoding="utf-8")):
        yield Step(kind, text)


def gap(wrapper: str, number: int) -> tuple[int, int]:
    """Where the numbered gap of a wrapper begins, and where what follows does."""
    start = wrapper.index(f"  // {number}. ")
    ends = (
        wrapper.find(end, start) for end in (f"  // {number + 1}. ", "  // What is", "  logic unu")
    )
    return start, min(end for end in ends if end >= 0)


def fill(wrapper: Path, text: str) -> None:
    """Write a block over the gap whose number it begins with."""
    found = _GAP.match(text)
    assert found, text
    whole = wrapper.read_text()
    start, end = gap(whole, int(found[1]))
    wrapper.write_text(f"{whole[:start]}{text}\n{whole[end:]}")


def declare(manifest: Path, text: str) -> None:
    """Write a block over the table or the keys of a manifest that it names; waivers go behind."""
    whole = manifest.read_text()
    if table := _TABLE.match(text):
        old = re.compile(rf"^(?:# )?\[{table[1]}\].*?(?=^(?:# )?\[)", re.MULTILINE | re.DOTALL)
        whole, count = old.subn(f"{text}\n", whole)
        assert count == 1, text
    elif text.startswith("[["):
        whole += f"\n{text}"
    else:
        for key in _KEY.finditer(text):
            old = re.compile(rf"^{key[1]} = (?:\[[^\n]*\n.*?^\]|[^\n]*)", re.MULTILINE | re.DOTALL)
            if old.search(whole):
                whole = old.sub(key[0], whole, count=1)
            else:
                whole = whole.replace("\nclock_ps", f"\n{key[0]}\nclock_ps", 1)
    manifest.write_text(whole)
