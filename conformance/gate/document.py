# SPDX-License-Identifier: BSD-2-Clause
"""The document of a gate: what each stage found, and the verdict, alone or against a baseline.

Nothing in it depends on the wall clock but how small a failing plan was made: which plans and cases
fail is the same in two runs of the same device.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from roceproof.common.document import read_json
from roceproof.conformance.gate.failures import failures_of
from roceproof.conformance.gate.guest import Landed
from roceproof.conformance.gate.limits import told_limits
from roceproof.conformance.gate.proposals import within_claims
from roceproof.conformance.gate.soak import Soaked
from roceproof.conformance.regression.report import per_rule
from roceproof.conformance.runner.connectivity import Check
from roceproof.conformance.runner.findings.kin import with_kin
from roceproof.conformance.runner.findings.plan_findings import with_plans
from roceproof.conformance.runner.outcomes import FAILING, SKIPPED, WARNING
from roceproof.conformance.runner.session.options import Options
from roceproof.dpi import Manifest

SCHEMA = 1
Document = dict[str, Any]


@dataclass(frozen=True)
class Baseline:
    file: str
    failures: frozenset[str]


def read_baseline(path: Path | None) -> Baseline | None:
    """The failures of an earlier gate.json."""
    if path is None:
        return None
    shape = {"schema": frozenset({SCHEMA}), "failures": [str]}
    document = read_json(path, shape, no="is no gate.json", mend="name the one of a gate")
    return Baseline(str(path), frozenset(document["failures"]))


@dataclass(kw_only=True)
class Known:
    """What the stages have found so far."""

    checks: dict[int, list[Check]] = field(default_factory=dict)
    session: Document | None = None
    soaked: Soaked = field(default_factory=Soaked)
    landed: Landed = field(default_factory=lambda: Landed(words="the gate ended before"))
    hung: str = ""
    """Why random plans are left out, if they are."""
    lacks: list[str] = field(default_factory=list)
    """Why it is not all, if it is not."""


def document_of(
    manifest: Manifest, *, options: Options, known: Known, baseline: Baseline | None
) -> Document:
    """Everything that is known about the device, for people and machines."""
    checks, session, soaked, landed = known.checks, known.session, known.soaked, known.landed
    cases = session["cases"] if session else []
    found = with_kin(with_plans(session["findings"] if session else [], soaked.findings))
    for finding in found:
        finding["manifest"] = [within_claims(each, manifest.limits) for each in finding["manifest"]]
    document: Document = {
        "schema": SCHEMA,
        "device": manifest.name,
        "manifest": os.path.relpath(options.dut),
        "widths": list(checks),
        "suite": options.suite,
        "seed": options.seed,
        "connectivity": [
            {"width": width, **asdict(check)} for width, found in checks.items() for check in found
        ],
        "cases": dict(sorted(Counter(case["outcome"] for case in cases).items())),
        "failing": [
            {key: case.get(key) for key in ("case", "file", "outcome", "broken", "explained")}
            for case in cases
            if case["outcome"] in FAILING
        ],
        "warnings": [
            {key: case.get(key) for key in ("case", "file", "broken", WARNING)}
            for case in cases
            if WARNING in case
        ]
        + soaked.warned,
        "skips": [
            {"reason": reason, "cases": count}
            for reason, count in Counter(
                case.get("reason", "") for case in cases if case["outcome"] == "skipped"
            ).most_common()
        ],
        "findings": found,
        "rules": [
            {"rule": rule, "verdict": verdict, "cases": count}
            for rule, verdict, count in (per_rule(session) if session else [])
        ],
        "waivers": _waivers(session.get("waivers", []) if session else [], soaked),
        "limits": told_limits(manifest),
        "plans": soaked.plans,
        "random": {
            "cases": len(random := [case["plans"] for case in cases if "plans" in case]),
            "plans_of_cases": sum(random),
            "kept": soaked.kept,
            "fresh": soaked.fresh,
            "added": soaked.added,
        },
        "plan_findings": soaked.findings,
        "plan_waived": soaked.waived,
        "coverage": soaked.coverage,
        "depth": soaked.depth,
        "guest": asdict(landed),
    }
    failures = sorted(set(failures_of(document)))
    new = [each for each in failures if baseline is None or each not in baseline.failures]
    document["failures"] = failures
    document["baseline"] = (
        None
        if baseline is None
        else {
            "file": baseline.file,
            "new": new,
            "better": [] if known.lacks else sorted(baseline.failures - set(failures)),
        }
    )
    document["lacks"] = known.lacks
    left_out = {
        "random plans": known.hung,
        "Soft-RoCE": landed.words if landed.outcome == SKIPPED else "",
    }
    document["left_out"] = [f"{stage} ({why})" for stage, why in left_out.items() if why]
    document["verdict"] = "fail" if new else "incomplete" if known.lacks else "pass"
    return document


def told_verdict(document: Document) -> str:
    """What follows the verdict's word: what it lacks, or is given without."""
    widths = " and ".join(map(str, document["widths"]))
    told = f"{document['device']}, {widths} bit" if widths else document["device"]
    if document["lacks"]:
        return f"{told}: not all was judged: {'; '.join(document['lacks'])}"
    return f"{told}, without {'; '.join(document['left_out'])}" if document["left_out"] else told


def _waivers(rows: Sequence[Document], soaked: Soaked) -> list[Document]:
    """One that a plan needs is of use, though no case of the suite needs it."""
    needed = {rule for plan in soaked.waived for rule in plan["rules"]}
    return [
        {**row, "finding": None} if row["rule"] in needed and not row["expired"] else row
        for row in rows
    ]


def told_plans(document: Document) -> str:
    """How many fail, and how many would if it were not accepted."""
    waived = len(document["plan_waived"])
    return f"{len(document['plan_findings'])} fail" + (f", {waived} waived" if waived else "")


def told_seeds(document: Document) -> str:
    """How many plans were drawn, and from which seeds."""
    random = document["random"]
    told = [f"seed {document['seed']}"]
    told += [f"{random['kept']} kept seeds first"] * bool(random["kept"])
    if random["fresh"] is not None:
        told.append(f"fresh seeds from {random['fresh']} on")
    if random["added"]:
        told.append(f"kept from now on: {', '.join(map(str, random['added']))}")
    if random["cases"]:
        told.append(f"besides {random['plans_of_cases']} in {random['cases']} cases of the suite")
    return "; ".join(told)


def told_landed(guest: Document) -> str:
    """How many messages landed; nothing where none was sent."""
    messages = sum(row["messages"] for row in guest["rows"])
    landed = sum(row["landed"] for row in guest["rows"])
    return f"{landed} of {messages} messages landed, " if guest["rows"] else ""
