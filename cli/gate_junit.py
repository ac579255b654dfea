# SPDX-License-Identifier: BSD-2-Clause
"""The stages of a gate as a suite of their own in the JUnit file of its cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from roceproof.common.whole_file import whole_file
from roceproof.conformance.runner.outcomes import FAILED, PASSED, SKIPPED

Document = dict[str, Any]


def add_to_junit(path: Path, document: Document) -> None:
    """Add it; without cases the file holds nothing else."""
    root = ElementTree.parse(path).getroot() if path.exists() else ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="gate")
    for check in document["connectivity"]:
        name = f"{check['name']} {check['width']}bit"
        _case(suite, "connectivity", name, check["outcome"], check["words"])
    for plan in document["plan_findings"]:
        _case(suite, "plans", f"{plan['width']}bit {plan['seed']}", FAILED, plan["story"])
    guest = document["guest"]
    words = "\n".join([*filter(None, [guest["words"]]), *guest["findings"]])
    for row in guest["rows"]:
        name = f"{row['service']} {row['path_mtu']} {row['operation']}"
        is_whole = row["landed"] == row["messages"]
        told = f"{row['landed']} of {row['messages']} messages landed"
        _case(suite, "guest", name, PASSED if is_whole else FAILED, "" if is_whole else told)
    _case(suite, "guest", "whole", guest["outcome"], words)
    outcomes = [each.tag for each in suite.iter() if each.tag in ("failure", "skipped")]
    suite.set("tests", str(len(suite)))
    suite.set("errors", "0")
    suite.set("failures", str(outcomes.count("failure")))
    suite.set("skipped", str(outcomes.count("skipped")))
    with whole_file(path) as part:
        ElementTree.ElementTree(root).write(part, encoding="utf-8", xml_declaration=True)


def _case(suite: ElementTree.Element, stage: str, name: str, outcome: str, words: str) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=f"gate.{stage}", name=name)
    if outcome == FAILED:
        failure = ElementTree.SubElement(case, "failure", message=(words.splitlines() or [""])[0])
        failure.text = words
    elif outcome == SKIPPED:
        ElementTree.SubElement(case, "skipped", message=words)
