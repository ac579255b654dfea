# SPDX-License-Identifier: BSD-2-Clause
"""Explains the wrong ICRCs of one transmitter, and what one explanation leaves over by itself.

An explanation has to predict the right packets as well as the wrong ones. If
none holds for all, parts that may be made by different machinery are tried.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from roceproof.conformance.diagnosis.budget import Budget, OutOfBudget
from roceproof.conformance.diagnosis.icrc.answer import (
    LEAST_ADDED,
    OF_OTHERS,
    Answer,
    by_chance,
    flip_facts,
    flips,
    names_of,
)
from roceproof.conformance.diagnosis.icrc.corruption import FlippedBit, hold_neighbours
from roceproof.conformance.diagnosis.icrc.history import PartlyLatched
from roceproof.conformance.diagnosis.icrc.hypothesis import Hypothesis
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.scope import Scope
from roceproof.conformance.diagnosis.icrc.strategies import (
    STRATEGIES,
    corrupt,
    more_faults,
    one_field,
    one_field_alone,
)
from roceproof.conformance.diagnosis.result import CORRUPT, UNDECIDED

_MISSING = 0.2
"""The share of packets that may follow one that was not captured."""
_FOLLOWING = frozenset({"S53", "S54", "S55", "S63", "S65", "S66"})
"""What depends on the packets before, of which some may be missing."""
_OF_OTHERS = _FOLLOWING | OF_OTHERS
"""What puts values of other packets, or parts of them, into a packet."""
_IN_ONE_BIT = ("S53", "S55", "S60", "S65")
"""What may show once, in a bit that a stage behind the CRC writes."""


def explain_wrong(packets: Sequence[CrcInput], budget: Budget, place: str) -> list[Answer]:
    """Explain the wrong packets among the sound ones of a transmitter.

    What the budget does not allow to be tried is noted there, under `place`.
    """
    scope = Scope(packets, budget, place)
    if not scope.wrong:
        return []
    answers = _whole(scope)
    if not _is_decided(answers):
        answers = _without_flips(scope) or answers
    if not _is_decided(answers):
        for parts in _partitions(scope):
            if len(parts) < 2:
                continue
            found = [(part, _whole(part)) for part in parts if part.wrong]
            named = [own[0].name for _, own in found if _is_decided(own)]
            if named and (not _candidates(answers) or {*named} - {CORRUPT}):
                return [
                    answer
                    for part, own in found
                    for answer in own or [Answer(UNDECIDED, part, part.wrong)]
                ]
    return answers or [Answer(UNDECIDED, scope, scope.wrong)]


def _is_decided(answers: Sequence[Answer]) -> bool:
    return bool(answers) and answers[0].name != UNDECIDED


def _candidates(answers: Sequence[Answer]) -> bool:
    """Whether the first answer says what a sender may have done."""
    return bool(answers) and bool({*names_of(answers[0])} - {CORRUPT})


def _whole(scope: Scope) -> list[Answer]:
    """Try to explain a scope by one habit; an empty list if there is none."""
    out = scope.budget.exhausted
    candidates: list[Answer] = []
    for strategy, what in STRATEGIES.items():
        if scope.words and strategy is more_faults:
            continue
        answer = None
        try:
            answer = strategy(scope) if strategy is corrupt or not out else None
        except OutOfBudget:
            out = True
        if out and answer is None and strategy is not corrupt:
            scope.budget.leave_out(what, scope.place)
        if answer is None:
            continue
        if answer.name == UNDECIDED or _is_solved_for(strategy, answer, candidates):
            candidates.append(answer)
        else:
            if answer.name == CORRUPT:
                found = flips(scope.wrong, None)
                return [*_changed(scope, scope.wrong, found, answer.equivalent)]
            simpler = _or_simpler(answer, candidates)
            return [_or_changed(scope, simpler, candidates), *_rest(scope, answer)]
    return [_between(scope, candidates)] if candidates else []


def _is_solved_for(
    strategy: Callable[[Scope], Answer | None], answer: Answer, candidates: Sequence[Answer]
) -> bool:
    """Whether values that a field may have had say no more than what computes them.

    Of all that is wrong they say more than two faults that may compute it.
    """
    if strategy not in (one_field, one_field_alone):
        return False
    exact = (
        len(each.explained)
        for each in candidates
        if strategy is one_field or any("+" not in name for name in {*names_of(each)} - {CORRUPT})
    )
    return len(answer.explained) <= max(exact, default=0)


def _or_changed(scope: Scope, answer: Answer, candidates: Sequence[Answer]) -> Answer:
    """The answer, with single bits beside it if they explain all that is wrong as well."""
    found = flips(answer.explained, None) if _OF_OTHERS & {*answer.name.split("+")} else []
    if len(found) == len(answer.explained) and len({flip.field for flip in found}) > 1:
        possible = (answer.name, *answer.equivalent, CORRUPT)
        return replace(answer, name=UNDECIDED, equivalent=possible)
    if any(CORRUPT in names_of(each) for each in candidates):
        return replace(answer, equivalent=(*answer.equivalent, CORRUPT))
    return answer


def _or_simpler(answer: Answer, candidates: Sequence[Answer]) -> Answer:
    """The answer, undecided if fewer faults explain as much, but for a packet or so."""
    ids = {*answer.name.split("+")}
    simpler = [
        name
        for each in candidates
        for name in names_of(each)
        if name != CORRUPT
        and len(name.split("+")) < len(ids)
        and len(answer.explained) < len(each.explained) + LEAST_ADDED
    ]
    if not simpler:
        return answer
    names = dict.fromkeys((*simpler, answer.name, *answer.equivalent))
    return replace(answer, name=UNDECIDED, equivalent=tuple(names))


def _without_flips(scope: Scope) -> list[Answer]:
    """The same without the packets that one flipped bit explains, if something fits then."""
    near = hold_neighbours(scope.packets, scope.chance_flips)
    found = [flip for flip in scope.chance_flips if flip.part != "psn" or flip.number not in near]
    if not 0 < len(found) < len(scope.wrong):
        return []
    hit = {flip.number for flip in found}
    rest = [packet for packet in scope.packets if packet.seen.number not in hit]
    answers = _whole(Scope(rest, scope.budget, scope.place, scope.words))
    if not _candidates(answers):
        return []
    first, left = answers[0], [packet for packet in scope.wrong if packet.seen.number in hit]
    if _is_decided(answers) and not _predicts(first, left):
        return [*answers, *_changed(scope, left, found)]
    possible = tuple(dict.fromkeys((*names_of(first), CORRUPT)))
    return [*answers, Answer(UNDECIDED, scope, left, possible, flip_facts(found))]


def _predicts(answer: Answer, packets: Sequence[CrcInput]) -> bool:
    """Whether the answer, which was found without these packets, explains one of them, too."""
    found = answer.hypothesis
    return found is not None and any(found.predict(each) == each.found for each in packets)


def _changed(
    scope: Scope, packets: Sequence[CrcInput], found: Sequence[FlippedBit], also: Sequence[str] = ()
) -> Iterator[Answer]:
    """Account for single bits; where a stage behind the CRC writes, it may have set them.

    Or the result is that of a packet that differs there alone, and may not have been captured.
    """
    late = {flip.number for flip in found if flip.may_be_written}
    for others in ((), _IN_ONE_BIT):
        if some := [packet for packet in packets if (packet.seen.number in late) == bool(others)]:
            numbers = {packet.seen.number for packet in some}
            facts = flip_facts([flip for flip in found if flip.number in numbers])
            yield Answer(CORRUPT, scope, some, tuple(dict.fromkeys((*also, *others))), facts)


def _between(scope: Scope, candidates: Sequence[Answer]) -> Answer:
    """What fits, but is borne out too little for its name to be given."""
    names = dict.fromkeys(name for each in candidates for name in names_of(each))
    facts = dict.fromkeys(fact for each in candidates for fact in each.facts)
    return Answer(UNDECIDED, scope, scope.wrong, tuple(names), tuple(facts))


def _rest(scope: Scope, answer: Answer) -> list[Answer]:
    """Account for the packets that an explanation leaves over."""
    numbers = {packet.seen.number for packet in answer.explained}
    left = [packet for packet in answer.asked or scope.wrong if packet.seen.number not in numbers]
    if answer.hypothesis is not None:
        left = [packet for packet in left if answer.hypothesis.predict(packet) is not None]
    if not left:
        return []
    ids = {*answer.name.split("+")}
    if more := [name for name in answer.equivalent if ids < {*name.split("+")}]:
        return [Answer(UNDECIDED, scope, left, (*more, CORRUPT))]  # one fault more, or the way
    found = flips(left, answer.hypothesis)
    follows = _follows_others(answer.hypothesis)
    if follows:  # a bit of a packet shows in the one that carries its result, those of an ICRC here
        behind = _behind_others(scope, left) | _hidden(answer.hypothesis, left)
        found = [flip for flip in found if flip.is_of_icrc and flip.number not in behind]
    found = by_chance(found)
    hit = {flip.number for flip in found}
    changed = [packet for packet in left if packet.seen.number in hit]
    other = [packet for packet in left if packet.seen.number not in hit]
    if follows and len(other) <= max(2, _MISSING * len(scope.packets)):
        other = []  # a packet before them was not captured
    answers = [*_changed(scope, changed, found)]
    if other:
        possible = (CORRUPT,) if scope.is_few(len(other)) else ()
        answers.append(Answer(UNDECIDED, scope, other, possible))
    return answers


def _behind_others(scope: Scope, left: Sequence[CrcInput]) -> set[int]:
    """Which packets come next behind one that is left over, whose bits they may show."""
    numbers = {packet.seen.number for packet in left}
    return {
        after.seen.number
        for before, after in pairwise(scope.packets)
        if before.seen.number in numbers
    }


def _hidden(hypothesis: Hypothesis | None, left: Sequence[CrcInput]) -> set[int]:
    """Which packets show nothing but the bytes that another packet leaves."""
    if not isinstance(hypothesis, PartlyLatched):
        return set()
    return {packet.seen.number for packet in left if hypothesis.hides(packet)}


def _follows_others(hypothesis: Hypothesis | None) -> bool:
    return hypothesis is not None and bool(_FOLLOWING & {*hypothesis.ids})


def _partitions(scope: Scope) -> Iterator[list[Scope]]:
    """Ways to split a transmitter's packets into parts that may be made by different machinery."""
    ways: tuple[Callable[[CrcInput], str], ...] = (
        lambda packet: f"from {packet.seen.station}",
        lambda packet: f"{packet.kind}s only",
    )
    for way in ways:
        groups: dict[str, list[CrcInput]] = {}
        for packet in scope.packets:
            groups.setdefault(way(packet), []).append(packet)
        yield [Scope(group, scope.budget, scope.place, words) for words, group in groups.items()]
