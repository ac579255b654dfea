# SPDX-License-Identifier: BSD-2-Clause
"""A check for people: one line on the capture, its flows, its findings, and how many there are."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter

from roceproof.check_report import Document
from roceproof.check_styles import STYLES
from roceproof.common.plain import print_table, styled
from roceproof.common.printable import printable
from roceproof.conformance.rules.table import Severity

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
    if not quiet:
        print(styled(_summary(document), "bold"))
        if document["flows"]:
            _print_flows(document)
            if len(document["flows"]) > _FLOW_ROWS:
                print(f"... of {len(document['flows']):,} flows; see all with: --json")
            print()
    for row in document["findings"]:
        mark = styled(f"{row['severity']:6}", STYLES[row["severity"]])
        print(f"{mark} {row['message']}")
    if document["left_out"]:
        print(f"... and {document['left_out']:,} more; see them with: --max 0")
    if not quiet:
        print(_verdict(document))


def _summary(document: Document) -> str:
    icrc = document["icrc"]
    frames, roce = document["frames"], document["roce_frames"]
    text = f"{printable(document['file'])}: {frames:,} frames, {roce:,} RoCE"
    if not document["roce_frames"]:
        return text
    counts = ", ".join(f"{icrc[name]:,} {name}" for name in ("ok", "bad", "unchecked"))
    return f"{text}; ICRC {counts}"


def _print_flows(document: Document) -> None:
    found = Counter(row["flow"] for row in document["findings"])
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


def _verdict(document: Document) -> str:
    counts = document["severities"]
    total = sum(counts.values())
    if not total:
        return styled("no findings", "green")
    return f"{total:,} findings: " + ", ".join(
        styled(f"{counts[each]:,} {each}", STYLES[each]) for each in Severity if counts[each]
    )
