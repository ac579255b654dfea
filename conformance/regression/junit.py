# SPDX-License-Identifier: BSD-2-Clause
"""What the JUnit file of a run says besides what pytest has written.

The cases of the run that was taken up, how the run ended and what it found, and what is waived.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from roceproof.common.printable import printable
from roceproof.common.whole_file import whole_file
from roceproof.conformance.runner.outcomes import FAILED, NOT_REACHED, WAIVED

Document = dict[str, Any]
_TAGS = {
    FAILED: "failure",
    NOT_REACHED: "failure",
    WAIVED: "failure",  # which a waiver turns into a skip, as that of any case
    "error": "error",
    "skipped": "skipped",
    "deviation": "skipped",
}
_WORDS = ("reason", "deviation", "head", "case_broke")


@contextmanager
def rewritten(path: Path, *, is_there: bool = True) -> Iterator[Element]:
    """The root of the file, which is written anew behind the block; of a new one it is empty."""
    root = ElementTree.parse(path).getroot() if is_there else Element("testsuites")
    yield root
    with whole_file(path) as part:
        ElementTree.ElementTree(root).write(part, encoding="utf-8", xml_declaration=True)


def place_of(case: Document) -> tuple[str, str]:
    """Of a case of the results: its file, and its name there."""
    return PurePath(case["file"]).stem, case["case"].rpartition("::")[2]


def place_in_file(case: Element) -> tuple[str, str]:
    """The same of a case of the JUnit file."""
    return case.get("classname", "").rpartition(".")[2], case.get("name", "")


def add_resumed(path: Path, document: Document) -> None:
    """Add each case of the results that the file lacks, since it ran before."""
    with rewritten(path) as root:
        suite = next(root.iter("testsuite"))
        there = set(map(place_in_file, suite.iter("testcase")))
        for case in document["cases"]:
            place, name = place_of(case)
            if (place, name) not in there:
                found = SubElement(suite, "testcase", classname=place, name=name, time="0")
                if case["outcome"] in _TAGS:
                    words = next((str(case[key]) for key in _WORDS if key in case), case["outcome"])
                    SubElement(found, _TAGS[case["outcome"]], message=printable(words))
        count_outcomes(suite)


def sort_junit(path: Path, document: Document) -> None:
    """Put the cases into the order of their names; workers finish in any.

    After an interruption its suites say so as a property, and cases that the results do not have,
    because they did not end, go. The root findings are properties of the suites, and each case has
    the numbers of those that it shows.
    """
    with rewritten(path) as root:
        for suite in root.iter("testsuite"):
            suite[:] = sorted(
                suite, key=lambda case: (case.get("classname", ""), case.get("name", ""))
            )
            if document["interrupted"]:
                ended = set(map(place_of, document["cases"]))
                suite[:] = [case for case in suite if _names(case) & ended]
            _tell_findings(suite, document)


def _tell_findings(suite: Element, document: Document) -> None:
    told = [("interrupted", "true")] if document["interrupted"] else []
    numbers: dict[str, list[str]] = {}
    for number, finding in enumerate(document["findings"], start=1):
        told.append(("finding", f"{number}. {finding['count']} cases {finding['sentence']}"))
        for case in finding["cases"]:
            numbers.setdefault(case.rpartition("::")[2], []).append(str(number))
    for case in suite:
        if found := numbers.get(case.get("name", "")):
            properties = case.find("properties")
            if properties is not None:
                SubElement(properties, "property", name="findings", value=" ".join(found))
    if told:
        properties = Element("properties")
        for name, value in told:
            SubElement(properties, "property", name=name, value=value)
        suite.insert(0, properties)


def _names(case: Element) -> set[tuple[str, str]]:
    return {(part, case.get("name", "")) for part in case.get("classname", "").split(".")}


def tell_waivers(path: Path, document: Document) -> None:
    """Failures of waived cases become skips, findings about waivers become failing cases."""
    reasons = {
        place_of(case): "; ".join(case["waived"])
        for case in document["cases"]
        if case["outcome"] == WAIVED
    }
    with rewritten(path) as root:
        for suite in root.iter("testsuite"):
            for case in suite.iter("testcase"):
                failure, reason = case.find("failure"), reasons.get(place_in_file(case))
                if failure is not None and reason is not None:
                    skip(failure, WAIVED, reason)
            for waiver in document["waivers"]:
                if waiver["finding"]:
                    name = name_of_waiver(waiver)
                    case = SubElement(suite, "testcase", classname="waivers", name=name)
                    SubElement(case, "failure", message=waiver["finding"])
            count_outcomes(suite)


def skip(failure: Element, kind: str, why: str) -> None:
    """Make a skip of a failure."""
    failure.tag = "skipped"
    failure.set("type", kind)
    failure.set("message", why)


def name_of_waiver(waiver: Document) -> str:
    """Its rule, its case or its limits."""
    return str(waiver["rule"] or waiver["case"] or waiver["limits"])


def count_outcomes(suite: Element) -> None:
    """Let a suite say how many cases it has, and how they ended."""
    cases = suite.findall("testcase")
    outcomes = [each.tag for case in cases for each in case]
    suite.set("tests", str(len(cases)))
    suite.set("errors", str(outcomes.count("error")))
    suite.set("failures", str(outcomes.count("failure")))
    suite.set("skipped", str(outcomes.count("skipped")))
