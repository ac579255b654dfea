# SPDX-License-Identifier: BSD-2-Clause
"""What of a design was exercised at each width: figures by kind and module, and what was not."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from roceproof.conformance.code_coverage.exclusions import Exclusion
from roceproof.conformance.code_coverage.points import KINDS, Point

TOGGLE_BAR = 95.0
PORT_ENDS = ("_i", "_o")


@dataclass
class Figures:
    """Points that count, and those of them that were exercised."""

    points: int = 0
    hit: int = 0
    excluded: int = 0
    missed: list[Point] = field(default_factory=list)

    @property
    def percent(self) -> float:
        """Of those that count; of none, all."""
        return 100.0 * self.hit / self.points if self.points else 100.0

    def add(self, point: Point, *, is_hit: bool) -> None:
        self.points += 1
        self.hit += is_hit
        if not is_hit:
            self.missed.append(point)


@dataclass
class WidthReport:
    width: int
    kinds: dict[str, Figures] = field(default_factory=lambda: {kind: Figures() for kind in KINDS})
    modules: dict[str, dict[str, Figures]] = field(
        default_factory=lambda: defaultdict(lambda: {kind: Figures() for kind in KINDS})
    )
    ports: Figures = field(default_factory=Figures)

    def lacks(self) -> list[str]:
        found = []
        toggles = self.kinds["toggle"].percent
        if toggles < TOGGLE_BAR:
            found.append(f"{self.width} bit: {toggles:.1f} % of the toggles, bar {TOGGLE_BAR:g} %")
        if self.ports.missed:
            found.append(
                f"{self.width} bit: {len(self.ports.missed)} bits of contract ports never toggle: "
                + ", ".join(spans(self.ports.missed))
            )
        return found


def judge(
    width: int,
    points: Iterable[tuple[Point, int]],
    exclusions: Sequence[Exclusion],
    used: Counter[Exclusion],
) -> WidthReport:
    """The report of one width. A point that is exercised needs no exclusion and uses none."""
    report = WidthReport(width)
    listed = list(points)
    device = min((point.instance for point, _ in listed), key=len, default="")
    for point, times in listed:
        of_module = report.modules[point.module]
        exclusion = None
        if not times:
            exclusion = next((each for each in exclusions if each.covers(point, width)), None)
        for figures in (report.kinds[point.kind], of_module[point.kind]):
            if exclusion is not None:
                figures.excluded += 1
            else:
                figures.add(point, is_hit=times > 0)
        if exclusion is not None:
            used[exclusion] += 1
        elif _is_port(point, device):
            report.ports.add(point, is_hit=times > 0)
    return report


def _is_port(point: Point, device: str) -> bool:
    is_bit = point.kind == "toggle" and point.instance == device
    port, _, _field = point.signal.partition(".")  # a record's bits are those of its fields
    return is_bit and port.endswith(PORT_ENDS)


def spans(points: Iterable[Point]) -> list[str]:
    """Bits in a row as `name[7:0]`; a line or branch is its number."""
    told: list[str] = []
    ordered = sorted(set(points), key=lambda point: (point.signal, point.bit, point.line))
    for (signal, kind), group in groupby(ordered, key=lambda each: (each.signal, each.kind)):
        if kind != "toggle":
            told += sorted({str(each.line) for each in group}, key=int)
            continue
        bits = sorted({each.bit for each in group if each.name != signal})
        told += _runs(signal, bits) if bits else [signal]
    return told


def _runs(signal: str, bits: Sequence[int]) -> list[str]:
    runs: list[list[int]] = []
    for bit in bits:
        if runs and bit == runs[-1][1] + 1:
            runs[-1][1] = bit
        else:
            runs.append([bit, bit])
    return [f"{signal}[{low}]" if low == high else f"{signal}[{high}:{low}]" for low, high in runs]
