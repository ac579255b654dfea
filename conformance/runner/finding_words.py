# SPDX-License-Identifier: BSD-2-Clause
"""A root finding in one sentence, with its support, one representative and the command for it."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import shorten
from typing import Any

from roceproof.conformance.rules.table import RULES
from roceproof.conformance.runner.kinds import in_words
from roceproof.conformance.runner.observations import FIELD, RULE
from roceproof.conformance.runner.root_findings import (
    STOPS,
    Root,
    rule_of_trouble,
    without_place,
)
from roceproof.conformance.suite.stop import Kind

Document = dict[str, Any]
_LONGEST = 300


def documents(
    found: list[Root], cases: Mapping[str, Document], seen: Mapping[str, Document]
) -> list[Document]:
    """Everything about the findings, for people and machines."""
    return [_document(root, cases, seen) for root in found]


def _document(root: Root, cases: Mapping[str, Document], seen: Mapping[str, Document]) -> Document:
    shown = min(root.cases, key=lambda name: (seen.get(name, {}).get("frames", 0), name))
    stopped = root.stops
    rules = [rule for each in root.troubles if (rule := rule_of_trouble(each)) is not None]
    if stopped or not rules:
        rules += [rule for name in sorted(root.cases) for rule in cases[name].get("broken", ())]
    return {
        "sentence": _sentence(root, shown, seen),
        "support": _support(root),
        "cases": sorted(cases[name]["case"] for name in root.cases),
        "count": len(root.cases),
        "not_reached": sum(cases[name]["outcome"] == "not_reached" for name in root.cases),
        "stops": stopped,
        "streams": seen.get(shown, {}).get("streams", []) if stopped else [],
        "rules": _most_told(rules),
        "representative": {
            "case": cases[shown]["case"],
            "capture": cases[shown].get("capture"),
            "replay": cases[shown].get("replay"),
        },
    }


def _sentence(root: Root, shown: str, seen: Mapping[str, Document]) -> str:
    what = _what(root, root.troubles[0], shown, seen)
    if not root.has_cause:
        return f"stop: {what}" if root.stops else f"show: {what}"
    kind = ", or ".join(in_words(features) for features in root.causes)
    if root.stops:
        return f"stop at {f'messages {kind}' if kind else 'every message'}: {what}"
    return f"show in {f'packets of messages {kind}' if kind else 'every packet'}: {what}"


def _what(root: Root, trouble: str, shown: str, seen: Mapping[str, Document]) -> str:
    words = (seen.get(shown, {}).get("stop") or {}).get("words")
    if trouble in STOPS and words:
        return str(words)
    if trouble.startswith(FIELD):
        return _of_field(root, trouble.removeprefix(FIELD), seen)
    if trouble.startswith(RULE):
        rule = trouble.removeprefix(RULE)
        return f"{rule} is broken ({RULES[rule].sentence.rstrip('.')})"
    return shorten(without_place(root.head), _LONGEST, placeholder=" ...") or trouble


def _of_field(root: Root, name: str, seen: Mapping[str, Document]) -> str:
    told = [
        seen[case]["values"][name] for case in sorted(root.cases) if name in seen[case]["values"]
    ]
    got = list(dict.fromkeys(value for each in told for value in each["got"]))
    want, first = told[0]["want"][0], told[0]["got"][0]
    if len(got) == 1 and len(root.cases) > 1:
        return f"{name} is always {first} (want {want} in the first)"
    return f"{name} is wrong (want {want}, got {first} in the first)"


def _support(root: Root) -> str | None:
    if root.has_cause:
        if not root.passing:
            return None
        if root.troubles[0] == str(Kind.NO_COMPLETION):
            return f"none of these completed; {root.passing:,} other messages did"
        if root.stops:
            return f"none of these came whole; {root.passing:,} other messages did"
        return f"none of these is right; {root.passing:,} other packets are"
    if root.troubles[0] in STOPS:
        return "with what else these have in common, others pass"
    return None


def _most_told(rules: list[str]) -> list[str]:
    return sorted(dict.fromkeys(rules), key=lambda rule: -rules.count(rule))
