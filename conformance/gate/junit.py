# SPDX-License-Identifier: BSD-2-Clause
"""The stages of a gate as a suite of their own in the JUnit file of its cases.

What failed in the baseline as well is a skip that says so, in that suite and among the cases: a
job that reads the file fails for what is new, as the gate does.
"""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from roceproof.conformance.gate.failures import (
    known_failures,
    of_case,
    of_check,
    of_guest,
    of_plan,
    of_row,
    of_waiver,
)
from roceproof.conformance.regression.junit import (
    count_outcomes,
    name_of_waiver,
    place_in_file,
    place_of,
    rewritten,
    skip,
)
from roceproof.conformance.runner.outcomes import FAILED, PASSED, SKIPPED

Document = dict[str, Any]
KNOWN = "known"


def add_to_junit(path: Path, document: Document) -> None:
    """Add it; without cases the file holds nothing else."""
    known = known_failures(document)
    with rewritten(path, is_there=path.exists()) as root:
        _drop_waivers_in_use(root, document)
        _excuse_cases(root, document, known)
        suite = ElementTree.SubElement(root, "testsuite", name="gate")
        for check in document["connectivity"]:
            case = _case(suite, "connectivity", f"{check['name']} {check['width']}bit")
            _tell(case, check["outcome"], check["words"], is_known=of_check(check) in known)
        for plan in document["plan_findings"]:
            case = _case(suite, "plans", f"{plan['width']}bit {plan['seed']}")
            _tell(case, FAILED, plan["story"], is_known=of_plan(plan) in known)
        _add_guest(suite, document["guest"], known)
        count_outcomes(suite)


def _drop_waivers_in_use(root: ElementTree.Element, document: Document) -> None:
    """The suite alone may have found one useless that a random plan needs."""
    in_use = {waiver["rule"] for waiver in document["waivers"] if not waiver["finding"]}
    for suite in root.iter("testsuite"):
        for case in suite.findall("testcase[@classname='waivers']"):
            if case.get("name") in in_use:
                suite.remove(case)


def _add_guest(suite: ElementTree.Element, guest: Document, known: frozenset[str]) -> None:
    for row in guest["rows"]:
        case = _case(suite, "guest", f"{row['service']} {row['path_mtu']} {row['operation']}")
        is_whole = row["landed"] == row["messages"]
        told = f"{row['landed']} of {row['messages']} messages landed"
        outcome = PASSED if is_whole else FAILED
        _tell(case, outcome, "" if is_whole else told, is_known=of_row(row) in known)
    words = "\n".join([*filter(None, [guest["words"]]), *guest["findings"]])
    is_known = known.issuperset(of_guest(guest))
    _tell(_case(suite, "guest", "whole"), guest["outcome"], words, is_known=is_known)


def _case(suite: ElementTree.Element, stage: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=f"gate.{stage}", name=name)


def _tell(case: ElementTree.Element, outcome: str, words: str, *, is_known: bool) -> None:
    if outcome == FAILED:
        failure = ElementTree.SubElement(case, "failure", message=(words.splitlines() or [""])[0])
        failure.text = words
        if is_known:
            _excuse(failure)
    elif outcome == SKIPPED:
        ElementTree.SubElement(case, "skipped", message=words)


def _excuse_cases(root: ElementTree.Element, document: Document, known: frozenset[str]) -> None:
    """Cases, and waivers that are out of date."""
    places = {place_of(case) for case in document["failing"] if of_case(case) in known}
    places |= {
        ("waivers", name_of_waiver(waiver))
        for waiver in document["waivers"]
        if of_waiver(waiver) in known
    }
    for suite in root.iter("testsuite"):
        for case in suite.iter("testcase"):
            for bad in [each for each in case if each.tag in ("failure", "error")]:
                if place_in_file(case) in places:
                    _excuse(bad)
        count_outcomes(suite)


def _excuse(failure: ElementTree.Element) -> None:
    skip(failure, KNOWN, f"known: {failure.get('message', '')}")
