# SPDX-License-Identifier: BSD-2-Clause
"""PSN over time of one flow, as coordinates and SVG path data for the page's template.

Requests, their repetitions and the responses to them are one path each: a dot
is a stroke of no length with round ends. Flows of any length give a bounded
drawing; packets with findings are never left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from roceproof.conformance.review.ladder import Ladder, Row
from roceproof.conformance.review.story import Kind

WIDTH, HEIGHT = 900, 220
LEFT, RIGHT, TOP, BOTTOM = 70, 10, 10, 30
_DOTS = 4000


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Marked:
    """A packet with findings, drawn as a ring that leads to its row."""

    x: float
    y: float
    row: Row


@dataclass(frozen=True, slots=True)
class PsnPlot:
    """One drawing of WIDTH by HEIGHT."""

    title: str
    paths: dict[str, str]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    marked: Sequence[Marked]


class _Axis:
    """Maps values to coordinates."""

    def __init__(self, values: Sequence[float], begin: float, end: float) -> None:
        self._low = min(values)
        self._scale = (end - begin) / ((max(values) - self._low) or 1)
        self._begin = begin
        self._high = max(values)

    def at(self, value: float) -> float:
        return round(self._begin + (value - self._low) * self._scale, 1)

    def ticks(self, *, whole: bool) -> Iterator[Tick]:
        """About five round values; the only one, if all are equal."""
        if self._high == self._low:
            yield Tick(self.at(self._low), f"{self._low:g}" if not whole else str(round(self._low)))
            return
        step = 10 ** floor(log10(self._high - self._low))
        while (self._high - self._low) / step < 4 and not (whole and step <= 1):
            step /= 2
        if whole:
            step = max(1, round(step))
        for count in range(ceil(self._low / step), floor(self._high / step) + 1):
            value = count * step
            yield Tick(self.at(value), f"{value:g}" if not whole else str(round(value)))


def psn_plots(ladder: Ladder) -> Iterator[PsnPlot]:
    """One plot for each flow that carries requests, in the order of the ladder's flows."""
    plotted: dict[int, list[Row]] = {}
    for row in ladder.rows:
        place = ladder.answered[row.flow] if row.kind is Kind.RESPONSE else row.flow
        if row.psn is not None and place is not None and row.kind in (Kind.REQUEST, Kind.RESPONSE):
            plotted.setdefault(place, []).append(row)
    for place, rows in sorted(plotted.items()):
        if any(row.kind is Kind.REQUEST for row in rows):
            yield _plot(str(ladder.flows[place]), rows)


def _plot(title: str, rows: Sequence[Row]) -> PsnPlot:
    x = _Axis([row.seconds for row in rows], LEFT, WIDTH - RIGHT)
    y = _Axis([row.psn or 0 for row in rows], HEIGHT - BOTTOM, TOP)
    stride = max(1, len(rows) // _DOTS)
    paths: dict[str, list[str]] = {"request": [], "copy": [], "response": []}
    for place, row in enumerate(rows):
        if place % stride == 0 or row.marks:
            name = "copy" if row.copy else row.kind.value
            paths[name].append(f"M{x.at(row.seconds)} {y.at(row.psn or 0)}h0")
    return PsnPlot(
        title,
        {name: "".join(dots) for name, dots in paths.items()},
        list(x.ticks(whole=False)),
        list(y.ticks(whole=True)),
        [Marked(x.at(row.seconds), y.at(row.psn or 0), row) for row in rows if row.marks],
    )
