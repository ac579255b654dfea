# SPDX-License-Identifier: BSD-2-Clause
"""Which bins are filled, which are gaps and which are known to be open, by point and group."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roceproof.conformance.coverage.bin_summary import boxes
from roceproof.conformance.coverage.depths import told_depth
from roceproof.conformance.coverage.document import Coverage
from roceproof.conformance.coverage.table import Point, Table, load_table


@dataclass(frozen=True)
class Standing:
    """One point for one device. `open` says of each empty bin that nothing fills yet why."""

    point: Point
    axes: tuple[tuple[str, ...], ...]
    hits: Mapping[str, int]
    """Of every bin that the device has."""
    gaps: tuple[str, ...]
    open: Mapping[str, str]
    closed: tuple[str, ...]
    """Bins that the table calls open and that are filled."""

    @property
    def filled(self) -> int:
        """How many bins have hits."""
        return len(self.hits) - len(self.gaps) - len(self.open)

    def told_gaps(self) -> list[str]:
        """The gaps, as few boxes."""
        return self.told(self.gaps)

    def told(self, names: tuple[str, ...]) -> list[str]:
        """Some of its bins, as few boxes."""
        split = {"/".join(values): values for values in self._cross()}
        return boxes([split[name] for name in names], self.axes) if names else []

    def _cross(self) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = [()]
        for axis in self.axes:
            found = [(*before, value) for before in found for value in axis]
        return found


@dataclass(frozen=True)
class Summary:
    """All points of a device, in the order of the table."""

    coverage: Coverage
    standings: tuple[Standing, ...]

    @property
    def gaps(self) -> int:
        """How many bins are empty without being open."""
        return sum(len(each.gaps) for each in self.standings)

    @property
    def title(self) -> str:
        """The device and its data widths."""
        scope = self.coverage.scope
        widths = " and ".join(map(str, scope.widths))
        where = f"{self.coverage.device}, {widths} bit" if widths else self.coverage.device
        return f"{self.coverage.target}: {where}"

    def groups(self) -> dict[str, list[Standing]]:
        found: dict[str, list[Standing]] = {}
        for each in self.standings:
            found.setdefault(each.point.group, []).append(each)
        return found

    @property
    def depth(self) -> str | None:
        """How much the device ever had at once."""
        return told_depth(self.coverage)

    def to_json(self) -> dict[str, Any]:
        """Figures by group, and the gaps by point."""
        return {
            "depth": self.depth,
            "groups": {
                name: {
                    "bins": sum(len(each.hits) for each in found),
                    "filled": sum(each.filled for each in found),
                    "open": sum(len(each.open) for each in found),
                }
                for name, found in self.groups().items()
            },
            "empty": {each.point.id: list(each.gaps) for each in self.standings if each.gaps},
            "open_but_filled": {
                each.point.id: list(each.closed) for each in self.standings if each.closed
            },
        }


def summarized(coverage: Coverage, *, table: Table | None = None) -> Summary:
    """What a run has left empty."""
    points = (table or load_table()).points.values()
    standings = (_standing(point, coverage) for point in points)
    return Summary(coverage, tuple(each for each in standings if each.hits))


def _standing(point: Point, coverage: Coverage) -> Standing:
    names = point.bins(coverage.scope)
    if not names:
        return Standing(point, (), {}, (), {}, ())
    counted = coverage.counts.hits(point.id)
    hits = {name: counted.get(name, 0) for name in names}
    why = {name: point.why_open(name) for name in names}
    return Standing(
        point=point,
        axes=tuple(tuple(each.values_for(coverage.scope)) for each in point.dimensions),
        hits=hits,
        gaps=tuple(name for name in names if not hits[name] and not why[name]),
        open={name: why[name] for name in names if not hits[name] and why[name]},
        closed=tuple(name for name in names if hits[name] and why[name]),
    )
