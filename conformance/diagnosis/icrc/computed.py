# SPDX-License-Identifier: BSD-2-Clause
"""Explanations that compute the exact value of each packet: recipes, histories, beats."""

from collections.abc import Iterable, Iterator, Sequence

from roceproof.conformance.diagnosis.icrc.answer import Answer, answer
from roceproof.conformance.diagnosis.icrc.combinations import DEPTH, Search
from roceproof.conformance.diagnosis.icrc.data_path.beat_parts import parts_in_next_beat
from roceproof.conformance.diagnosis.icrc.data_path.beats import dead_lanes, masks_again
from roceproof.conformance.diagnosis.icrc.data_path.lanes import last_beats
from roceproof.conformance.diagnosis.icrc.data_path.last_beat import (
    tails,
    wrong_counts,
    wrong_tables,
)
from roceproof.conformance.diagnosis.icrc.history import HISTORIES
from roceproof.conformance.diagnosis.icrc.hypothesis import WHOLE_VALUES, Hypothesis
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.odd_parts import odd_parts
from roceproof.conformance.diagnosis.icrc.parts.sampling import diverse, syndromes
from roceproof.conformance.diagnosis.icrc.scope import Scope, cost

ROUNDS = {1: 4, 2: 2, 3: 1}
"""Samples tried, by the number of faults: one bad packet spoils a sample."""


def one_fault(scope: Scope) -> Answer | None:
    """Whatever single fault predicts the packets; a learned one only if no other does."""
    special = [*_special(scope)]
    return (
        searched(scope, 1, special)
        or answer(scope, scope.best(special))
        or answer(scope, scope.best(_learned(scope)))
    )


def searched(scope: Scope, size: int, besides: Sequence[Hypothesis] = ()) -> Answer | None:
    """Recipes of exactly that many faults, with what else predicts the packets as well."""
    if size > 1 and syndromes(scope.some_wrong) < size:
        return None
    done: set[frozenset[int]] = set()
    for seed in range(ROUNDS[size]):
        sample = scope.sample(seed)
        numbers = frozenset(packet.seen.number for packet in sample)
        if numbers in done:
            continue
        done.add(numbers)
        search = Search(sample, scope.budget, scope.effects)
        found: list[Hypothesis] = [*search.recipes(size)]
        if size == 1:
            found += [*WHOLE_VALUES, *HISTORIES]
        if size == DEPTH and not found:
            found += search.masks()
        best = scope.best(found)
        if best:
            return answer(scope, scope.best([*best, *besides]) if besides else best)
    return None


def _special(scope: Scope) -> Iterator[Hypothesis]:
    """Faults of the data path that predict some of the packets, so that all need be asked."""
    probes = diverse(scope.telling, 3)
    longest = max(packet.size for packet in scope.wrong)
    for tail in tails(scope.wrong):
        yield from _predicting(scope, probes, wrong_counts(tail))
    yield from _predicting(scope, probes, parts_in_next_beat(scope.some_wrong))
    yield from _predicting(scope, probes, last_beats())
    yield from _predicting(scope, probes, odd_parts(scope.wrong))
    yield from _predicting(scope, probes, dead_lanes())
    yield from _predicting(scope, probes, masks_again(longest))


def _learned(scope: Scope) -> Iterator[Hypothesis]:
    for tail in tails(scope.wrong):
        yield from wrong_tables(tail, scope.some_wrong + scope.some_right)


def _predicting(
    scope: Scope, probes: list[CrcInput], hypotheses: Iterable[Hypothesis]
) -> Iterator[Hypothesis]:
    for hypothesis in hypotheses:
        scope.budget.spend(sum(map(cost, probes)))
        if any(hypothesis.predict(packet) == packet.found for packet in probes):
            yield hypothesis
