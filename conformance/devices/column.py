# SPDX-License-Identifier: BSD-2-Clause
"""What one device does, rule by rule, out of the results of a run of the suite on it."""

from collections import Counter
from typing import Any

from roceproof.conformance.rules.table import RULES
from roceproof.conformance.runner.outcomes import FAILED, FAILING
from roceproof.conformance.suite.limits.deviations import load_deviations
from roceproof.conformance.suite.limits.versions import version_of

Document = dict[str, Any]

CONFORMS, DEVIATES, UNDECLARED, NOT_TESTED = "conforms", "deviates", "undeclared", "not tested"
STALE = "no longer deviates"
VERDICTS = (CONFORMS, DEVIATES, UNDECLARED, NOT_TESTED, STALE)


def column_of(results: Document, release: str) -> Document:
    """The results of a device, as the matrix keeps them.

    A rule is `undeclared` if a case found it broken that nobody has declared, `deviates` if it
    is one of a deviation that was seen, `no longer deviates` if a case passed that is declared to
    show one, `conforms` if its cases passed. An error is the bench's and tells nothing of a rule.
    """
    cases = results["cases"]
    seen = Counter(case["deviation"] for case in cases if case["outcome"] == "deviation")
    stale = Counter(case["deviation"] for case in cases if is_stale(case))
    return {
        "version": ".".join(map(str, version_of(release)[:2])),
        "release": release,
        "suite": results["suite"],
        "seed": results["seed"],
        "cases": dict(sorted(Counter(case["outcome"] for case in cases).items())),
        "deviations": dict(sorted(seen.items())),
        "stale": dict(sorted(stale.items())),
        "rules": _rules(cases),
    }


def is_stale(case: Document) -> bool:
    """Whether it failed by passing: a deviation is declared for it that was not seen."""
    return case["outcome"] == FAILED and "deviation" in case


def _rules(cases: list[Document]) -> Document:
    declared = {each.id: set(each.rules) for each in load_deviations()}
    broken: dict[str, set[str]] = {}
    deviating: dict[str, set[str]] = {}
    stale: dict[str, set[str]] = {}
    passed: set[str] = set()
    named: set[str] = set()
    for case in cases:
        rules, found = case.get("rules", []), case.get("broken", [])
        named.update(rules)
        if case["outcome"] == "passed":
            passed.update(rules)
        elif case["outcome"] == "deviation":
            for rule in declared.get(case["deviation"], set()) & {*rules, *found}:
                deviating.setdefault(rule, set()).add(case["deviation"])
        elif is_stale(case):
            for rule in declared.get(case["deviation"], set()) & set(rules) or rules:
                stale.setdefault(rule, set()).add(case["deviation"])
        elif case["outcome"] in FAILING:
            for rule in found or rules:
                broken.setdefault(rule, set()).add(case["case"].partition("[")[0])
    verdicts: Document = {}
    for rule in RULES:
        if rule in broken:
            verdicts[rule] = {"verdict": UNDECLARED, "by": sorted(broken[rule])}
        elif rule in deviating:
            verdicts[rule] = {"verdict": DEVIATES, "by": sorted(deviating[rule])}
        elif rule in stale:
            verdicts[rule] = {"verdict": STALE, "by": sorted(stale[rule])}
        elif rule in passed:
            verdicts[rule] = {"verdict": CONFORMS}
        elif rule in named:
            verdicts[rule] = {"verdict": NOT_TESTED}
    return verdicts
