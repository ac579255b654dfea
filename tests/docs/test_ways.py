# SPDX-License-Identifier: BSD-2-Clause
"""Each arrow that docs/architecture.md draws joins two that know each other in the code."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY

PAGE = REPOSITORY / "docs" / "architecture.md"
C = (".c", ".h", ".cpp")
C_TREES = ("dpi/src", "pcap", "rxe_env/agent")  # files in them include by the path from there


def ways(page: str) -> list[list[str]]:
    """The stations of each way; a line that begins with an arrow goes on with the one above."""
    _, _, section = page.partition("\n## Ways\n")
    drawing = re.sub(r"\n +->", " ->", section.split("```")[1])
    lines = [line.partition(":")[2] for line in drawing.splitlines() if "->" in line]
    return [[station.strip() for station in line.split(" -> ")] for line in lines]


def is_joined(one: str, other: str) -> bool:
    """Whether one of the two names the other in its code, or spells the words that the other is."""
    return _names(one, other) or _names(other, one)


def _names(file: str, named: str) -> bool:
    if file.startswith("'"):
        return False
    if named.startswith("'"):
        return named.strip("'").lower() in _text(file).replace("\\", "").lower()
    a, b = Path(file), Path(named)
    if a.suffix == ".py" and b.suffix == ".py":
        return ".".join(("roceproof", *b.with_suffix("").parts)) in _imports(file)
    if a.suffix in C and b.suffix in C:
        return bool(_includes(a) & {_with(b, suffix) for suffix in C})
    if a.suffix == ".sv" and b.suffix in C:
        functions = re.findall(r'import "DPI-C".*?(\w+)\(', _text(file))
        return bool(functions) and all(f"{each}(" in _text(named) for each in functions)
    if a.suffix == ".sv" and b.suffix == ".sv":
        return bool(re.search(rf"\b{b.stem}\b", _text(file)))
    return a.suffix in ("", ".py") and bool(re.search(rf"\b{re.escape(b.name)}\b", _told(file)))


def _includes(file: Path) -> set[str]:
    """What a unit includes of its folder's tree, by its source or its header."""
    top = REPOSITORY / next(each for each in C_TREES if file.is_relative_to(each))
    text = "".join(_text(_with(file, suffix)) for suffix in C if _has(_with(file, suffix)))
    found = {top / each for each in re.findall(r'#include "([^"]+)"', text)}
    return {str(each.relative_to(REPOSITORY)) for each in found}


def _imports(file: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(_text(file))):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}", *(f"{node.module}.{each.name}" for each in node.names)}
    return found


def _told(file: str) -> str:
    """A Makefile's text, or the strings of a module that are no comments on it."""
    if not file.endswith(".py"):
        return re.sub(r"^#.*$", "", _text(file), flags=re.MULTILINE)
    calls = [node for node in ast.walk(ast.parse(_text(file))) if isinstance(node, ast.Call)]
    told = (argument for call in calls for argument in call.args)
    return " ".join(str(each.value) for each in told if isinstance(each, ast.Constant))


def _with(file: Path, suffix: str) -> str:
    return str(file.with_suffix(suffix))


def _has(file: str) -> bool:
    return (REPOSITORY / file).is_file()


def _text(file: str) -> str:
    return (REPOSITORY / file).read_text(encoding="utf-8")


def unjoined(page: str) -> list[str]:
    arrows = [arrow for way in ways(page) for arrow in pairwise(way)]
    return [f"{one} -> {other}" for one, other in arrows if not is_joined(one, other)]


def test_every_arrow_stands_in_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(ways(page)) >= 8
    assert not unjoined(page)


@pytest.mark.parametrize(
    "wrong",
    [
        "conformance/observer/checker.py -> conformance/diagnosis/report.py",
        "pcap/packet/packet.c -> pcap/routing/routing.c",
        "dpi/sv/roceproof_memory.sv -> dpi/sv/roceproof_port.sv",
        "dpi/sv/roceproof_bridge_pkg.sv -> dpi/src/port/port.c",
        "conformance/rules/signatures.tsv -> conformance/rules/table.py",
        "conformance/rules/signatures.tsv -> pcap/Makefile",
        "'0A0D0D0A' -> pcap/routing/routing.c",
    ],
)
def test_a_wrong_arrow_is_found(wrong: str) -> None:
    page = PAGE.read_text(encoding="utf-8").replace("A frame\n", f"A frame\n  wrong: {wrong}\n", 1)
    assert unjoined(page) == [wrong]


def decided(page: str) -> list[tuple[str, str]]:
    """The file and the word of each row of what is decided where."""
    _, _, section = page.partition("\n## Where it is decided\n")
    section, _, _ = section.partition("\n## ")
    return re.findall(r"^\|[^|]+\| `([^`]+)` \| `([^`]+)` \|$", section, re.MULTILINE)


def test_what_is_decided_somewhere_is_told_there() -> None:
    rows = decided(PAGE.read_text(encoding="utf-8"))
    assert len(rows) > 12
    assert [(file, word) for file, word in rows if word not in _text(file)] == []
