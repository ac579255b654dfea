# SPDX-License-Identifier: BSD-2-Clause
"""An answer: the hypotheses that explain the wrong packets of a scope best."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from itertools import islice

from roceproof.conformance.diagnosis.budget import OutOfBudget
from roceproof.conformance.diagnosis.icrc.combinations import DEPTH, Search
from roceproof.conformance.diagnosis.icrc.corruption import FlippedBit, flipped_bit
from roceproof.conformance.diagnosis.icrc.endings import ending_alike
from roceproof.conformance.diagnosis.icrc.history import Stale
from roceproof.conformance.diagnosis.icrc.hypothesis import (
    Contrasting,
    Demanding,
    Hypothesis,
    Recipe,
)
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.floor import distinct, floor_of, shortage
from roceproof.conformance.diagnosis.icrc.parts.sampling import diverse
from roceproof.conformance.diagnosis.icrc.scope import Scope, cost
from roceproof.conformance.diagnosis.icrc.slips import Slipped
from roceproof.conformance.diagnosis.result import CORRUPT, UNDECIDED

FLIPS = 500
"""Of how many packets a flipped bit is looked for."""
_ENDS = 50
"""Of how many packets the ends are compared."""
LEAST_ADDED = 2
"""How many leftovers it takes to add a fault for them."""
_LOOKED_AT_PER_FAULT = 8
"""And so many of them are held against the way for each."""
_FEW_CHANGED = 4
"""So many packets the way may change in one field, each in another bit."""
OF_OTHERS = frozenset({"S53", "S60", "S65"})
"""What puts results of other packets into a packet."""
_PLACEHOLDERS = frozenset({"S46", "S47"})
_OF_NONE = _PLACEHOLDERS | {CORRUPT, UNDECIDED}
"""What says nothing about the packets that it explains."""


@dataclass(frozen=True)
class Answer:
    """One explanation of wrong packets of a scope."""

    name: str
    scope: Scope
    explained: Sequence[CrcInput]
    equivalent: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    """Sentences for people."""
    hypothesis: Hypothesis | None = field(default=None, compare=False)
    asked: Sequence[CrcInput] | None = None
    """Where not all wrong packets of the scope were asked, those that were."""


def answer(scope: Scope, best: list[Hypothesis]) -> Answer | None:
    """The answer that the best hypotheses of a scope give, leftovers included where they fit."""
    if not best:
        return None
    left = _unexplained(scope, best[0])
    if left:
        try:
            scope.budget.spend(len(best) * sum(map(cost, scope.wrong)))
            best = sorted(best, key=lambda hypothesis: len(_unexplained(scope, hypothesis)))
            left = _unexplained(scope, best[0])
            better = _with_leftovers(scope, best[0], left) if left else None
        except OutOfBudget:
            scope.budget.leave_out("what explains the leftovers, too", scope.place)
            better = None
        if better:
            best, left = better, _unexplained(scope, better[0])
    numbers = {packet.seen.number for packet in left}
    explained = [packet for packet in scope.wrong if packet.seen.number not in numbers]
    doubts = {hypothesis: _doubt(scope, hypothesis, explained) for hypothesis in best}
    best = sorted(best, key=lambda hypothesis: bool(doubts[hypothesis]))
    first = best[0]
    names = ["+".join(hypothesis.ids) for hypothesis in best]
    judged = [*diverse(explained, _ENDS), *diverse(scope.right, _ENDS)]
    alike = (name for hypothesis in best for name in ending_alike(hypothesis, judged))
    names = [*dict.fromkeys((*names, *alike))]
    facts = (first.note,) if first.note else ()
    if doubts[first]:
        return Answer(UNDECIDED, scope, explained, tuple(names), (doubts[first], *facts))
    if changed := _may_have_changed(explained):
        return Answer(
            UNDECIDED, scope, explained, (*names, CORRUPT), (*flip_facts(changed), *facts)
        )
    if "S53" in first.ids and _is_contradicted(scope, first):
        possible = (*names, *(name.replace("S53", "S65") for name in names))
        return Answer(UNDECIDED, scope, explained, tuple(dict.fromkeys(possible)), facts)
    if _PLACEHOLDERS & {*first.ids} and not scope.is_few(len(left)):
        fact = f"{len(left)} hold something else, which a field that is never filled does not"
        return Answer(UNDECIDED, scope, explained, tuple(names), (fact, *facts))
    simpler = _simpler(scope, first, explained)
    names = [*("+".join(hypothesis.ids) for hypothesis in simpler), *names]
    if len(simpler) > 1:
        return Answer(UNDECIDED, scope, explained, tuple(names), facts)
    if simpler:
        first = simpler[0]
        explained = [packet for packet in explained if first.predict(packet) == packet.found]
        facts = (first.note,) if first.note else ()
    return Answer(names[0], scope, explained, tuple(names[1:]), facts, first)


def _may_have_changed(explained: Sequence[CrcInput]) -> list[FlippedBit]:
    """The bits that may have changed on the way, if they are few, and that explains all as well."""
    if len(explained) > _FEW_CHANGED:
        return []
    found = flips(explained, None)
    bits = {(flip.within, flip.bit) for flip in found}
    return found if 1 < len(bits) == len(explained) else []


def _simpler(
    scope: Scope, hypothesis: Hypothesis, explained: Sequence[CrcInput]
) -> list[Hypothesis]:
    """What says as much with a fault less, but for so few packets that they do not bear it out."""
    if not isinstance(hypothesis, Recipe) or len(hypothesis.ids) < 2:
        return []
    try:
        scope.budget.spend(sum(map(cost, scope.some_wrong)))
    except OutOfBudget:
        return []
    return [
        each
        for each in hypothesis.without_one()
        if len(each.ids) < len(hypothesis.ids)
        and not _bears_out({*hypothesis.ids} - {*each.ids}, each, explained)
        and all(each.predict(packet) == packet.found for packet in scope.some_right)
    ]


def _bears_out(added: Set[str], first: Hypothesis, packets: Sequence[CrcInput]) -> bool:
    """Whether enough packets take the added faults, for the first one leaves them over.

    Those that a bit explains that may have flipped on the way do not.
    """
    least = max(LEAST_ADDED, floor_of(added).errors)
    leaves = (packet for packet in packets if first.predict(packet) != packet.found)
    left = [*islice(leaves, _LOOKED_AT_PER_FAULT * least)]
    hit = {flip.number for flip in by_chance(flips(left, first))}
    left = [packet for packet in left if packet.seen.number not in hit]
    return len(left) >= least and distinct(left) >= least


def names_of(given: Answer) -> tuple[str, ...]:
    """Everything that an answer holds possible."""
    return given.equivalent if given.name == UNDECIDED else (given.name, *given.equivalent)


def borne_out(given: Answer) -> Sequence[CrcInput]:
    """The packets that left like that, for a result that the answer explains was taken over them.

    Where results lie in packets of others, a packet is borne out by the one that holds its own.
    """
    ids = {*given.name.split("+")}
    if ids & _OF_NONE:
        return ()
    if not ids & OF_OTHERS:
        return given.explained
    held = {packet.found for packet in given.scope.packets}
    result = given.hypothesis.result if isinstance(given.hypothesis, Slipped | Stale) else _right
    return [packet for packet in given.scope.packets if result(packet) in held]


def _right(packet: CrcInput) -> int:
    return packet.right


def _doubt(scope: Scope, hypothesis: Hypothesis, explained: Sequence[CrcInput]) -> str:
    """What is missing for the hypothesis to be named."""
    right = scope.right
    if isinstance(hypothesis, Contrasting):
        right = [packet for packet in right if hypothesis.contrasts(packet)]
    errors = distinct(explained)
    if "S64" in hypothesis.ids:  # what is learned says one thing for each error
        errors = len({packet.found ^ packet.right for packet in explained})
    short = shortage(hypothesis.ids, errors, distinct(right))
    return short or (hypothesis.lacks(explained) if isinstance(hypothesis, Demanding) else "")


def _is_contradicted(scope: Scope, hypothesis: Hypothesis) -> bool:
    """Whether right packets are predicted to be wrong, as a pause of the device may do."""
    scope.budget.spend(sum(map(cost, scope.some_right)))
    return any(hypothesis.predict(each) not in (None, each.found) for each in scope.some_right)


def _unexplained(scope: Scope, hypothesis: Hypothesis) -> list[CrcInput]:
    return [packet for packet in scope.wrong if hypothesis.predict(packet) != packet.found]


def _with_leftovers(
    scope: Scope, first: Hypothesis, unexplained: list[CrcInput]
) -> list[Hypothesis]:
    """Larger sets of faults that explain every packet, the rare ones included.

    What one flipped bit explains is left to the way, and a fault that is added has to be borne out
    by the leftovers alone: one more packet that fits may be a bit that flipped in the field blamed.
    """
    hit = {flip.number for flip in flips(unexplained, first)}
    left = [packet for packet in unexplained if packet.seen.number not in hit]
    borne_out = distinct(left)
    if borne_out < LEAST_ADDED:
        return []
    numbers = {packet.seen.number for packet in unexplained}
    explained = [packet for packet in scope.wrong if packet.seen.number not in numbers]
    sample = diverse(left, 3) + diverse(explained, 3) + diverse(scope.right, 4)
    for size in range(2, DEPTH + 1):
        found = scope.best(Search(sample, scope.budget, scope.effects).recipes(size))
        whole = [
            hypothesis
            for hypothesis in found
            if hit.issuperset(each.seen.number for each in _unexplained(scope, hypothesis))
            and borne_out >= floor_of({*hypothesis.ids} - {*first.ids} or hypothesis.ids).errors
        ]
        if whole:
            return whole
    return []


def flips(packets: Sequence[CrcInput], hypothesis: Hypothesis | None) -> list[FlippedBit]:
    """The single bits that explain some of the packets."""
    found = (flipped_bit(packet, hypothesis) for packet in packets[:FLIPS])
    return [flip for flip in found if flip is not None]


def by_chance(found: list[FlippedBit]) -> list[FlippedBit]:
    """Without those of one field, if most are of that: chance hits all of a packet."""
    (field, count), *_ = Counter(flip.field for flip in found).most_common(1) or [("", 0)]
    of_one = [flip for flip in found if flip.field == field]
    is_habit = len(found) > 2 and 2 * count > len(found) and not of_one[0].is_of_icrc
    return [flip for flip in found if flip not in of_one] if is_habit else found


def flip_facts(found: list[FlippedBit]) -> tuple[str, ...]:
    """Name the first of them in a sentence."""
    if not found:
        return ()
    shown = "; ".join(map(str, found[:8]))
    return (f"one bit changed: {shown}" + (" and so on" if len(found) > 8 else ""),)
