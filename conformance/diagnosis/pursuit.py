# SPDX-License-Identifier: BSD-2-Clause
"""The order in which explanations of wrong ICRCs are tried: the simple ones first.

An explanation has to predict the right packets as well as the wrong ones. What
one explanation leaves over is explained by itself.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from roceproof.conformance.diagnosis.beats import dead_lanes, masks_again
from roceproof.conformance.diagnosis.case import Case
from roceproof.conformance.diagnosis.corruption import FlippedBit, flipped_bit
from roceproof.conformance.diagnosis.fields_seen import field_fault
from roceproof.conformance.diagnosis.history import HISTORIES, WINDOW, Stale, mixed_up, previous
from roceproof.conformance.diagnosis.hypothesis import WHOLE_VALUES, Hypothesis
from roceproof.conformance.diagnosis.last_beat import decided_by, tail_faults, tails
from roceproof.conformance.diagnosis.result import CORRUPT, UNDECIDED
from roceproof.conformance.diagnosis.sampling import diverse, spread, syndromes
from roceproof.conformance.diagnosis.scope import Scope
from roceproof.conformance.diagnosis.search import DEPTH, Search
from roceproof.conformance.diagnosis.stalls import find_stall, stalled

_ROUNDS = {1: 4, 2: 2, 3: 1}  # samples tried by size: one bad packet spoils a sample
_FEW = 0.05
_FLIPS = 500
_ENOUGH_RIGHT = 10
_PROBED = 8
_SHARE = 0.8


@dataclass(frozen=True)
class Answer:
    """One explanation of wrong packets of a scope."""

    name: str
    scope: Scope
    explained: Sequence[Case]
    equivalent: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    """Sentences for people."""
    hypothesis: Hypothesis | None = field(default=None, compare=False)


def pursue(cases: Sequence[Case]) -> list[Answer]:
    """Explain the wrong packets among the sound ones of a transmitter."""
    scope = Scope(cases)
    if not scope.wrong:
        return []
    answers = _whole(scope)
    if not answers:
        for parts in _partitions(cases):
            found = [(part, _whole(part)) for part in parts if part.wrong]
            if len(parts) > 1 and any(answers for _, answers in found):
                return [
                    answer
                    for part, answers in found
                    for answer in answers or [Answer(UNDECIDED, part, part.wrong)]
                ]
    return answers or [Answer(UNDECIDED, scope, scope.wrong)]


def _whole(scope: Scope) -> list[Answer]:
    """Try to explain a scope by one habit; an empty list if there is none."""
    for attempt in _ATTEMPTS:
        if scope.words and attempt is _more_faults:
            continue
        answer = attempt(scope)
        if answer is not None:
            return [answer, *_rest(scope, answer)]
    return []


def _one_fault(scope: Scope) -> Answer | None:
    return _searched(scope, 1) or _answer(scope, scope.best(_special(scope)))


def _searched(scope: Scope, size: int) -> Answer | None:
    if size > 1 and syndromes(scope.some_wrong) < size:
        return None
    for seed in range(_ROUNDS[size]):
        search = Search(scope.sample(seed))
        found: list[Hypothesis] = [*search.recipes(size)]
        if size == 1:
            found += [*WHOLE_VALUES, *HISTORIES]
        if size == DEPTH and not found:
            found += search.masks()
        best = scope.best(found)
        if best:
            return _answer(scope, best)
    return None


def _special(scope: Scope) -> Iterator[Hypothesis]:
    """Faults of the data path that predict some of the packets, so that all need be asked."""
    probes = diverse(scope.wrong, 3)
    longest = max(len(case.payload) for case in scope.wrong)
    for tail in tails(scope.wrong):
        yield from tail_faults(tail, scope.some_wrong + scope.some_right)
    yield from _predicting(probes, dead_lanes())
    yield from _predicting(probes, masks_again(longest))


def _predicting(probes: list[Case], hypotheses: Iterable[Hypothesis]) -> Iterator[Hypothesis]:
    for hypothesis in hypotheses:
        if sum(hypothesis.predict(case) == case.found for case in probes) * 2 >= len(probes):
            yield hypothesis


def _two_faults(scope: Scope) -> Answer | None:
    return _searched(scope, 2)


def _more_faults(scope: Scope) -> Answer | None:
    return _searched(scope, DEPTH)


def _late_and_wrong(scope: Scope) -> Answer | None:
    """S53 together with another fault: each field, held against the packet before."""
    for seed in range(_ROUNDS[2]):
        shifted = [
            _with_found(case.previous, case.found)
            for case in diverse(scope.wrong, _PROBED, seed)
            if case.previous is not None
        ]
        found = Search(shifted).recipes(1) if len(shifted) > 1 else []
        best = scope.best(Stale(previous, recipe.note, recipe) for recipe in found)
        if best:
            return _answer(scope, best)
    return None


def _with_found(case: Case, found: int) -> Case:
    other = copy.copy(case)
    other.seen = replace(case.seen, found=found)
    return other


def _mixed_up(scope: Scope) -> Answer | None:
    found = mixed_up(scope.cases)
    if len(found) < max(2, _SHARE * len(scope.wrong)):
        return None
    fact = f"each holds the right ICRC of a packet to another QP at most {WINDOW} packets away"
    return Answer("S60", scope, found, (), (fact,))


def _one_field(scope: Scope) -> Answer | None:
    fault = field_fault(scope.some_wrong)
    if fault is None:
        return None
    return Answer(fault.id, scope, fault.explained(scope.wrong), (), fault.facts)


def _stalled(scope: Scope) -> Answer | None:
    probes = sorted(diverse(scope.wrong, 2 * _PROBED), key=lambda case: len(case.payload))
    stall = find_stall(probes[:_PROBED])
    if stall is None:
        return None
    found = [case for case in spread(scope.wrong, 400) if stalled(case, stall) is not None]
    return Answer("S59", scope, found, (), (f"{stall}, at a place of its own in each packet",))


def _corrupt(scope: Scope) -> Answer | None:
    """Single bits, at places that no habit of the device chooses."""
    flips = _flips(scope.wrong, None)
    if len(flips) < len(scope.wrong[:_FLIPS]):
        return None
    if len(flips) > 2 and len({flip.part for flip in flips}) == 1 and not _varied(flips):
        return None
    one = _searched(scope, 1) if len(scope.wrong) <= 2 else None
    other = (one.name, *one.equivalent) if one else ()
    return Answer(CORRUPT, scope, scope.wrong, other, _flip_facts(flips))


def _varied(flips: list[FlippedBit]) -> bool:
    return flips[0].part.startswith("payload") or flips[0].part == "ICRC"


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
    few = len(scope.wrong) <= max(2, _FEW * len(scope.cases))
    if not few or len(scope.right) < _ENOUGH_RIGHT:
        return None
    fact = "the others are right and no single bit explains these: several bits changed on the way"
    return Answer(CORRUPT, scope, scope.wrong, (), (fact, *_flip_facts(_flips(scope.wrong, None))))


_ATTEMPTS: tuple[Callable[[Scope], Answer | None], ...] = (
    _corrupt,
    _one_fault,
    _mixed_up,
    _stalled,
    _two_faults,
    _late_and_wrong,
    _more_faults,
    _one_field,
    _by_last_beat,
    _rare,
)


def _answer(scope: Scope, best: list[Hypothesis]) -> Answer | None:
    if not best:
        return None
    left = _unexplained(scope, best[0])
    if left:
        best = sorted(best, key=lambda hypothesis: len(_unexplained(scope, hypothesis)))
        left = _unexplained(scope, best[0])
        better = _with_leftovers(scope, left) if left else None
        if better:
            best, left = better, []
    names = ["+".join(hypothesis.ids) for hypothesis in best]
    facts = (best[0].note,) if best[0].note else ()
    numbers = {case.seen.number for case in left}
    explained = [case for case in scope.wrong if case.seen.number not in numbers]
    return Answer(names[0], scope, explained, tuple(names[1:]), facts, best[0])


def _unexplained(scope: Scope, hypothesis: Hypothesis) -> list[Case]:
    return [case for case in scope.wrong if hypothesis.predict(case) != case.found]


def _with_leftovers(scope: Scope, left: list[Case]) -> list[Hypothesis]:
    """Larger sets of faults that explain every packet, the rare ones included."""
    numbers = {case.seen.number for case in left}
    explained = [case for case in scope.wrong if case.seen.number not in numbers]
    sample = diverse(left, 3) + diverse(explained, 3) + diverse(scope.right, 4)
    for size in range(2, DEPTH + 1):
        found = scope.best(Search(sample).recipes(size))
        whole = [hypothesis for hypothesis in found if not _unexplained(scope, hypothesis)]
        if whole:
            return whole
    return []


def _rest(scope: Scope, answer: Answer) -> list[Answer]:
    """Account for the packets that an explanation leaves over."""
    numbers = {case.seen.number for case in answer.explained}
    left = [case for case in scope.wrong if case.seen.number not in numbers]
    if answer.hypothesis is not None:
        left = [case for case in left if answer.hypothesis.predict(case) is not None]
    if not left:
        return []
    flips = _flips(left, answer.hypothesis)
    hit = {flip.number for flip in flips}
    changed = [case for case in left if case.seen.number in hit]
    other = [case for case in left if case.seen.number not in hit]
    few = len(other) <= max(2, _FEW * len(scope.cases))
    if few and _follows_others(answer.hypothesis):
        other = []  # a packet before them was not captured
    answers = []
    if changed or (other and few):
        facts = _flip_facts(flips)
        answers.append(Answer(CORRUPT, scope, [*changed, *other] if few else changed, (), facts))
    if other and not few:
        answers.append(Answer(UNDECIDED, scope, other))
    return answers


def _follows_others(hypothesis: Hypothesis | None) -> bool:
    return hypothesis is not None and bool({"S53", "S54", "S63"} & {*hypothesis.ids})


def _flips(cases: Sequence[Case], hypothesis: Hypothesis | None) -> list[FlippedBit]:
    flips = (flipped_bit(case, hypothesis) for case in cases[:_FLIPS])
    return [flip for flip in flips if flip is not None]


def _flip_facts(flips: list[FlippedBit]) -> tuple[str, ...]:
    if not flips:
        return ()
    shown = "; ".join(map(str, flips[:8]))
    return (f"one bit changed: {shown}" + (" and so on" if len(flips) > 8 else ""),)


def _partitions(cases: Sequence[Case]) -> Iterator[list[Scope]]:
    """Ways to split a transmitter's packets into parts that may be made by different machinery."""
    ways: tuple[Callable[[Case], str], ...] = (
        lambda case: f"from {case.seen.station}",
        lambda case: f"{case.kind}s only",
    )
    for way in ways:
        groups: dict[str, list[Case]] = {}
        for case in cases:
            groups.setdefault(way(case), []).append(case)
        yield [Scope(group, words) for words, group in groups.items()]
