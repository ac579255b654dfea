# SPDX-License-Identifier: BSD-2-Clause
"""Puts the test cases of a JUnit file into the order of their names; workers finish in any."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from roceproof.common.whole_file import whole_file


def sort_junit(path: Path) -> None:
    """Rewrite the file; nothing but the order changes."""
    tree = ElementTree.parse(path)
    for suite in tree.getroot().iter("testsuite"):
        suite[:] = sorted(suite, key=lambda case: (case.get("classname", ""), case.get("name", "")))
    with whole_file(path) as part:
        tree.write(part, encoding="utf-8", xml_declaration=True)
