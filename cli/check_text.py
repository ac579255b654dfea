# SPDX-License-Identifier: BSD-2-Clause
"""A check for people: one line on the capture, its flows, its findings, and how many there are."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter

from rich.markup import escape
from rich.table import Table

from roceproof.check_report import Document
from roceproof.common.printable import printable
from roceproof.common.terminal import Terminal
from roceproof.conformance.rules.table import Severity
from roceproof.rules_command import STYLES

_FLOW_ROWS = 40
_NUMBER = itemgetter("number")
_COUNTS = {
    "requests": "requests",
    "responses": "responses",
    "copies": "copies",
    "naks": "NAKs",
    "rnr_naks": "RNR NAKs",
    "cnps": "CNPs",
}


def print_report(document: Document, *, quiet: bool) -> None:
    """Print everything, or with `quiet` the findings alone."""
    console = Terminal()
    if not quiet:
        console.print(escape(_summary(document)), style="bold")
        if document["flows"]:
            console.print(_flows(document))
            if len(document["flows"]) > _FLOW_ROWS:
                console.print(f"... of {len(document['flows']):,} flows; see all with: --json")
            console.print()
    for row in document["findings"]:
        style = STYLES[Severity(row["severity"])]
        console.print(f"[{style}]{row['severity']:6}[/] {escape(row['message'])}")
    if document["left_out"]:
        console.print(f"... and {document['left_out']:,} more; see them with: --max 0")
    if not quiet:
        console.print(_verdict(document))


def _summary(document: Document) -> str:
    icrc = document["icrc"]
    frames, roce = document["frames"], document["roce_frames"]
    text = f"{printable(document['file'])}: {frames:,} frames, {roce:,} RoCE"
    if not document["roce_frames"]:
        return text
    counts = ", ".join(f"{icrc[name]:,} {name}" for name in ("ok", "bad", "unchecked"))
    return f"{text}; ICRC {counts}"


def _flows(document: Document) -> Table:
    found = Counter(row["flow"] for row in document["findings"])
    rows = [{**flow, "number": i, "findings": found[i]} for i, flow in enumerate(document["flows"])]
    rows = sorted(sorted(rows, key=lambda row: -row["findings"])[:_FLOW_ROWS], key=_NUMBER)
    counts = {name: text for name, text in _COUNTS.items() if any(row[name] for row in rows)}
    counts["findings"] = "findings"
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("flow", "from", "to", "QPN", "service"):
        table.add_column(heading)
    for heading in ("path MTU", *counts.values()):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            str(row["number"]),
            escape(row["source"]),
            escape(row["destination"]),
            f"{row['qpn']:#x}",
            row["service"] or "",
            str(row["path_mtu"] or ""),
            *(f"{row[name]:,}" for name in counts),
        )
    return table


def _verdict(document: Document) -> str:
    counts = document["severities"]
    total = sum(counts.values())
    if not total:
        return "[green]no findings[/]"
    return f"{total:,} findings: " + ", ".join(
        f"[{STYLES[each]}]{counts[each]:,} {each}[/]" for each in Severity if counts[each]
    )
