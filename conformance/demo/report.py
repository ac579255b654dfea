# SPDX-License-Identifier: BSD-2-Clause
"""What the demonstration leaves behind: ``result.json`` and a short table."""

import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table

from roceproof.common.terminal import Terminal
from roceproof.common.whole_file import whole_file

SCHEMA = 1


@dataclass(frozen=True)
class MessageResult:
    """One message: what was sent and what the receiver says it got."""

    service: str
    operation: str
    length: int
    pmtu: int
    start_psn: int
    sha256_sent: str
    sha256_received: str
    immediate_sent: int | None
    immediate_received: int | None
    ok: bool


@dataclass(frozen=True)
class PeerFacts:
    """Which receiver took the messages."""

    backend: str
    accel: str
    kernel: str


def write_result(path: Path, peer: PeerFacts, results: list[MessageResult], *, ok: bool) -> None:
    """Write the machine-readable result of the whole run."""
    document = {
        "schema": SCHEMA,
        "peer": asdict(peer),
        "messages": [asdict(result) for result in results],
        "ok": ok,
    }
    with whole_file(path) as part:
        part.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def print_table(results: list[MessageResult]) -> None:
    """Print one row per service, path MTU and operation on stdout."""
    rows: dict[tuple[str, int, str], list[MessageResult]] = defaultdict(list)
    for result in results:
        rows[result.service, result.pmtu, result.operation].append(result)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("service", "path MTU", "operation", "landed", "bytes"):
        table.add_column(
            heading, justify="left" if heading in ("service", "operation") else "right"
        )
    for (service, pmtu, operation), group in rows.items():
        landed = sum(result.ok for result in group)
        style = None if landed == len(group) else "red"
        table.add_row(
            service,
            str(pmtu),
            operation,
            f"{landed}/{len(group)}",
            f"{sum(result.length for result in group):,}",
            style=style,
        )
    Terminal().print(table)
