# SPDX-License-Identifier: BSD-2-Clause
"""Functional coverage on one screen: percent by group, and what is empty."""

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from roceproof.common.terminal import Terminal
from roceproof.conformance.coverage.summary import Standing, Summary

_LINES, _WIDTH = 12, 96


def print_reach(summary: Summary, *, page: Path | None = None) -> None:
    """Print it; `page` is where the rest stands."""
    console = Terminal()
    rows = {name: _figures(found) for name, found in summary.groups().items()}
    bins, filled, waiting = (sum(row[at] for row in rows.values()) for at in range(3))
    console.print(escape(f"coverage of {summary.title}: {_told(bins, filled)}"))
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("group")
    for heading in ("bins", "filled", "%", "open"):
        table.add_column(heading, justify="right")
    for name, (all_bins, full, left_open) in rows.items():
        style = "green" if full == all_bins else "yellow" if full + left_open == all_bins else "red"
        percent = f"[{style}]{_percent(all_bins, full)}[/]"
        table.add_row(name, str(all_bins), str(full), percent, str(left_open or ""))
    console.print(table)
    _print_gaps(console, summary)
    for standing in summary.standings:
        if standing.closed:
            names = ", ".join(standing.told(standing.closed))
            console.print(escape(f"open in the table, but filled: {standing.point.id} {names}"))
    if waiting:
        console.print(f"{waiting} bins are open: nothing fills them yet, the table says why")
    if summary.depth is not None:
        console.print(summary.depth, markup=False)
    if page is not None:
        console.print(escape(str(page)), markup=False)


def _print_gaps(console: Terminal, summary: Summary) -> None:
    lacking = [each for each in summary.standings if each.gaps]
    if not lacking:
        return
    console.print("empty:")
    for standing in lacking[:_LINES]:
        console.print(f"  {_gap_line(standing)}", markup=False)
    if len(lacking) > _LINES:
        console.print(f"  ... and in {len(lacking) - _LINES} more points")


def _gap_line(standing: Standing) -> str:
    head = f"{standing.point.id} ({len(standing.gaps)} of {len(standing.hits)}): "
    words = standing.told_gaps()
    line = head + "; ".join(words)
    if len(line) <= _WIDTH:
        return line
    kept: list[str] = []
    for word in words:
        if len(head + "; ".join([*kept, word])) > _WIDTH - 12:
            break
        kept.append(word)
    if not kept:
        return f"{line[: _WIDTH - 4]} ..."
    return f"{head}{'; '.join(kept)}; {len(words) - len(kept)} more"


def _figures(found: list[Standing]) -> tuple[int, int, int]:
    return (
        sum(len(each.hits) for each in found),
        sum(each.filled for each in found),
        sum(len(each.open) for each in found),
    )


def _told(bins: int, filled: int) -> str:
    return f"{filled} of {bins} bins, {_percent(bins, filled)} %"


def _percent(bins: int, filled: int) -> str:
    """Rounded down, so that only what is whole is 100."""
    return f"{1000 * filled // max(1, bins) / 10:.1f}"
