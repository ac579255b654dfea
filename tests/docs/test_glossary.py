# SPDX-License-Identifier: BSD-2-Clause
"""The glossary has each word of ours once, in order, and no word that nobody uses any more."""

from __future__ import annotations

import re

import pytest

from roceproof.common.paths import REPOSITORY

PAGE = REPOSITORY / "docs" / "glossary.md"
TABLES = [
    [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in section.splitlines()
        if line.startswith("| ") and not line.startswith("| term |")
    ]
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
]
TERMS = [row[0] for table in TABLES for row in table]

# Words of the code that say little to who has not met them.
PRIVATE = set(
    re.findall(
        r"\w+",
        """asked asking blame boxes callee caller early held_up glimpse kinds life lives rage reach
        room stop storm story watched""",
    )
)


@pytest.mark.parametrize("table", TABLES, ids=["pages", "code"])
def test_each_row_has_its_three_cells_and_its_place(table: list[list[str]]) -> None:
    assert [row for row in table if len(row) != 3 or not all(row)] == []
    assert [row[0] for row in table] == sorted({row[0] for row in table}, key=str.lower)


def test_private_words_are_explained() -> None:
    assert sorted(PRIVATE - set(TERMS)) == []


def test_each_word_of_pages_stands_in_one() -> None:
    pages = [path for path in REPOSITORY.glob("docs/*.md") if path != PAGE]
    text = "\n".join(path.read_text(encoding="utf-8").lower() for path in pages)
    assert [row[0] for row in TABLES[0] if not re.search(rf"\b{row[0].lower()}", text)] == []


def test_each_word_of_the_code_names_a_file_or_a_function() -> None:
    stems = {
        path.stem
        for place in ("common/*.py", "conformance/**/*.py")
        for path in REPOSITORY.glob(place)
    }
    functions = set()
    for path in REPOSITORY.glob("conformance/**/*.py"):
        functions |= set(re.findall(r"^ *def (\w+)", path.read_text(encoding="utf-8"), re.M))
    assert [row[0] for row in TABLES[1] if row[0] not in stems | functions] == []
