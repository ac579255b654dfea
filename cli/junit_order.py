# SPDX-License-Identifier: BSD-2-Clause
"""Puts the test cases of a JUnit file into the order of their names; workers finish in any."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any
from xml.etree import ElementTree

from roceproof.common.whole_file import whole_file


def sort_junit(path: Path, document: dict[str, Any]) -> None:
    """Rewrite the file in that order.

    After an interruption its suites say so as a property, and cases that the results do not have,
    because they did not end, go.
    """
    tree = ElementTree.parse(path)
    for suite in tree.getroot().iter("testsuite"):
        suite[:] = sorted(suite, key=lambda case: (case.get("classname", ""), case.get("name", "")))
        if document["interrupted"]:
            ended = {
                (PurePath(case["file"]).stem, case["case"].rpartition("::")[2])
                for case in document["cases"]
            }
            suite[:] = [case for case in suite if _names(case) & ended]
            properties = ElementTree.Element("properties")
            ElementTree.SubElement(properties, "property", name="interrupted", value="true")
            suite.insert(0, properties)
    with whole_file(path) as part:
        tree.write(part, encoding="utf-8", xml_declaration=True)


def _names(case: ElementTree.Element) -> set[tuple[str, str]]:
    name = case.get("name", "")
    return {(part, name) for part in case.get("classname", "").split(".")}
