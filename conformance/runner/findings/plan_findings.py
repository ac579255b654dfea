# SPDX-License-Identifier: BSD-2-Clause
"""Random plans that fail, told with the root findings of the suite that they are signs of, too."""

from collections.abc import Sequence
from textwrap import shorten
from typing import Any

from roceproof.conformance.runner.findings.observations import RULE
from roceproof.conformance.runner.findings.root import STREAM, Root
from roceproof.conformance.runner.findings.unexplained import explained_by
from roceproof.conformance.runner.findings.words.names import signature_told
from roceproof.conformance.suite.reporting.failure_heads import in_short, likeness, wrong_fields

Document = dict[str, Any]
_LONGEST = 300


def with_plans(findings: Sequence[Document], plans: Sequence[Document]) -> list[Document]:
    """The findings, each with its plans; behind them one for each kind of other failing plan."""
    known = [_root(finding) for finding in findings]
    told = [{**finding, "plans": [], "plan_replay": None} for finding in findings]
    others: dict[str, Document] = {}
    for plan in plans:
        heeded = {RULE + rule for rule in plan.get("tempted", ())}
        root = next((each for each in known if not heeded.isdisjoint(each.troubles)), None)
        root = root or explained_by(plan["head"], plan["rules"], known)
        if root is not None:
            host = told[known.index(root)]
        else:
            host = others.setdefault(likeness(plan["head"]), _of_plan(plan))
        host["plans"].append(plan["case"])
        host["plan_replay"] = host["plan_replay"] or plan["replay"]
    return [*told, *sorted(others.values(), key=lambda each: -len(each["plans"]))]


def _root(finding: Document) -> Root:
    return Root(
        finding["troubles"],
        set(finding["cases"]),
        head=finding["head"],
        hides=finding["troubles"] == [STREAM],
        rules=set(finding["any_rules"]),
    )


def _of_plan(plan: Document) -> Document:
    words = shorten(in_short(plan["head"]), _LONGEST, placeholder=" ...")
    return {
        "sentence": f"show: {words}",
        "troubles": ["plan"],
        "head": plan["head"],
        "support": None,
        "explained": next(filter(None, map(signature_told, plan.get("explained", ()))), None),
        "manifest": [],
        "cases": [],
        "count": 0,
        "only": 0,
        "not_reached": 0,
        "stops": False,
        "streams": [],
        "rules": plan["rules"],
        "in_doubt": [] if wrong_fields(plan["head"]) else plan["rules"],  # a plan is one witness
        "any_rules": plan["rules"],
        "representative": {"case": plan["case"], "capture": None, "replay": None},
        "plans": [],
        "plan_replay": None,
        "story": plan["story"],
    }
