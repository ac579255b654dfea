# SPDX-License-Identifier: BSD-2-Clause
"""What is waived in the JUnit file of a suite: skips that say why; and waivers out of date."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from roceproof.common.whole_file import whole_file
from roceproof.conformance.runner.outcomes import WAIVED


def tell_waivers(junit: Path, document: dict[str, Any]) -> None:
    """Failures of waived cases become skips, findings about waivers become failing cases."""
    reasons = {
        (Path(case["file"]).stem, case["case"].rpartition("::")[2]): "; ".join(case["waived"])
        for case in document["cases"]
        if case["outcome"] == WAIVED
    }
    tree = ElementTree.parse(junit)
    for suite in tree.getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            _skip(case, reasons)
        stale = [each for each in document["waivers"] if each["finding"]]
        for waiver in stale:
            name = name_of_waiver(waiver)
            case = ElementTree.SubElement(suite, "testcase", classname="waivers", name=name)
            ElementTree.SubElement(case, "failure", message=waiver["finding"])
        count_outcomes(suite)
    with whole_file(junit) as part:
        tree.write(part, encoding="utf-8", xml_declaration=True)


def _skip(case: ElementTree.Element, reasons: dict[tuple[str, str], str]) -> None:
    failure = case.find("failure")
    place = (case.get("classname", "").rpartition(".")[2], case.get("name", ""))
    if failure is None or place not in reasons:
        return
    failure.tag = "skipped"
    failure.set("type", WAIVED)
    failure.set("message", reasons[place])


def name_of_waiver(waiver: dict[str, Any]) -> str:
    """Its rule, its case or its limits."""
    return str(waiver["rule"] or waiver["case"] or waiver["limits"])


def count_outcomes(suite: ElementTree.Element) -> None:
    """Let a suite say how many cases it has, and how they ended."""
    cases = suite.findall("testcase")
    outcomes = [each.tag for case in cases for each in case]
    suite.set("tests", str(len(cases)))
    suite.set("errors", str(outcomes.count("error")))
    suite.set("failures", str(outcomes.count("failure")))
    suite.set("skipped", str(outcomes.count("skipped")))
