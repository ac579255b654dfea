# SPDX-License-Identifier: BSD-2-Clause
"""Puts the test cases of a JUnit file into the order of their names; workers finish in any."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree


def sort_junit(path: Path) -> None:
    """Rewrite the file; nothing but the order changes."""
    tree = ElementTree.parse(path)
    for suite in tree.getroot().iter("testsuite"):
        suite[:] = sorted(suite, key=lambda case: (case.get("classname", ""), case.get("name", "")))
    tree.write(path, encoding="utf-8", xml_declaration=True)
