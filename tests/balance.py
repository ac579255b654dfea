# SPDX-License-Identifier: BSD-2-Clause
"""The order in which pytest-xdist hands out the files of tests: long ones first.

A file is one piece of work, so that what its fixtures build or boot is there once. Files that
simulate or boot start first, and the many small ones fill the gaps at the end.
"""

from __future__ import annotations

from pathlib import Path

import pytest

LONG = {"long", "sim", "rxe"}


def long_files_first(items: list[pytest.Item]) -> None:
    """Sort, and leave the order within files alone."""
    marked: dict[Path, set[str]] = {}
    for item in items:
        marked.setdefault(item.path, set()).update(mark.name for mark in item.iter_markers())
    items.sort(key=lambda item: ("long" not in marked[item.path], not LONG & marked[item.path]))
