# SPDX-License-Identifier: BSD-2-Clause
"""Outcomes counted, per traffic and per fault, and the bars that they must reach."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from roceproof.conformance.calibration.judge import Verdict
from roceproof.conformance.calibration.plan import Richness
from roceproof.conformance.calibration.run import Outcome

_COLUMNS = [verdict.value for verdict in Verdict]
_GOOD = (Verdict.NAMED, Verdict.CLASS)
SLIP = "S65"


@dataclass(frozen=True)
class Bar:
    """A share that must be reached, by the devices that it is about."""

    words: str
    least: float
    about: Callable[[Outcome], bool]
    good: tuple[Verdict, ...] = _GOOD


def _rich(found: Outcome) -> bool:
    return found.richness == Richness.RICH.value


BARS = (
    Bar("no name is wrong", 1.0, lambda found: True, tuple({*Verdict} - {Verdict.WRONG})),
    Bar(
        "clean devices are left in peace",
        1.0,
        lambda found: not found.faults,
        (Verdict.CLEAN, Verdict.CLASS, Verdict.UNDECIDED),
    ),
    Bar("single faults, rich", 0.98, lambda found: _rich(found) and len(found.faults) == 1),
    Bar("pairs, rich", 0.95, lambda found: _rich(found) and len(found.faults) == 2),
    Bar("slips alone, rich", 0.99, lambda found: _rich(found) and found.faults == (SLIP,)),
)


@dataclass(frozen=True)
class Reached:
    """How a bar was met."""

    bar: Bar
    count: int
    of: int

    @property
    def share(self) -> float:
        """Of 1."""
        return self.count / self.of if self.of else 1.0

    @property
    def enough(self) -> bool:
        return self.share >= self.bar.least

    def __str__(self) -> str:
        mark = "" if self.enough else f", {self.bar.least:.0%} wanted"
        return f"{self.bar.words}: {self.count} of {self.of} ({self.share:.2%}{mark})"


def reached(outcomes: Sequence[Outcome]) -> list[Reached]:
    found = []
    for bar in BARS:
        about = [each for each in outcomes if bar.about(each)]
        found.append(Reached(bar, sum(each.verdict in bar.good for each in about), len(about)))
    return found


def by_traffic(outcomes: Iterable[Outcome]) -> list[list[str]]:
    """A row for each richness and number of faults that show."""
    counts: dict[tuple[str, int], Counter[Verdict]] = {}
    for found in outcomes:
        counts.setdefault((found.richness, len(found.faults)), Counter())[found.verdict] += 1
    words = ("none", "one", "two", "three")
    return [
        [richness.value, words[faults], *_cells(counts[richness.value, faults])]
        for richness in Richness
        for faults in range(len(words))
        if (richness.value, faults) in counts
    ]


def by_fault(outcomes: Iterable[Outcome], *, rich: bool) -> list[list[str]]:
    """A row for each fault that showed alone."""
    counts: dict[str, Counter[Verdict]] = {}
    for found in outcomes:
        if len(found.faults) == 1 and _rich(found) == rich:
            counts.setdefault(found.faults[0], Counter())[found.verdict] += 1
    return [[fault, *_cells(counts[fault])] for fault in sorted(counts)]


def _cells(counts: Counter[Verdict]) -> list[str]:
    return [str(sum(counts.values())), *(str(counts[verdict]) for verdict in Verdict)]


def lines(rows: Sequence[Sequence[str]], head: Sequence[str]) -> list[str]:
    """Rows as a Markdown table, words left and numbers right."""
    everything = [[*head, "devices", *_COLUMNS], *rows]
    widths = [max(len(row[at]) for row in everything) for at in range(len(everything[0]))]

    def line(row: Sequence[str]) -> str:
        cells = [
            cell.ljust(width) if at < len(head) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"| {' | '.join(cells)} |"

    rule = [
        "-" * width if at < len(head) else "-" * (width - 1) + ":"
        for at, width in enumerate(widths)
    ]
    return [line(everything[0]), line(rule), *(line(row) for row in everything[1:])]
