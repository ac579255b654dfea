# SPDX-License-Identifier: BSD-2-Clause
"""What is waived in the JUnit file of a suite: skips that say why; and waivers out of date."""

from __future__ import annotations

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
        waived = sum(_skip(case, reasons) for case in suite.iter("testcase"))
        stale = [each for each in document["waivers"] if each["finding"]]
        for waiver in stale:
            name = waiver["rule"] or waiver["case"] or waiver["limits"]
            case = ElementTree.SubElement(suite, "testcase", classname="waivers", name=name)
            ElementTree.SubElement(case, "failure", message=waiver["finding"])
        _count(suite, tests=len(stale), failures=len(stale) - waived, skipped=waived)
    with whole_file(junit) as part:
        tree.write(part, encoding="utf-8", xml_declaration=True)


def _skip(case: ElementTree.Element, reasons: dict[tuple[str, str], str]) -> bool:
    failure = case.find("failure")
    place = (case.get("classname", "").rpartition(".")[2], case.get("name", ""))
    if failure is None or place not in reasons:
        return False
    failure.tag = "skipped"
    failure.set("type", WAIVED)
    failure.set("message", reasons[place])
    return True


def _count(suite: ElementTree.Element, **steps: int) -> None:
    for name, step in steps.items():
        suite.set(name, str(int(suite.get(name, "0")) + step))
