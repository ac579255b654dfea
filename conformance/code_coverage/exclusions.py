# SPDX-License-Identifier: BSD-2-Clause
"""What need not be exercised, and why: rtl/coverage.toml. An entry that excludes nothing is wrong.

[[exclude]]
kind = "toggle"             # line, branch or toggle
module = "roce_endpoint"    # as in a shell: * for anything; any if it is not there
name = "port_gid_i[127:32]" # of a bit or a span; of a line or branch, its number; "a, b" for both
widths = [64]               # all if it is not there
why = "..."
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path
from re import Pattern
from re import compile as compiled

from roceproof.common.errors import RoceproofError
from roceproof.conformance.code_coverage.points import KINDS, Point

_SPAN = compiled(r"(.*)\[(\d+):(\d+)\]")


class ExclusionError(RoceproofError):
    """The table of exclusions is wrong; the text names the entry."""


@dataclass(frozen=True)
class Exclusion:
    kind: str
    module: str
    name: str
    why: str
    widths: tuple[int, ...] = ()

    def covers(self, point: Point, width: int) -> bool:
        return (
            self.kind == point.kind
            and (not self.widths or width in self.widths)
            and _matcher(self.module).fullmatch(point.module) is not None
            and self._names(point)
        )

    def _names(self, point: Point) -> bool:
        return any(_is_named(point, name) for name in self.name.split(", "))

    def __str__(self) -> str:
        return f"{self.kind} {self.module} {self.name}"


def _is_named(point: Point, name: str) -> bool:
    if point.kind != "toggle":
        return _matcher(name).fullmatch(str(point.line)) is not None
    if span := _SPAN.fullmatch(name):
        is_inside = int(span[3]) <= point.bit <= int(span[2])
        return is_inside and _matcher(span[1]).fullmatch(point.signal) is not None
    return _matcher(name).fullmatch(point.name) is not None


@cache
def _matcher(pattern: str) -> Pattern[str]:
    # An index is no class of characters here.
    return compiled(translate(pattern.replace("[", "[[]")))


def load_exclusions(path: Path) -> Sequence[Exclusion]:
    found = []
    for row in tomllib.loads(path.read_text(encoding="utf-8")).get("exclude", []):
        widths = tuple(row.pop("widths", ()))
        try:
            exclusion = Exclusion(**{"module": "*", **row}, widths=widths)
        except TypeError as error:
            raise ExclusionError(f"{path}: {row}: {error}") from None
        if exclusion.kind not in KINDS or not exclusion.why:
            raise ExclusionError(f"{path}: {exclusion}: needs a kind of {KINDS}, and a reason")
        found.append(exclusion)
    return found
