# SPDX-License-Identifier: BSD-2-Clause
"""Rows of kernels as one table: which rule each keeps, how it deviates, and where that changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from roceproof.conformance.kernels.row import DEVIATES, NOT_TESTED
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.suite.deviations import Deviation, load_deviations
from roceproof.conformance.suite.versions import version_of

Document = dict[str, Any]
SCHEMA = 1


@dataclass(frozen=True)
class RuleLine:
    """One rule: its verdict on each kernel, what was seen, and since when it is otherwise."""

    rule: str
    sentence: str
    verdicts: tuple[str, ...]
    by: tuple[tuple[str, ...], ...]
    changed: tuple[str, ...]


@dataclass(frozen=True)
class DeviationLine:
    """One deviation: in how many cases it was seen on each kernel, and since when otherwise."""

    deviation: Deviation
    counts: tuple[int, ...]
    changed: tuple[str, ...]


def document_of(rows: Iterable[Document]) -> Document:
    """What is written as JSON: the rows, from the oldest kernel to the newest."""
    ordered = sorted(rows, key=lambda row: version_of(row["release"]))
    return {"schema": SCHEMA, "kernels": ordered}


def rule_lines(document: Document, *, deviating_only: bool = False) -> list[RuleLine]:
    """A line for every rule that a case of any kernel names."""
    rows = document["kernels"]
    lines = []
    for rule in RULES.values():
        cells = [row["rules"].get(rule.id, {"verdict": NOT_TESTED}) for row in rows]
        verdicts = tuple(cell["verdict"] for cell in cells)
        if not any(rule.id in row["rules"] for row in rows):
            continue
        if deviating_only and DEVIATES not in verdicts:
            continue
        by = tuple(tuple(cell.get("by", ())) for cell in cells)
        changed = _changes(rows, list(zip(verdicts, by, strict=True)))
        lines.append(RuleLine(rule.id, rule.sentence, verdicts, by, changed))
    return lines


def deviation_lines(document: Document) -> list[DeviationLine]:
    """A line for every deviation of Soft-RoCE that was seen on any kernel, in declared order."""
    rows = document["kernels"]
    lines = []
    for each in load_deviations():
        counts = tuple(row["deviations"].get(each.id, 0) for row in rows)
        if any(counts):
            changed = _changes(rows, [bool(count) for count in counts])
            lines.append(DeviationLine(each, counts, changed))
    return lines


def _changes(rows: Sequence[Document], cells: Sequence[Any]) -> tuple[str, ...]:
    """The kernels whose cell differs from that of the one before."""
    return tuple(
        row["version"]
        for row, cell, before in zip(rows[1:], cells[1:], cells, strict=False)
        if cell != before
    )
