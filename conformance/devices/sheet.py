# SPDX-License-Identifier: BSD-2-Clause
"""The matrix of devices as Markdown: deviations first, then the rules that any kernel breaks."""

from collections.abc import Iterator
from typing import Any

from roceproof.conformance.devices.column import CONFORMS, DEVIATES, STALE, UNDECLARED
from roceproof.conformance.devices.matrix import deviation_lines, rule_lines

Document = dict[str, Any]
TITLE = "Soft-RoCE, kernel by kernel"
_MARKS = {
    CONFORMS: "conforms",
    DEVIATES: "**deviates**",
    STALE: "**no longer deviates**",
    UNDECLARED: "**UNDECLARED**",
}


def markdown_of(document: Document) -> str:
    lines = [f"# {document.get('title', TITLE)}", "", *section(document), "", "## Rules", ""]
    lines += _rules(document)
    return "\n".join(lines) + "\n"


def section(document: Document) -> Iterator[str]:
    """Which kernel shows which deviation: the part that docs/findings.md holds."""
    columns = document["devices"]
    yield from _table(
        ["", *(column.get("name", f"Linux {column['version']}") for column in columns)]
    )
    yield _line(["release", *(f"`{column['release']}`" for column in columns)])
    for outcome in ("passed", "deviation", "failed", "not_reached", "error", "skipped"):
        counts = [column["cases"].get(outcome, 0) for column in columns]
        if any(counts):
            words = {"deviation": "known deviations", "not_reached": "not reached"}
            yield _line([f"cases: {words.get(outcome, outcome)}", *(f"{n:,}" for n in counts)])
    yield ""
    versions = [column["version"] for column in columns]
    yield from _table(["deviation", *versions, "changed in", "rules"])
    for line in deviation_lines(document):
        name = f"[{line.deviation.id}](#{line.deviation.id})"
        name += " (arguable)" if line.deviation.arguable else ""
        changed = ", ".join(line.changed)
        yield _line([name, *line.cells, changed, ", ".join(line.deviation.rules)])


def _rules(document: Document) -> Iterator[str]:
    columns = document["devices"]
    lines = rule_lines(document)
    yield from _table(
        ["rule", *(column["version"] for column in columns), "changed in", "what holds"]
    )
    for line in lines:
        if set(line.verdicts) <= {CONFORMS}:
            continue
        cells = [_MARKS.get(verdict, verdict) for verdict in line.verdicts]
        yield _line([line.rule, *cells, ", ".join(line.changed), line.sentence])
    conforming = sum(set(line.verdicts) == {CONFORMS} for line in lines)
    yield ""
    yield f"{conforming} other rules hold on all of them."


def _table(heads: list[str]) -> Iterator[str]:
    yield _line(heads)
    yield "|" + "---|" * len(heads)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
