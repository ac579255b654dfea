# SPDX-License-Identifier: BSD-2-Clause
"""The cases of the run that was taken up in the JUnit file: pytest writes those that it ran."""

from pathlib import Path, PurePath
from typing import Any
from xml.etree import ElementTree

from roceproof.common.printable import printable
from roceproof.common.whole_file import whole_file
from roceproof.conformance.regression.junit_waivers import count_outcomes
from roceproof.conformance.runner.outcomes import FAILED, NOT_REACHED, WAIVED

_TAGS = {
    FAILED: "failure",
    NOT_REACHED: "failure",
    WAIVED: "failure",  # which a waiver turns into a skip, as that of any case
    "error": "error",
    "skipped": "skipped",
    "deviation": "skipped",
}
_WORDS = ("reason", "deviation", "head", "case_broke")


def add_resumed(path: Path, document: dict[str, Any]) -> None:
    """Add each case of the results that the file lacks, with how it ended."""
    tree = ElementTree.parse(path)
    suite = next(tree.getroot().iter("testsuite"))
    there = {
        (case.get("classname", "").rpartition(".")[2], case.get("name"))
        for case in suite.iter("testcase")
    }
    for case in document["cases"]:
        place, name = PurePath(case["file"]).stem, case["case"].rpartition("::")[2]
        if (place, name) not in there:
            found = ElementTree.SubElement(suite, "testcase", classname=place, name=name, time="0")
            if case["outcome"] in _TAGS:
                words = next((str(case[key]) for key in _WORDS if key in case), case["outcome"])
                ElementTree.SubElement(found, _TAGS[case["outcome"]], message=printable(words))
    count_outcomes(suite)
    with whole_file(path) as part:
        tree.write(part, encoding="utf-8", xml_declaration=True)
