# SPDX-License-Identifier: BSD-2-Clause
"""Which rules two devices answer differently, and the cases that show it."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from roceproof.conformance.devices.document import Document, column_of_run
from roceproof.conformance.devices.matrix import rule_lines

_LEFT_OUT = ("skipped", "error")


@dataclass(frozen=True)
class RuleDifference:
    """A rule with its verdict on each of the two, by what, and the cases that came otherwise."""

    rule: str
    sentence: str
    verdicts: tuple[str, str]
    by: tuple[tuple[str, ...], tuple[str, ...]]
    cases: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """Two devices: their names, the rules, and the cases that only one of them could be asked."""

    names: tuple[str, str]
    rules: tuple[RuleDifference, ...]
    asked_alone: tuple[tuple[str, ...], tuple[str, ...]]

    def document(self) -> Document:
        return {"schema": 1, **asdict(self)}


def difference(a: Document, b: Document) -> Difference:
    """Compare the results of two runs.

    What is seen by chance tells no difference, and neither does a case that one was not asked.
    """
    asked = [_asked(results) for results in (a, b)]
    both = asked[0].keys() & asked[1].keys()
    columns = [column_of_run(_only(results, both)) for results in (a, b)]
    others = sorted(name for name in both if _answer(asked[0][name]) != _answer(asked[1][name]))
    rules = tuple(
        RuleDifference(
            line.rule,
            line.sentence,
            (line.verdicts[0], line.verdicts[1]),
            (line.by[0], line.by[1]),
            tuple(name for name in others if line.rule in _rules(asked, name)),
        )
        for line in rule_lines({"devices": columns})
        if line.changed
    )
    alone = [tuple(sorted(one.keys() - both)) for one in asked]
    return Difference((columns[0]["name"], columns[1]["name"]), rules, (alone[0], alone[1]))


def _asked(results: Document) -> dict[str, Document]:
    return {
        f"{case['file']}::{case['case']}": case
        for case in results["cases"]
        if case["outcome"] not in _LEFT_OUT
    }


def _only(results: Document, names: Collection[str]) -> Document:
    cases = [case for case in results["cases"] if f"{case['file']}::{case['case']}" in names]
    return results | {"cases": cases}


def _answer(case: Document) -> tuple[Any, ...]:
    return case["outcome"], case.get("deviation"), tuple(case.get("broken", ()))


def _rules(asked: list[dict[str, Document]], name: str) -> set[str]:
    cases = [one[name] for one in asked]
    return {rule for case in cases for rule in (*case.get("rules", ()), *case.get("broken", ()))}
