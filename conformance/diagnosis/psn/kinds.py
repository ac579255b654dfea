# SPDX-License-Identifier: BSD-2-Clause
"""Wrong steps whose place says it all: behind one kind of packet, or at the end of the range.

Neither has a signature of its own. Losses and stalls choose their places otherwise, so where
every packet of a kind is followed by the same wrong step, and no other is, they did not do it.
"""

from collections.abc import Callable, Iterator, Sequence

from roceproof.conformance.diagnosis.psn.early_wrap import wraps_early
from roceproof.conformance.diagnosis.psn.steps import Step
from roceproof.conformance.diagnosis.psn.timeline import Sent
from roceproof.conformance.wire.headers import ImmDt
from roceproof.conformance.wire.opcodes import Family, Position
from roceproof.conformance.wire.psn import PSN_MODULUS

BY_KIND = "PSN-02"
AT_THE_END = "PSN-03"
PLACED = frozenset({BY_KIND, AT_THE_END})

_CASES = 4
_OTHERS = 3


def by_kind(steps: Sequence[Step], least: int = _CASES) -> str | None:
    """In words, behind which packets all steps are wrong alike, and no others; None if none."""
    wrong = {id(step) for step in steps if step.wrong}
    errors = {step.taken - (step.healthy or 1) for step in steps if step.wrong}
    if len(wrong) < least or len(errors) != 1 or len(steps) < len(wrong) + _OTHERS:
        return None
    for words, holds in _kinds(steps):
        if {id(step) for step in steps if holds(step.before)} == wrong:
            return words
    return None


def at_the_end(steps: Sequence[Step]) -> bool:
    """Whether what is wrong is the step from the highest PSN to 0, and whether others are right."""
    wrong = [step for step in steps if step.wrong]
    right = len(steps) - len(wrong)
    return bool(wrong) and right >= _OTHERS and all(map(_ends_the_range, wrong))


def _ends_the_range(step: Step) -> bool:
    due = (step.before.psn + (step.healthy or 1)) % PSN_MODULUS
    near = due in (0, PSN_MODULUS - 1) and abs(step.taken - (step.healthy or 1)) == 1
    return near or wraps_early(step.before.psn, step.after.psn, step.healthy or 1)


Kind = Callable[[Sent], bool]


def _kinds(steps: Sequence[Step]) -> Iterator[tuple[str, Kind]]:
    yield "every packet with immediate data", lambda sent: ImmDt in sent.row.headers
    for family in (Family.SEND, Family.WRITE):
        yield f"every {family.name} packet", _of_family(family)
    for words, position in (("begins", Position.FIRST), ("ends", Position.LAST)):
        yield f"every packet that {words} a message", _with(position)
    for position in (Position.FIRST, Position.MIDDLE, Position.LAST, Position.ONLY):
        yield f"every {position.name} packet", _at(position)
    for row in {step.before.row.value: step.before.row for step in steps}.values():
        yield f"every {row.name}", _of_opcode(row.value)


def _of_family(family: Family) -> Kind:
    return lambda sent: sent.row.family is family


def _with(position: Position) -> Kind:
    return lambda sent: bool(sent.row.position & position)


def _at(position: Position) -> Kind:
    return lambda sent: sent.row.position == position


def _of_opcode(value: int) -> Kind:
    return lambda sent: sent.row.value == value
