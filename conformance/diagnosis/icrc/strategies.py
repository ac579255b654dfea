# SPDX-License-Identifier: BSD-2-Clause
"""The ways of explaining the wrong packets of a scope, in the order in which they are tried."""

from collections.abc import Callable, Sequence

from roceproof.conformance.diagnosis.budget import OutOfBudget
from roceproof.conformance.diagnosis.icrc.answer import (
    FLIPS,
    Answer,
    by_chance,
    flip_facts,
    flips,
    names_of,
)
from roceproof.conformance.diagnosis.icrc.combinations import DEPTH
from roceproof.conformance.diagnosis.icrc.computed import one_fault, searched
from roceproof.conformance.diagnosis.icrc.corruption import hold_neighbours
from roceproof.conformance.diagnosis.icrc.data_path.beat_parts import part_boundary
from roceproof.conformance.diagnosis.icrc.data_path.last_beat import Tail, tails, tells_apart
from roceproof.conformance.diagnosis.icrc.data_path.stalls import find_stall, stalled
from roceproof.conformance.diagnosis.icrc.history import held_nearby
from roceproof.conformance.diagnosis.icrc.misplaced import misplaced, mixed_up
from roceproof.conformance.diagnosis.icrc.misplaced_and_wrong import (
    misplaced_and_wrong,
    with_another_fault,
)
from roceproof.conformance.diagnosis.icrc.parts.crc import ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.fields_seen import field_fault
from roceproof.conformance.diagnosis.icrc.parts.floor import distinct, shortage
from roceproof.conformance.diagnosis.icrc.parts.sampling import diverse, spread
from roceproof.conformance.diagnosis.icrc.scope import Scope
from roceproof.conformance.diagnosis.icrc.slips import Slipped
from roceproof.conformance.diagnosis.result import CORRUPT, UNDECIDED

_ENOUGH_RIGHT = 10
_PROBED = 8
_ASKED = 400
_SHARE = 0.8
_PER_STRAY = 20


def _slipped(scope: Scope) -> Answer | None:
    found = misplaced(scope, one_fault)
    if found is None or not isinstance(found.hypothesis, Slipped):
        return found
    better = with_another_fault(scope, found.hypothesis)
    return better if better and len(better.explained) > len(found.explained) else found


def _two_faults(scope: Scope) -> Answer | None:
    return searched(scope, 2)


def more_faults(scope: Scope) -> Answer | None:
    """The costliest search: as many faults as are looked for together."""
    return searched(scope, DEPTH)


def one_field(scope: Scope) -> Answer | None:
    """Fields that the CRC saw otherwise: solved for, packet by packet; in all but changed ones."""
    fault = field_fault(scope.some_wrong, scope.budget)
    if fault is None:
        return None
    explained = fault.explained(scope.wrong)
    short = shortage((fault.id,), distinct(explained), 0)
    numbers = {packet.seen.number for packet in explained}
    left = [packet for packet in scope.wrong[:FLIPS] if packet.seen.number not in numbers]
    if short or not fault.is_as_sent or len(flips(left, None)) < len(left):
        facts = (short, *fault.facts) if short else fault.facts
        return Answer(UNDECIDED, scope, explained, (fault.id,), facts)
    return Answer(fault.id, scope, explained, (), fault.facts)


def one_field_alone(scope: Scope) -> Answer | None:
    """The same where it leaves nothing over: before two faults are taken that do."""
    found = one_field(scope)
    whole = found is not None and len(found.explained) == len(scope.wrong)
    return found if found is not None and whole and found.name != UNDECIDED else None


def stalled_somewhere(scope: Scope) -> Answer | None:
    """S59: bytes lost at a place of its own in each packet."""
    probes = sorted(diverse(scope.telling, 2 * _PROBED), key=lambda packet: len(packet.payload))
    stall = find_stall(probes[::2], scope.budget)
    if stall is None:
        return None
    asked = spread(scope.wrong, _ASKED)
    scope.budget.spend(sum(packet.size // stall.width for packet in asked))
    found = [packet for packet in asked if stalled(packet, stall) is not None]
    if len(found) < _SHARE * len(asked):
        return None
    fact = f"{stall}, at a place of its own in each of {len(asked)} packets asked"
    short = shortage(("S59",), distinct(found), 0) or _too_free(found, asked)
    if short:
        return Answer(UNDECIDED, scope, found, ("S59",), (short, fact), asked=asked)
    return Answer("S59", scope, found, (), (fact,), asked=asked)


def _too_free(found: Sequence[CrcInput], asked: Sequence[CrcInput]) -> str:
    """What a place of its own in each packet leaves over: so much freedom fits others, too."""
    held = {packet.seen.number for packet in found}
    left = [packet for packet in asked if packet.seen.number not in held]
    without = len(left) - len(flips(left, None))
    few = max(1, len(asked) // _PER_STRAY)
    return f"{without} of these have no such place" if without > few else ""


def corrupt(scope: Scope) -> Answer | None:
    """Single bits, at places that no habit of the device chooses."""
    found = flips(scope.wrong, None)
    if len(found) < len(scope.wrong[:FLIPS]):
        return None
    if by_chance(found) != found:
        return None
    one = None
    if len(hold_neighbours(scope.packets, found)) == len(scope.wrong):
        return Answer(UNDECIDED, scope, scope.wrong, (CORRUPT,), flip_facts(found))
    if len(scope.wrong) <= 2:
        try:
            one = one_fault(scope)
        except OutOfBudget:
            scope.budget.leave_out("single faults beside single bits", scope.place)
    other = names_of(one) if one else ()
    return Answer(CORRUPT, scope, scope.wrong, other, flip_facts(found))


def _by_last_beat(scope: Scope) -> Answer | None:
    """What the kind of last beat decides alone: no value could be recomputed, so any of three."""
    best: tuple[str, Tail] | None = None
    for tail in tails(scope.wrong):
        doubt = tells_apart(tail, scope.wrong, scope.right)
        if doubt is not None and (best is None or not doubt):
            best = doubt, tail
        if doubt == "":
            break
    if best is None:
        return None
    doubt, tail = best
    fact = f"wrong where there are {tail}; no value could be recomputed"
    facts = tuple(filter(None, (doubt, fact if scope.right else "")))
    return Answer(UNDECIDED, scope, scope.wrong, ("S57", "S64", "S66"), facts)


def _behind_a_boundary(scope: Scope) -> Answer | None:
    """S66 where what stands behind the boundary could not be recomputed."""
    boundary = part_boundary(scope.wrong, scope.right)
    if boundary is None:
        return None
    fact = f"wrong are bytes behind the end of a beat alone: {boundary}"
    short = shortage(("S66",), distinct(scope.wrong), distinct(scope.right))
    if short:
        return Answer(UNDECIDED, scope, scope.wrong, ("S66",), (short, fact))
    return Answer("S66", scope, scope.wrong, (), (fact,))


def _rare(scope: Scope) -> Answer | None:
    """A few packets among many right ones that nothing explains: bits that changed on the way?

    Several bits have no place that the ICRC tells, so it may as well be a fault that shows rarely.
    """
    if not scope.has_few_wrong or len(scope.right) < _ENOUGH_RIGHT:
        return None
    if len(held_nearby(scope.packets, other_qp=False)) == len(scope.wrong):
        return None
    odd = [*dict.fromkeys(name for packet in scope.wrong for name in _unlike_chance(packet))]
    fact = "the others are right, and no single bit explains these"
    if odd:
        fact += "; hardly by accident are some bytes right, or all of them zeros or ones"
    facts = (fact, *flip_facts(flips(scope.wrong, None)))
    return Answer(UNDECIDED, scope, scope.wrong, (*odd, CORRUPT), facts)


def _unlike_chance(packet: CrcInput) -> tuple[str, ...]:
    """What a wrong field hints at that changes on the way would hardly make of it."""
    if packet.found in (0, ONES):
        return ("S46",) if packet.found == 0 else ("S47",)
    right_bytes = (packet.found ^ packet.right).to_bytes(4, "little").count(0)
    return ("S63", "S66") if right_bytes > 1 else ()


STRATEGIES: dict[Callable[[Scope], Answer | None], str] = {
    corrupt: "single bits",
    _slipped: "slipped results",
    one_fault: "single faults",
    mixed_up: "results of other packets",
    stalled_somewhere: "stalls",
    _two_faults: "two faults at once",
    one_field_alone: "single fields",
    misplaced_and_wrong: "misplaced and wrong results",
    more_faults: "three faults at once",
    one_field: "single fields beside others",
    _behind_a_boundary: "ICRCs across two beats",
    _by_last_beat: "the last beat",
    _rare: "rare changes on the way",
}
"""Each with what it tries, in words."""
