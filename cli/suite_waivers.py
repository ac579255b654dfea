# SPDX-License-Identifier: BSD-2-Clause
"""Waivers over the results of a suite: a failure all of whose broken rules are waived is none.

A waiver may name the device: the target, or the name in the manifest. One that
names a flow is for captures and left alone here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from roceproof.common.whole_file import whole_file
from roceproof.conformance.rules.waivers import Waiver, load_waivers, matching
from roceproof.conformance.runner.options import Options
from roceproof.conformance.runner.results import NOT_REACHED
from roceproof.dpi import load_manifest

WAIVED = "waived"


class SuiteWaivers:
    """Those of a file, for one target; none without a file."""

    def __init__(self, path: Path | None, options: Options) -> None:
        self._given = path is not None
        loaded = [] if path is None else load_waivers(path)
        self._waivers = [waiver for waiver in loaded if waiver.flow is None]
        self._names = {options.target}
        if self._waivers and options.target == "hdl":
            self._names.add(load_manifest(options.dut).name)

    def reasons(self, broken: Iterable[str]) -> list[str]:
        """Why a failure that broke those rules is none; nothing if it is one."""
        return list(dict.fromkeys(each.words for each in self._matches(broken)))

    def apply(self, document: dict[str, Any], *, results: Path, junit: Path) -> None:
        """Mark the cases that are waived, here and in the files of the run."""
        if not self._given:
            return
        for case in document["cases"]:
            broken = case.get("broken", ())
            if case["outcome"] in ("failed", NOT_REACHED) and (reasons := self.reasons(broken)):
                case["outcome"], case[WAIVED] = WAIVED, reasons
                for each in self._matches(broken):
                    each.used += 1
        document["waivers"] = [waiver.document() for waiver in self._waivers]
        with whole_file(results) as part:
            part.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
        _skip(junit, document)

    def told(self, document: dict[str, Any]) -> list[str]:
        """What is to be said of those that waived nothing, though cases of their rule ran."""
        ran = {
            rule
            for case in document["cases"]
            if case["outcome"] != "skipped"
            for rule in (*case.get("rules", ()), *case.get("broken", ()))
        }
        told = [(waiver, waiver.status()) for waiver in self._waivers]
        return [status for waiver, status in told if status and waiver.rule in ran]

    def _matches(self, broken: Iterable[str]) -> list[Waiver]:
        """A waiver for each of the rules, or none at all."""
        found = [matching(self._waivers, rule, devices=self._names) for rule in broken]
        waivers = [each for each in found if each is not None]
        return waivers if len(waivers) == len(found) else []


def _skip(junit: Path, document: dict[str, Any]) -> None:
    """Turn the failures of waived cases into skips that say why."""
    reasons = {
        (Path(case["file"]).stem, case["case"].rpartition("::")[2]): "; ".join(case[WAIVED])
        for case in document["cases"]
        if case["outcome"] == WAIVED
    }
    tree = ElementTree.parse(junit)
    for suite in tree.getroot().iter("testsuite"):
        waived = 0
        for case in suite.iter("testcase"):
            failure = case.find("failure")
            place = (case.get("classname", "").rpartition(".")[2], case.get("name", ""))
            if failure is None or place not in reasons:
                continue
            failure.tag = "skipped"
            failure.set("type", WAIVED)
            failure.set("message", reasons[place])
            waived += 1
        for name, step in (("failures", -waived), ("skipped", waived)):
            suite.set(name, str(int(suite.get(name, "0")) + step))
    with whole_file(junit) as part:
        tree.write(part, encoding="utf-8", xml_declaration=True)
