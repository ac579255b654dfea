# SPDX-License-Identifier: BSD-2-Clause
"""A check for people: one line on the capture, its flows, its findings, and how many there are."""

from __future__ import annotations

from collections import Counter

from rich.markup import escape
from rich.table import Table

from roceproof.check_report import Document
from roceproof.conformance.rules import Severity
from roceproof.rules_command import STYLES
from roceproof.terminal import Terminal

_NUMBERS = ("QPN", "path MTU", "requests", "responses", "CNPs", "findings")


def print_report(document: Document, *, quiet: bool) -> None:
    """Print everything, or with `quiet` the findings alone."""
    console = Terminal()
    if not quiet:
        console.print(escape(_summary(document)), style="bold")
        if document["flows"]:
            console.print(_flows(document))
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
    text = f"{document['file']}: {document['frames']:,} frames, {document['roce_frames']:,} RoCE"
    if not document["roce_frames"]:
        return text
    counts = ", ".join(f"{icrc[name]:,} {name}" for name in ("ok", "bad", "unchecked"))
    return f"{text}; ICRC {counts}"


def _flows(document: Document) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("flow", "from", "to", "QPN", "service", *_NUMBERS[1:]):
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left")
    found = Counter(row["flow"] for row in document["findings"])
    for number, flow in enumerate(document["flows"]):
        table.add_row(
            str(number),
            escape(flow["source"]),
            escape(flow["destination"]),
            f"{flow['qpn']:#x}",
            flow["service"] or "",
            str(flow["path_mtu"] or ""),
            *(f"{flow[name]:,}" for name in ("requests", "responses", "cnps")),
            str(found[number] or ""),
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
