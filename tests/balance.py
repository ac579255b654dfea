# SPDX-License-Identifier: BSD-2-Clause
"""The order in which pytest-xdist hands out the files of tests: long ones first.

A file is one piece of work, so that what its fixtures build or boot is there once. Files that
simulate or boot start first, and the many small ones fill the gaps at the end.
"""

from __future__ import annotations

import pytest

LONG = ("long", "sim", "rxe")


def long_files_first(items: list[pytest.Item]) -> None:
    """Sort, and leave the order within files alone."""
    long = {item.path for item in items if any(item.get_closest_marker(name) for name in LONG)}
    alone = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: (item.path not in alone, item.path not in long))
