# SPDX-License-Identifier: BSD-2-Clause
"""A check for people: one line on the capture, its flows, its findings in groups, and counts."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from roceproof.common.plain import print_table, styled
from roceproof.common.printable import printable
from roceproof.conformance.check.report import Document, message_of
from roceproof.conformance.check.styles import STYLES, WAIVED
from roceproof.conformance.rules.table import Severity

if TYPE_CHECKING:
    from roceproof.conformance.check.group_text import Told

_FLOW_ROWS = 40
_LINES = 40
_NOTES = 5
_LINES_BENEATH = 6
_NUMBER = itemgetter("number")
_COUNTS = {
    "requests": "requests",
    "responses": "responses",
    "copies": "copies",
    "naks": "NAKs",
    "rnr_naks": "RNR NAKs",
    "cnps": "CNPs",
}


def print_report(document: Document, *, each: bool, quiet: bool) -> None:
    """Print groups of findings, or each of them; with `quiet` nothing else."""
    if not quiet:
        print(styled(_summary(document), "bold"))
        if document["flows"]:
            _print_flows(document)
            if len(document["flows"]) > _FLOW_ROWS:
                print(f"... of {len(document['flows']):,} flows; see all with: --json")
            print()
    if each:
        _print_findings(document)
    elif document["groups"] or document["ungrouped"]:
        _print_groups(document)
    if not quiet:
        _print_unfinished(document)
        print(_verdict(document, grouped=not each))


def _print_findings(document: Document) -> None:
    groups = document["groups"]
    for row in document["findings"]:
        waived = groups[row["group"]]["waived"]
        print(f"{_mark(WAIVED if waived else row['severity'])} {message_of(row)}")
    if document["left_out"]:
        print(f"... and {document['left_out']:,} more; see them with: --max 0")


def _print_groups(document: Document) -> None:
    from roceproof.conformance.check.group_text import told

    lines = told(document["groups"])
    for line in lines[:_LINES]:
        print(f"{_mark(line.severity)} {line.text}")
        _print_beneath(line, indent=2)
    if rest := lines[_LINES:]:
        count = sum(line.count for line in rest)
        print(f"... and {len(rest):,} more lines of {count:,} findings; see them with: --all")
    if document["ungrouped"]:
        print(f"... and {document['ungrouped']:,} findings behind those, counted by rule in --json")


def _print_beneath(line: Told, *, indent: int) -> None:
    for effect in line.beneath[:_LINES_BENEATH]:
        print(f"{' ' * indent}{_mark(effect.severity)} {effect.text}")
        _print_beneath(effect, indent=indent + 2)
    if rest := line.beneath[_LINES_BENEATH:]:
        print(f"{' ' * indent}... and {len(rest):,} more lines; see them with: --all")


def _print_unfinished(document: Document) -> None:
    notes = []
    flows = document["flows"]
    for number, flow in enumerate(flows):
        answers = None if flow["counterpart"] is None else flows[flow["counterpart"]]
        refused = "; its responder sent NAKs" if answers and answers["naks"] else ""
        if flow["unfinished"] is not None:
            notes.append(_unfinished(number, flow["unfinished"]) + refused)
        if flow["unanswered"] is not None:
            notes.append(_unanswered(number, flow["unanswered"]) + refused)
    for note in notes[:_NOTES]:
        print(f"note   {note}")
    if len(notes) > _NOTES:
        print(f"... and {len(notes) - _NOTES:,} more messages without an end; see: --json")


def _unfinished(flow: int, message: dict[str, Any]) -> str:
    begun = "begun in" if message["from_start"] else "seen from"
    length = "" if message["length"] is None else f" of {message['length']:,}"
    what = f"the {message['operation']} {begun} frame {message['frame']} of flow {flow}"
    return f"{what} has no end here: {message['bytes']:,}{length} bytes seen"


def _unanswered(flow: int, read: dict[str, Any]) -> str:
    of = "" if read["of"] is None else f" of {read['of']:,}"
    what = f"the answer to the {read['operation']} in frame {read['frame']} of flow {flow}"
    return f"{what} has no end here: {read['responses']:,}{of} responses seen"


def _mark(severity: str) -> str:
    style = "cyan" if severity == WAIVED else STYLES[Severity(severity)]
    return styled(f"{severity:6}", style)


def _summary(document: Document) -> str:
    icrc = document["icrc"]
    frames, roce = document["frames"], document["roce_frames"]
    text = f"{printable(document['file'])}: {frames:,} frames, {roce:,} RoCE"
    if not document["roce_frames"]:
        return text
    counts = ", ".join(f"{icrc[name]:,} {name}" for name in ("ok", "bad", "unchecked"))
    return f"{text}; ICRC {counts}"


def _print_flows(document: Document) -> None:
    found: Counter[int | None] = Counter()
    for group in document["groups"]:
        found[group["flow"]] += group["count"]
    rows = [{**flow, "number": i, "findings": found[i]} for i, flow in enumerate(document["flows"])]
    rows = sorted(sorted(rows, key=lambda row: -row["findings"])[:_FLOW_ROWS], key=_NUMBER)
    counts = {name: text for name, text in _COUNTS.items() if any(row[name] for row in rows)}
    counts["findings"] = "findings"
    headings = ("flow", "from", "to", "QPN", "service")
    numbers = ("path MTU", *counts.values())
    print_table(
        (*headings, *numbers),
        [
            (
                str(row["number"]),
                row["source"],
                row["destination"],
                f"{row['qpn']:#x}",
                row["service"] or "",
                str(row["path_mtu"] or ""),
                *(f"{row[name]:,}" for name in counts),
            )
            for row in rows
        ],
        right=len(numbers),
    )


def _verdict(document: Document, *, grouped: bool) -> str:
    counts = document["severities"]
    total = sum(counts.values())
    if not total:
        return styled("no findings", "green")
    groups = len(document["groups"])
    waived = document["waived"]
    parts = [
        styled(f"{counts[each] - waived[each]:,} {each}", STYLES[each])
        for each in Severity
        if counts[each] > waived[each]
    ]
    if any(waived.values()):
        parts.append(f"{sum(waived.values()):,} {WAIVED}")
    told = ", ".join(parts)
    if not grouped or groups == total:
        return f"{_counted(total, 'finding')}: {told}"
    return (
        f"{_counted(total, 'finding')}: {told}"
        f" (in {_counted(groups, 'group')}; see each with: --all)"
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
