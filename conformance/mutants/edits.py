# SPDX-License-Identifier: BSD-2-Clause
"""The three ways in which a mutant changes a source file, and what tells that it matters.

Each names its place by text that occurs exactly once in the file, so that a mutant whose
place has changed is refused and never goes astray.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from roceproof.common.errors import RoceproofError


class MutantError(RoceproofError):
    """A mutant cannot be used. The text names it, its file and what does not fit."""


@dataclass(frozen=True, kw_only=True)
class Declare:
    """Text that stands behind `after` whatever is selected; equal ones are made once."""

    file: str
    after: str
    declare: str


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Statements behind `after` that are executed only by the mutant."""

    file: str
    after: str
    statement: str


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """`expression`, a part of `line` or all of it, is `becomes` in the mutant."""

    file: str
    line: str
    expression: str
    becomes: str


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """`when` is true at a clock edge at which the mutant may do something else.

    Where it never holds, the mutant is the healthy device.
    """

    file: str
    when: str


Edit = Declare | Statement | Replacement
_KINDS: tuple[type[Edit], ...] = (Declare, Statement, Replacement)


def edit_of(owner: str, table: Mapping[str, Any]) -> Edit:
    """One edit from its table; its keys say which kind it is."""
    kinds = {frozenset(field.name for field in fields(kind)): kind for kind in _KINDS}
    if "expression" in table:
        table = {"line": table["expression"], **table}
    kind = kinds.get(frozenset(table))
    if kind is None:
        forms = "; ".join(", ".join(field.name for field in fields(kind)) for kind in _KINDS)
        raise MutantError(f"{owner}: an edit with {', '.join(table)}; expected one of: {forms}")
    _require_texts(owner, table)
    return kind(**table)


def trigger_of(owner: str, file: str, when: object) -> Trigger:
    _require_texts(owner, {"when_file": file, "when": when})
    return Trigger(file=file, when=str(when))


def _require_texts(owner: str, table: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if type(value) is not str or not value.strip():
            raise MutantError(f"{owner}: {key} is {value!r}; expected text")
