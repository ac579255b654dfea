# SPDX-License-Identifier: BSD-2-Clause
"""Columns of devices as one table: which rule each keeps, how it deviates, where that changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from roceproof.conformance.devices.column import CONFORMS, DEVIATES, NOT_TESTED
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.suite.limits.deviations import Deviation, load_deviations
from roceproof.conformance.suite.limits.versions import version_of

Document = dict[str, Any]
SCHEMA = 2
UNSEEN, BY_CHANCE = "-", "by chance"


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
    """One deviation: in how many cases it was seen on each kernel, and since when otherwise.

    A cell says `by chance` where a kernel has a deviation that no case shows for certain, and it
    was not seen.
    """

    deviation: Deviation
    counts: tuple[int, ...]
    cells: tuple[str, ...]
    changed: tuple[str, ...]


def document_of(columns: Iterable[Document]) -> Document:
    """What is written as JSON: the columns, from the oldest kernel to the newest."""
    ordered = sorted(columns, key=lambda column: version_of(column["release"]))
    return {"schema": SCHEMA, "devices": ordered}


def rule_lines(document: Document) -> list[RuleLine]:
    """A line for every rule that a case of any kernel names."""
    columns = document["devices"]
    lines = []
    for rule in RULES.values():
        cells = [column["rules"].get(rule.id, {"verdict": NOT_TESTED}) for column in columns]
        verdicts = tuple(cell["verdict"] for cell in cells)
        if not any(rule.id in column["rules"] for column in columns):
            continue
        by = tuple(tuple(cell.get("by", ())) for cell in cells)
        changed = _changes(columns, list(map(_certain, verdicts, by)))
        lines.append(RuleLine(rule.id, rule.sentence, verdicts, by, changed))
    return lines


def deviation_lines(document: Document) -> list[DeviationLine]:
    """A line for each deviation that a kernel shows, if only by chance, in declared order."""
    columns = document["devices"]
    lines = []
    for each in load_deviations():
        counts = tuple(column["deviations"].get(each.id, 0) for column in columns)
        cells = tuple(
            DEVIATES if count else _unseen(each, column["release"])
            for column, count in zip(columns, counts, strict=True)
        )
        if set(cells) - {UNSEEN}:
            changed = () if _is_by_chance(each) else _changes(columns, list(map(bool, counts)))
            lines.append(DeviationLine(each, counts, cells, changed))
    return lines


def _is_by_chance(deviation: Deviation) -> bool:
    return bool(deviation.may) and not deviation.cases


def _unseen(deviation: Deviation, release: str) -> str:
    is_likely = _is_by_chance(deviation) and release in deviation.kernels
    return BY_CHANCE if is_likely else UNSEEN


def _certain(verdict: str, by: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """A cell of a rule without what is seen by chance: that it is seen once tells no change."""
    lucky = {each.id for each in load_deviations() if _is_by_chance(each)}
    rest = tuple(name for name in by if name not in lucky)
    return (CONFORMS if verdict == DEVIATES and not rest else verdict), rest


def _changes(columns: Sequence[Document], cells: Sequence[Any]) -> tuple[str, ...]:
    """The kernels whose cell differs from that of the one before."""
    return tuple(
        column["version"]
        for column, cell, before in zip(columns[1:], cells[1:], cells, strict=False)
        if cell != before
    )
