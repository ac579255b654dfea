# SPDX-License-Identifier: BSD-2-Clause
"""The fields of the contract's records, as the contract's own package declares them.

What a field may hold follows from its width, but for the bounds of fields.toml. From here
plans draw, memory gets its addresses and keys, and coverage has its bins, so that a field that
joins a record is stimulated and counted without anybody writing a case.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from random import Random
from typing import Any

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REPOSITORY

PACKAGE = REPOSITORY / "rtl" / "roceproof_dut_pkg.sv"
BOUNDS = Path(__file__).with_name("fields.toml")
_TYPE = re.compile(
    r"typedef\s+(enum\s+logic\s*\[(\d+):0\]|struct\s+packed)\s*\{(.*?)\}\s*(\w+);", re.DOTALL
)
_MEMBER = re.compile(r"^\s*(\w+)\s*(?:\[(\d+):0\])?\s+(\w+);", re.MULTILINE)
_COMMENT = re.compile(r"//.*")
_RESERVED = re.compile(r"reserved\d*")
_CORNER = 0.5


class ContractError(RoceproofError):
    """Package and bounds do not fit each other; the text names the field."""


@dataclass(frozen=True)
class Field:
    """One number of a record, and the least and the greatest value that it may have."""

    record: str
    name: str
    at: int  # its lowest bit in the record
    width: int
    first: int = 0
    last: int = 0
    step: int = 1
    needs: str = ""
    has_ends: bool = True
    """Whether the ends of its range can be asked for, and not only its bits."""
    why: str = ""
    """Why nothing is derived for it, '' if something is."""

    def of(self, record: int) -> int:
        return record >> self.at & (1 << self.width) - 1

    @property
    def bits(self) -> list[int]:
        """The bits that are not the same in all its values."""
        lowest = self.step.bit_length() - 1
        return [bit for bit in range(lowest, self.width) if self.first >> bit != self.last >> bit]

    @property
    def ends(self) -> dict[str, int]:
        """By name the values that have a bin of their own."""
        if not self.has_ends:
            return {}
        return {"first": self.first, "next": self.first + self.step, "last": self.last}

    @cached_property
    def corners(self) -> tuple[int, ...]:
        """Both ends and what lies beside them, and each bit alone and missing."""
        ends = (self.first, self.first + self.step, self.last - self.step, self.last)
        alone = [self.first | 1 << bit for bit in self.bits]
        missing = [self.last & ~(1 << bit) for bit in self.bits]
        return tuple(n for n in (*ends, *alone, *missing) if self.first <= n <= self.last)

    def draw(self, random: Random) -> int:
        """Any value, a corner as often as another."""
        if random.random() < _CORNER:
            return random.choice(self.corners)
        return random.randrange(self.first, self.last + 1, self.step)


@cache
def contract_fields() -> Mapping[str, Mapping[str, Field]]:
    """By record and name, in the order of the package."""
    return bounded(
        _declared(PACKAGE.read_text(encoding="utf-8")),
        tomllib.loads(BOUNDS.read_text(encoding="utf-8")),
    )


def contract_field(record: str, name: str) -> Field:
    return contract_fields()[record][name]


def _declared(text: str) -> dict[str, list[tuple[str, int]]]:
    """The members of each structure and their widths."""
    widths: dict[str, int] = {}
    found: dict[str, list[tuple[str, int]]] = {}
    for is_enum, high, body, name in _TYPE.findall(_COMMENT.sub("", text)):
        if is_enum.startswith("enum"):
            widths[name] = int(high) + 1
            continue
        members = [
            (member, widths[kind] if kind != "logic" else int(top or 0) + 1)
            for kind, top, member in _MEMBER.findall(body)
        ]
        found[name] = members
        widths[name] = sum(width for _, width in members)
    return found


def bounded(
    declared: Mapping[str, Iterable[tuple[str, int]]], bounds: Mapping[str, Any]
) -> dict[str, dict[str, Field]]:
    """The records of the bounds, with a field for each member."""
    found: dict[str, dict[str, Field]] = {}
    for record, rows in bounds.items():
        members = [*declared[record]]
        if unknown := rows.keys() - {name for name, _ in members}:
            raise ContractError(f"{BOUNDS.name}: {record} has no {unknown.pop()}")
        at = sum(width for _, width in members)
        fields = found[record] = {}
        for name, width in members:
            at -= width
            said = {"last": (1 << width) - 1, **rows.get(name, {})}
            if _RESERVED.fullmatch(name):
                said["why"] = "reserved: always zero"
            fields[name] = Field(record, name, at, width, **said)
    return found
