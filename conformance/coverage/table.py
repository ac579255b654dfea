# SPDX-License-Identifier: BSD-2-Clause
"""The coverpoints of table.toml, and the bins that they have for a device.

A dimension is a named list of values, each with what a device must claim for it; a coverpoint is
a dimension or a cross of several, or the bits of the fields of a record. A bin's name is its
values with `/` between them. Of bins that cannot be, or that nothing fills yet, the table says why.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

from roceproof.common.errors import RoceproofError
from roceproof.conformance.coverage.ranges import Ranges
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.targets.records_seen import bins_of
from roceproof.dpi.contract.fields import contract_fields

TABLE = Path(__file__).with_name("table.toml")
_BRACES = re.compile(r"\{(.*?)\}")
NO_WIDTH = "-"
"""The width of a device whose streams nobody clocks."""

_OPTIONAL = {"needs", "cross", "fields", "record", "impossible", "open"}


class TableError(RoceproofError):
    """The table is wrong; the text names the entry."""


@dataclass(frozen=True)
class Dimension:
    """Values in their order, each with the needs of a device for which it counts."""

    id: str
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    each: str = ""  # or values that follow from the device

    def values_for(self, scope: Scope) -> list[str]:
        match self.each:
            case "path_mtu":
                return [str(size) for size in scope.path_mtus]
            case "width":
                return [str(width) for width in scope.widths] or [NO_WIDTH]
            case "context":
                return [str(index) for index in range(scope.qps)]
            case "lane":
                return [f"{width}/{lane}" for width in scope.widths for lane in range(width // 8)]
            case "word":  # where a packet that is padded to four bytes can end
                places = ((width, range(1, width // 8, 4)) for width in scope.widths)
                return [f"{width}/{lane}" for width, lanes in places for lane in lanes]
        return [value for value, needs in self.values.items() if all(map(scope.allows, needs))]

    @cached_property
    def ranges(self) -> Ranges:
        """The classifier of a dimension whose values are classes of numbers."""
        return Ranges(list(self.values))


@dataclass(frozen=True)
class Exemption:
    """Bins that match a pattern, and why they are an exception."""

    bins: str
    why: str

    def covers(self, name: str) -> bool:
        """Whether a bin is one of them; `*` stands for anything, `{a, b}` for a or b."""
        return _matcher(self.bins).fullmatch(name) is not None


@cache
def _matcher(pattern: str) -> re.Pattern[str]:
    parts = _BRACES.split(pattern)  # every other one was in braces
    texts = [_regex(part) for part in parts]
    for at in range(1, len(parts), 2):
        texts[at] = "|".join(_regex(each) for each in parts[at].split(", "))
    return re.compile("".join(f"(?:{text})" for text in texts))


def _regex(glob: str) -> str:
    return translate(glob).removesuffix(r"\Z")


@dataclass(frozen=True)
class Point:
    id: str
    group: str
    says: str
    needs: tuple[str, ...]
    dimensions: tuple[Dimension, ...]
    impossible: tuple[Exemption, ...]
    open: tuple[Exemption, ...]

    def bins(self, scope: Scope) -> list[str]:
        """The bins that such a device can fill, as far as anybody knows."""
        if not all(map(scope.allows, self.needs)):
            return []
        values = [dimension.values_for(scope) for dimension in self.dimensions]
        names = ["/".join(each) for each in product(*values)]
        return [name for name in names if not any(out.covers(name) for out in self.impossible)]

    @cached_property
    def masks(self) -> Mapping[str, int]:
        """By field the bits that the first dimension names."""
        found: dict[str, int] = {}
        for value in self.dimensions[0].values:
            name, _, bit = value.rpartition(".")
            found[name] = found.get(name, 0) | 1 << int(bit)
        return found

    def why_open(self, name: str) -> str:
        """Why nothing fills a bin yet, '' if something does."""
        return next((out.why for out in self.open if out.covers(name)), "")


@dataclass(frozen=True)
class Table:
    """Dimensions and points by their ids, points in the order of the file."""

    dimensions: Mapping[str, Dimension]
    points: Mapping[str, Point]

    def groups(self) -> list[str]:
        """The groups in the order of the file."""
        return list(dict.fromkeys(point.group for point in self.points.values()))

    def ranges(self, dimension: str) -> Ranges:
        return self.dimensions[dimension].ranges

    def masks(self, point: str) -> Mapping[str, int]:
        """Of a point that shows the bits of fields: by field, the bits that it wants."""
        return self.points[point].masks


@cache
def load_table(path: Path = TABLE) -> Table:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    dimensions = {name: _dimension(name, row) for name, row in document["dimension"].items()}
    points: dict[str, Point] = {}
    group: dict[str, str] = {}
    for name, row in document["point"].items():
        row = group | row
        group = {"group": row["group"]}
        points[name] = _point(name, row, dimensions)
    return Table(dimensions, points)


def _dimension(name: str, row: Mapping[str, Any]) -> Dimension:
    match list(row):
        case ["bins"]:
            return Dimension(name, {value: tuple(n.split()) for value, n in row["bins"].items()})
        case ["ranges"]:
            Ranges(row["ranges"])
            return Dimension(name, dict.fromkeys(row["ranges"], ()))
        case ["numbers"]:
            return Dimension(name, dict.fromkeys(map(str, _numbers(row["numbers"])), ()))
        case ["each"]:
            return Dimension(name, each=row["each"])
    raise TableError(f"dimension {name}: expected one of bins, ranges, numbers, each")


def _point(name: str, row: Mapping[str, Any], dimensions: Mapping[str, Dimension]) -> Point:
    known = {"group", "says"} | _OPTIONAL
    if unknown := set(row) - known:
        raise TableError(f"point {name}: {unknown.pop()!r} is none of {sorted(known)}")
    try:
        if "record" in row:
            crossed: tuple[Dimension, ...] = (_of_record(row["record"]),)
        elif "fields" in row:
            crossed = (_bits(row["fields"]), dimensions["bit_value"])
        else:
            crossed = tuple(dimensions[each] for each in row.get("cross", [name]))
    except KeyError as missing:
        raise TableError(f"point {name}: there is no dimension {missing}") from None
    return Point(
        name,
        row["group"],
        row["says"],
        tuple(row.get("needs", "").split()),
        crossed,
        tuple(_exceptions(row.get("impossible", []))),
        tuple(_exceptions(row.get("open", []))),
    )


def _bits(fields: Sequence[Sequence[str]]) -> Dimension:
    values: dict[str, tuple[str, ...]] = {}
    for name, bits, *needs in fields:
        values |= {f"{name}.{bit}": tuple(" ".join(needs).split()) for bit in _numbers(bits)}
    return Dimension("bit", values)


def record_point(record: str) -> str:
    """The point that has the bins of a record of the contract."""
    return f"contract.{record.removesuffix('_t')}"


def _of_record(record: str) -> Dimension:
    """What of the fields of a record is to be seen, derived from the contract's package."""
    fields = contract_fields()[record].values()
    return Dimension(
        "field",
        {name: tuple(field.needs.split()) for field in fields for name in bins_of(field)},
    )


def _exceptions(rows: Sequence[Mapping[str, str]]) -> Iterator[Exemption]:
    for row in rows:
        yield Exemption(row["bins"], row["why"])


def _numbers(text: str) -> range:
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)
