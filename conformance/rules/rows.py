# SPDX-License-Identifier: BSD-2-Clause
"""The tables of this folder: tab-separated, with comments and a line of column names in front."""

from pathlib import Path


def rows_of(name: str) -> list[list[str]]:
    """The fields of each row, without comments and column names."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")][1:]
