# SPDX-License-Identifier: BSD-2-Clause
"""The ways of explaining the wrong packets of a scope, in the order in which they are tried."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from roceproof.conformance.diagnosis.budget import OutOfBudget
from roceproof.conformance.diagnosis.icrc.answer import FLIPS, Answer, answer, flip_facts, flips
from roceproof.conformance.diagnosis.icrc.beats import dead_lanes, masks_again
from roceproof.conformance.diagnosis.icrc.combinations import DEPTH, Search
from roceproof.conformance.diagnosis.icrc.corruption import FlippedBit
from roceproof.conformance.diagnosis.icrc.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.fields_seen import field_fault
from roceproof.conformance.diagnosis.icrc.history import (
    HISTORIES,
    WINDOW,
    Stale,
    mixed_up,
    previous,
)
from roceproof.conformance.diagnosis.icrc.hypothesis import WHOLE_VALUES, Hypothesis
from roceproof.conformance.diagnosis.icrc.last_beat import decided_by, tail_faults, tails
from roceproof.conformance.diagnosis.icrc.sampling import diverse, spread, syndromes
from roceproof.conformance.diagnosis.icrc.scope import Scope, cost
from roceproof.conformance.diagnosis.icrc.stalls import find_stall, stalled
from roceproof.conformance.diagnosis.result import CORRUPT

_ROUNDS = {1: 4, 2: 2, 3: 1}  # samples tried by size: one bad packet spoils a sample
_ENOUGH_RIGHT = 10
_PROBED = 8
_ASKED = 400
_SHARE = 0.8


def _one_fault(scope: Scope) -> Answer | None:
    return _searched(scope, 1) or answer(scope, scope.best(_special(scope)))


def _searched(scope: Scope, size: int) -> Answer | None:
    if size > 1 and syndromes(scope.some_wrong) < size:
        return None
    searched: set[frozenset[int]] = set()
    for seed in range(_ROUNDS[size]):
        sample = scope.sample(seed)
        numbers = frozenset(packet.seen.number for packet in sample)
        if numbers in searched:
            continue
        searched.add(numbers)
        search = Search(sample, scope.budget)
        found: list[Hypothesis] = [*search.recipes(size)]
        if size == 1:
            found += [*WHOLE_VALUES, *HISTORIES]
        if size == DEPTH and not found:
            found += search.masks()
        best = scope.best(found)
        if best:
            return answer(scope, best)
    return None


def _special(scope: Scope) -> Iterator[Hypothesis]:
    """Faults of the data path that predict some of the packets, so that all need be asked."""
    probes = diverse(scope.wrong, 3)
    longest = max(len(packet.payload) for packet in scope.wrong)
    for tail in tails(scope.wrong):
        yield from tail_faults(tail, scope.some_wrong + scope.some_right)
    yield from _predicting(scope, probes, dead_lanes())
    yield from _predicting(scope, probes, masks_again(longest))


def _predicting(
    scope: Scope, probes: list[CrcInput], hypotheses: Iterable[Hypothesis]
) -> Iterator[Hypothesis]:
    for hypothesis in hypotheses:
        scope.budget.spend(sum(map(cost, probes)))
        if sum(hypothesis.predict(packet) == packet.found for packet in probes) * 2 >= len(probes):
            yield hypothesis


def _two_faults(scope: Scope) -> Answer | None:
    return _searched(scope, 2)


def more_faults(scope: Scope) -> Answer | None:
    """The costliest search: as many faults as are looked for together."""
    return _searched(scope, DEPTH)


def _late_and_wrong(scope: Scope) -> Answer | None:
    """S53 together with another fault: each field, held against the packet before."""
    for seed in range(_ROUNDS[2]):
        shifted = [
            _with_found(packet.previous, packet.found)
            for packet in diverse(scope.wrong, _PROBED, seed)
            if packet.previous is not None
        ]
        found = Search(shifted, scope.budget).recipes(1) if len(shifted) > 1 else []
        best = scope.best(Stale(previous, recipe.note, recipe) for recipe in found)
        if best:
            return answer(scope, best)
    return None


def _with_found(packet: CrcInput, found: int) -> CrcInput:
    other = copy.copy(packet)
    other.seen = replace(packet.seen, found=found)
    return other


def _mixed_up(scope: Scope) -> Answer | None:
    found = mixed_up(scope.packets)
    if len(found) < max(2, _SHARE * len(scope.wrong)):
        return None
    fact = f"each holds the right ICRC of a packet to another QP at most {WINDOW} packets away"
    return Answer("S60", scope, found, (), (fact,))


def _one_field(scope: Scope) -> Answer | None:
    fault = field_fault(scope.some_wrong, scope.budget)
    if fault is None:
        return None
    return Answer(fault.id, scope, fault.explained(scope.wrong), (), fault.facts)


def _stalled(scope: Scope) -> Answer | None:
    probes = sorted(diverse(scope.wrong, 2 * _PROBED), key=lambda packet: len(packet.payload))
    stall = find_stall(probes[:_PROBED], scope.budget)
    if stall is None:
        return None
    asked = spread(scope.wrong, _ASKED)
    scope.budget.spend(sum(packet.size // stall.width for packet in asked))
    found = [packet for packet in asked if stalled(packet, stall) is not None]
    if len(found) < _SHARE * len(asked):
        return None
    fact = f"{stall}, at a place of its own in each of {len(asked)} packets asked"
    return Answer("S59", scope, found, (), (fact,), asked=asked)


def corrupt(scope: Scope) -> Answer | None:
    """Single bits, at places that no habit of the device chooses."""
    found = flips(scope.wrong, None)
    if len(found) < len(scope.wrong[:FLIPS]):
        return None
    if len(found) > 2 and len({flip.part for flip in found}) == 1 and not _varied(found):
        return None
    one = None
    if len(scope.wrong) <= 2:
        try:
            one = _searched(scope, 1)
        except OutOfBudget:
            scope.budget.leave_out("single faults beside single bits", scope.place)
    other = (one.name, *one.equivalent) if one else ()
    return Answer(CORRUPT, scope, scope.wrong, other, flip_facts(found))


def _varied(found: list[FlippedBit]) -> bool:
    return found[0].part.startswith("payload") or found[0].part == "ICRC"


def _by_last_beat(scope: Scope) -> Answer | None:
    """S57 or S64 where no value could be recomputed: the kind of last beat decides alone."""
    if len(scope.wrong) < 4 or len(scope.right) < 4:
        return None
    for tail in tails(scope.wrong):
        if decided_by(tail, scope.wrong, scope.right):
            fact = f"wrong where there are {tail}; no value could be recomputed"
            return Answer("S57", scope, scope.wrong, ("S64",), (fact,))
    return None


def _rare(scope: Scope) -> Answer | None:
    if not scope.has_few_wrong or len(scope.right) < _ENOUGH_RIGHT:
        return None
    fact = "the others are right and no single bit explains these: several bits changed on the way"
    return Answer(CORRUPT, scope, scope.wrong, (), (fact, *flip_facts(flips(scope.wrong, None))))


STRATEGIES: dict[Callable[[Scope], Answer | None], str] = {
    corrupt: "single bits",
    _one_fault: "single faults",
    _mixed_up: "results of other queue pairs",
    _stalled: "stalls",
    _two_faults: "two faults at once",
    _late_and_wrong: "late and wrong results",
    more_faults: "three faults at once",
    _one_field: "single fields",
    _by_last_beat: "the last beat",
    _rare: "rare changes on the way",
}
"""Each with what it tries, in words."""
