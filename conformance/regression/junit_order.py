# SPDX-License-Identifier: BSD-2-Clause
"""Puts the test cases of a JUnit file into the order of their names; workers finish in any."""

from pathlib import Path, PurePath
from typing import Any
from xml.etree import ElementTree

from roceproof.common.whole_file import whole_file


def sort_junit(path: Path, document: dict[str, Any]) -> None:
    """Rewrite the file in that order.

    After an interruption its suites say so as a property, and cases that the results do not have,
    because they did not end, go. The root findings are properties of the suites, and each case has
    the numbers of those that it shows.
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
        _tell_findings(suite, document)
    with whole_file(path) as part:
        tree.write(part, encoding="utf-8", xml_declaration=True)


def _tell_findings(suite: ElementTree.Element, document: dict[str, Any]) -> None:
    told = [("interrupted", "true")] if document["interrupted"] else []
    numbers: dict[str, list[str]] = {}
    for number, finding in enumerate(document["findings"], start=1):
        sentence = f"{number}. {finding['count']} cases {finding['sentence']}"
        told.append(("finding", sentence))
        for case in finding["cases"]:
            numbers.setdefault(case.rpartition("::")[2], []).append(str(number))
    for case in suite:
        if found := numbers.get(case.get("name", "")):
            properties = case.find("properties")
            if properties is not None:
                ElementTree.SubElement(
                    properties, "property", name="findings", value=" ".join(found)
                )
    if told:
        properties = ElementTree.Element("properties")
        for name, value in told:
            ElementTree.SubElement(properties, "property", name=name, value=value)
        suite.insert(0, properties)


def _names(case: ElementTree.Element) -> set[tuple[str, str]]:
    name = case.get("name", "")
    return {(part, name) for part in case.get("classname", "").split(".")}
