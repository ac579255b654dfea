# SPDX-License-Identifier: BSD-2-Clause
"""A name for each thing that fails in a gate, the same in every run that has it."""

from collections.abc import Iterator
from typing import Any

from roceproof.conformance.regression.junit import name_of_waiver
from roceproof.conformance.runner.outcomes import FAILED

Document = dict[str, Any]


def failures_of(document: Document) -> Iterator[str]:
    for check in document["connectivity"]:
        if check["outcome"] == FAILED:
            yield of_check(check)
    for case in document["failing"]:
        yield of_case(case)
    for waiver in document["waivers"]:
        if waiver["finding"]:
            yield of_waiver(waiver)
    for plan in document["plan_findings"]:
        yield of_plan(plan)
    yield from of_guest(document["guest"])


def of_check(check: Document) -> str:
    return f"connectivity {check['width']}bit {check['name']}"


def of_case(case: Document) -> str:
    return f"case {case['file']}::{case['case']}"


def of_waiver(waiver: Document) -> str:
    """A waiver that is out of date."""
    return f"waiver {name_of_waiver(waiver)}"


def of_plan(plan: Document) -> str:
    return f"plan {plan['width']}bit {plan['seed']}"


def of_row(row: Document) -> str:
    """Messages of one kind to the real receiver."""
    return f"guest {row['service']} {row['path_mtu']} {row['operation']}"


def of_guest(guest: Document) -> Iterator[str]:
    """All that went wrong with the real receiver."""
    if guest["outcome"] != FAILED:
        return
    short = [row for row in guest["rows"] if row["landed"] < row["messages"]]
    yield from map(of_row, short)
    if guest["findings"]:
        yield "guest frames"
    if guest["words"] or not (short or guest["findings"]):
        yield "guest end"


def known_failures(document: Document) -> frozenset[str]:
    """Those that the baseline has as well."""
    baseline = document["baseline"]
    return frozenset(document["failures"]) - set(baseline["new"]) if baseline else frozenset()
