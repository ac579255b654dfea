# SPDX-License-Identifier: BSD-2-Clause
"""A check as a JUnit file: a suite for each capture, a test case for each observer's rule.

The properties of a suite say what each rule means. Information is no failure
and stands in the output of its case; a damaged capture is an error.
"""

from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from roceproof.common.printable import printable, printable_lines
from roceproof.common.whole_file import whole_file
from roceproof.conformance.check.group_text import Told, told
from roceproof.conformance.check.report import Document
from roceproof.conformance.check.styles import WAIVED
from roceproof.conformance.rules.table import RULES, Rule, Severity
from roceproof.conformance.rules.waivers import Waiver

_WEIGHTS = (Severity.MUST, Severity.SHOULD)


def write_junit(path: Path, documents: Iterable[Document], waivers: Iterable[Waiver] = ()) -> None:
    """Write one file for all captures; what is waived is skipped, with the reason."""
    root = Element("testsuites", name="roceproof check")
    for document in documents:
        root.append(_suite(document, waivers))
    indent(root)
    with whole_file(path) as part:
        ElementTree(root).write(part, encoding="utf-8", xml_declaration=True)


def _suite(document: Document, waivers: Iterable[Waiver]) -> Element:
    suite = Element("testsuite", name=printable(document["file"]))
    properties = SubElement(suite, "properties")
    for name in ("frames", "roce_frames"):
        _property(properties, name, str(document[name]))
    for waiver in waivers:
        _property(properties, f"waiver {waiver.rule}", waiver.status() or waiver.words)
    lines = _lines_by_rule(document)
    cases = [_case(rule, document, lines) for rule in RULES.values() if rule.observable]
    for rule in (rule for rule in RULES.values() if rule.observable):
        _property(properties, rule.id, f"{rule.severity}: {rule.sentence}")
    suite.extend(cases)
    failures = sum(case.find("failure") is not None for case in cases)
    errors = 0
    if document["error"] is not None:
        errors = 1
        broken = SubElement(suite, "testcase", classname="roceproof.capture", name="readable")
        SubElement(broken, "error", type="damaged", message=printable_lines(document["error"]))
    suite.set("tests", str(len(cases) + errors))
    suite.set("failures", str(failures))
    suite.set("errors", str(errors))
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    return suite


def _case(rule: Rule, document: Document, lines: dict[str, list[Told]]) -> Element:
    family = rule.id.partition("-")[0]
    case = Element("testcase", classname=f"roceproof.{family}", name=rule.id)
    noted = [line for line in lines.get(rule.id, []) if line.severity == Severity.INFO]
    waived = [line for line in lines.get(rule.id, []) if line.severity == WAIVED]
    broken = [line for line in lines.get(rule.id, []) if line.severity in _WEIGHTS]
    count = document["rules"].get(rule.id, 0)
    grouped = sum(line.count for line in noted + waived + broken)
    if broken or (count > grouped and rule.severity != Severity.INFO):
        first = broken[0].text if broken else "beyond those that were kept"
        summary = printable_lines(f"{count} findings, the first: {first}")
        failure = SubElement(case, "failure", type=rule.severity, message=summary)
        failure.text = _text(broken)
    elif waived:
        summary = printable_lines(f"{waived[0].count} findings, waived: {waived[0].text}")
        SubElement(case, "skipped", type=WAIVED, message=summary)
    if noted or waived:
        SubElement(case, "system-out").text = _text(waived + noted)
    return case


def _lines_by_rule(document: Document) -> dict[str, list[Told]]:
    found: dict[str, list[Told]] = {}
    waiting = told(document["groups"])
    while waiting:
        line = waiting.pop(0)
        found.setdefault(line.rule, []).append(line)
        waiting += line.beneath
    return found


def _text(lines: Iterable[Told]) -> str:
    return printable_lines("\n".join(line.text for line in lines))


def _property(properties: Element, name: str, value: str) -> None:
    SubElement(properties, "property", name=name, value=value)
