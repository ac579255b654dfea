# SPDX-License-Identifier: BSD-2-Clause
"""Waivers over the results of a suite: a failure that is accepted, by case or by rules, is none.

They are in a file, or in the device's manifest. A waiver of a file may name the device: the
target, or the name in the manifest. One that names a flow is for captures and left alone here.
"""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from roceproof.common.paths import CASES
from roceproof.common.printable import printable
from roceproof.common.whole_file import whole_file
from roceproof.conformance.regression.junit import tell_waivers
from roceproof.conformance.rules.waivers import (
    Waiver,
    WaiverError,
    load_waivers,
    matching,
    read_waivers,
)
from roceproof.conformance.runner.outcomes import WAIVED
from roceproof.conformance.runner.session.options import Options
from roceproof.dpi import load_manifest
from roceproof.verbs.limit_table import LIMITS

_CASE = re.compile(r"^\s*def (test_\w+)", re.MULTILINE)


def load_suite_waivers(
    path: Path | None, options: Options, *, cases: Sequence[Path]
) -> list[Waiver]:
    """Those of the manifest and those of a file. Each that names a case must name one there is."""
    found = []
    if options.target == "hdl":
        manifest = load_manifest(options.dut)
        place = f"{printable(options.dut)}: waivers"
        found = read_waivers(manifest.waivers, place=place, scopes=())
    if path is not None:
        found += [waiver for waiver in load_waivers(path) if waiver.flow is None]
    if any(waiver.case for waiver in found):
        known = _case_names([*cases, CASES])
        for waiver in found:
            if waiver.case and waiver.case.partition("[")[0] not in known:
                raise WaiverError(
                    f"waivers: {waiver.case} is no case; list them: "
                    "roceproof rules --coverage --json"
                )
    return found


class SuiteWaivers:
    """What is waived in one run; a whole run may find that a waiver is of no use."""

    def __init__(self, waivers: Sequence[Waiver], options: Options, *, is_whole: bool) -> None:
        self._waivers = waivers
        self._is_whole = is_whole
        self._names = {options.target}
        if waivers and options.target == "hdl":
            self._names.add(load_manifest(options.dut).name)

    def reasons(self, case: str, broken: Iterable[str]) -> list[str]:
        """Why a failure that broke those rules is none; nothing if it is one."""
        return list(dict.fromkeys(each.words for each in self._matches(case, broken)))

    def apply(self, document: dict[str, Any], *, results: Path, junit: Path) -> None:
        """Count what each has waived; tell it, and which are out of date, in the run's files."""
        if not self._waivers:
            return
        for case in document["cases"]:
            if case["outcome"] == WAIVED:
                for each in self._matches(case["case"], case.get("broken", ())):
                    each.used += 1
        for each in self._waivers:
            if each.limits is not None and not each.expired:
                each.used = _skipped_for(each.limits, document)
        document["waivers"] = [
            {**waiver.document(), "finding": self._finding(waiver, document)}
            for waiver in self._waivers
        ]
        with whole_file(results) as part:
            part.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
        tell_waivers(junit, document)

    def told(self, document: dict[str, Any]) -> list[str]:
        """What is to be said of those that waived nothing, where that is no finding."""
        told = [
            waiver.status()
            for waiver in self._waivers
            if not self._finding(waiver, document) and _was_tried(waiver, document)
        ]
        return [status for status in told if status]

    def _finding(self, waiver: Waiver, document: dict[str, Any]) -> str | None:
        is_for_this = waiver.device is None or waiver.device in self._names
        is_decided = waiver.expired or (self._is_whole and not document["interrupted"])
        if not is_for_this or not is_decided or not _was_tried(waiver, document):
            return None
        return waiver.status()

    def _matches(self, case: str, broken: Iterable[str]) -> list[Waiver]:
        """The case's waiver, or one for each of the rules, or none at all."""
        for each in self._waivers:
            is_for_this = each.device is None or each.device in self._names
            if is_for_this and not each.expired and each.is_for_case(case):
                return [each]
        found = [matching(self._waivers, rule, devices=self._names) for rule in broken]
        waivers = [each for each in found if each is not None]
        return waivers if len(waivers) == len(found) else []


def _was_tried(waiver: Waiver, document: dict[str, Any]) -> bool:
    """Whether a case ran that it might have been for."""
    ran = [case for case in document["cases"] if case["outcome"] != "skipped"]
    if waiver.limits is not None:
        return bool(document["cases"])
    if waiver.case is not None:
        return any(waiver.is_for_case(case["case"]) for case in ran)
    return any(waiver.rule in (*case.get("rules", ()), *case.get("broken", ())) for case in ran)


def _skipped_for(limits: Iterable[str], document: dict[str, Any]) -> int:
    """How many cases lie beyond."""
    rows = [row for row in LIMITS if row.key in limits]
    reasons = [c["reason"] for c in document["cases"] if c["outcome"] == "skipped"]
    return sum(any(row.is_reason(reason) for row in rows) for reason in reasons)


def _case_names(places: Iterable[Path]) -> set[str]:
    files = [
        path for place in places for path in ([place] if place.is_file() else place.rglob("*.py"))
    ]
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in files)
    return {name for text in texts for name in _CASE.findall(text)}
