# SPDX-License-Identifier: BSD-2-Clause
"""Explains the wrong ICRCs of one transmitter, and what one explanation leaves over by itself.

An explanation has to predict the right packets as well as the wrong ones. If
none holds for all, parts that may be made by different machinery are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from roceproof.conformance.diagnosis.icrc.answer import Answer, flip_facts, flips
from roceproof.conformance.diagnosis.icrc.crc_input import Case
from roceproof.conformance.diagnosis.icrc.hypothesis import Hypothesis
from roceproof.conformance.diagnosis.icrc.scope import FEW, Scope
from roceproof.conformance.diagnosis.icrc.strategies import ATTEMPTS, more_faults
from roceproof.conformance.diagnosis.result import CORRUPT, UNDECIDED


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
    for attempt in ATTEMPTS:
        if scope.words and attempt is more_faults:
            continue
        answer = attempt(scope)
        if answer is not None:
            return [answer, *_rest(scope, answer)]
    return []


def _rest(scope: Scope, answer: Answer) -> list[Answer]:
    """Account for the packets that an explanation leaves over."""
    numbers = {case.seen.number for case in answer.explained}
    left = [case for case in answer.asked or scope.wrong if case.seen.number not in numbers]
    if answer.hypothesis is not None:
        left = [case for case in left if answer.hypothesis.predict(case) is not None]
    if not left:
        return []
    found = flips(left, answer.hypothesis)
    hit = {flip.number for flip in found}
    changed = [case for case in left if case.seen.number in hit]
    other = [case for case in left if case.seen.number not in hit]
    few = len(other) <= max(2, FEW * len(scope.cases))
    if few and _follows_others(answer.hypothesis):
        other = []  # a packet before them was not captured
    answers = []
    if changed or (other and few):
        facts = flip_facts(found)
        answers.append(Answer(CORRUPT, scope, [*changed, *other] if few else changed, (), facts))
    if other and not few:
        answers.append(Answer(UNDECIDED, scope, other))
    return answers


def _follows_others(hypothesis: Hypothesis | None) -> bool:
    return hypothesis is not None and bool({"S53", "S54", "S63"} & {*hypothesis.ids})


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
