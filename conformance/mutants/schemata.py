# SPDX-License-Identifier: BSD-2-Clause
"""Mutant schemata: one source text that holds every mutant, of which a run selects one.

Declarations go in first, so that the places of all other edits may lie in them. Replacements
of the same expression are chained, one inside the other is composed, and any other overlap
is refused. The device's own assertions hold while no mutant is selected: a foreign device
has none, and it is the wire that has to convict.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from roceproof.conformance.mutants.edits import Declare, MutantError, Replacement, Statement

PACKAGE = "roceproof_mutant_pkg"
_SELECTED = f"{PACKAGE}::selected"
_RESET = "disable iff (!rst_ni)"


@dataclass(frozen=True)
class Placed:
    """What a mutant does to the text from `start` to `stop`; a statement has no extent."""

    start: int
    stop: int
    number: int
    owner: str
    text: str

    @property
    def is_statement(self) -> bool:
        """Whether it adds instead of replacing."""
        return self.start == self.stop


def declared(source: str, declarations: Iterable[tuple[str, Declare]]) -> str:
    behind: dict[int, list[str]] = {}
    for owner, edit in declarations:
        at = _find(source, edit.after, owner=owner, file=edit.file) + len(edit.after)
        texts = behind.setdefault(at, [])
        if edit.declare not in texts:
            texts.append(edit.declare)
    for at in sorted(behind, reverse=True):
        source = source[:at] + "\n" + "\n".join(behind[at]) + source[at:]
    return source


def metamutant(source: str, edits: Sequence[tuple[int, str, Statement | Replacement]]) -> str:
    """The source with every fault in it; edits are given with their mutant's number and id."""
    placed = [_place(source, *edit) for edit in edits]
    file = next((edit.file for _, _, edit in edits), "")
    _refuse_overlaps(placed, file)
    return _render(source, 0, len(source), placed).replace(
        _RESET, _RESET[:-1] + f" || {_SELECTED} != 0)"
    )


def _find(text: str, what: str, *, owner: str, file: str) -> int:
    count = text.count(what)
    if count != 1:
        raise MutantError(f"{owner}: {file} has {what!r} {count} times; expected exactly once")
    return text.index(what)


def _place(source: str, number: int, owner: str, edit: Statement | Replacement) -> Placed:
    if isinstance(edit, Statement):
        at = _find(source, edit.after, owner=owner, file=edit.file) + len(edit.after)
        return Placed(at, at, number, owner, edit.statement)
    start = _find(source, edit.line, owner=owner, file=edit.file)
    start += _find(edit.line, edit.expression, owner=owner, file=f"the line in {edit.file}")
    return Placed(start, start + len(edit.expression), number, owner, edit.becomes)


def _refuse_overlaps(placed: list[Placed], file: str) -> None:
    for outer in placed:
        for inner in placed:
            crosses = outer.start < inner.start < outer.stop < inner.stop
            splits = inner.is_statement and outer.start < inner.start < outer.stop
            if crosses or splits:
                raise MutantError(f"{outer.owner} and {inner.owner}: their edits of {file} overlap")


def _render(source: str, start: int, stop: int, placed: list[Placed]) -> str:
    """The text from start to stop with what lies inside it."""
    parts = []
    at = start
    for first, last, group, inside in _outermost(placed):
        parts.append(source[at:first])
        at = last
        if first == last:
            parts += (
                f"\n if ({_SELECTED} == {one.number}) begin\n{one.text}\n end" for one in group
            )
        else:
            faults = "".join(f"{_SELECTED} == {one.number} ? ({one.text}) : " for one in group)
            parts.append(f"({faults}({_render(source, first, last, inside)}))")
    return "".join((*parts, source[at:stop]))


def _outermost(placed: list[Placed]) -> Iterator[tuple[int, int, list[Placed], list[Placed]]]:
    """Extents that lie in no other, in order: who wants them, and what lies inside."""
    left = sorted(placed, key=lambda one: (one.start, not one.is_statement, -one.stop, one.number))
    while left:
        extent = (left[0].start, left[0].stop)
        group = [one for one in left if (one.start, one.stop) == extent]
        inside = [
            one
            for one in left
            if one not in group
            and extent[0] <= one.start
            and one.stop <= extent[1]
            and not one.is_statement
        ]
        yield *extent, group, inside
        left = [one for one in left if one not in group and one not in inside]
