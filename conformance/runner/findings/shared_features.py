# SPDX-License-Identifier: BSD-2-Clause
"""What all messages with one trouble share and no other has, if there is evidence enough for it.

A feature is told only if several cases fail with it, and if several pass with all else that is
told but without it. Fewer may differ in anything.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from roceproof.conformance.runner.findings.bounds import (
    BOUNDS,
    MTU,
    Reach,
    limits_of,
    lines_of,
    reach_of,
)
from roceproof.conformance.runner.findings.discriminating_features import Cause, separate
from roceproof.conformance.runner.findings.feature_words import (
    KINDS,
    PREFERENCE,
    Kind,
    carries,
    kinds_of,
)
from roceproof.conformance.runner.findings.observations import (
    COMPLETION,
    FIELD,
    MESSAGE,
    PACKET,
    RULE,
)
from roceproof.conformance.runner.findings.root import STOPS, Root

Document = dict[str, Any]
_STAGES = {STOPS[0]: MESSAGE, STOPS[1]: COMPLETION}
_FEWEST_CASES = 3
_MOST_CAUSES = 2
"""What shows in more kinds of messages than that depends on something else."""


class _Evidence:
    """Messages with a trouble, each with its case, kinds and amounts, and those without.

    Kinds behind those of KINDS are the bounds that a message lies beyond, and none that passes.
    """

    def __init__(self, trouble: str, failed: set[str], seen: Mapping[str, Document]) -> None:
        stage, field = _STAGES.get(trouble, PACKET), trouble.removeprefix(FIELD)
        constant = _constant(trouble, failed, seen)
        self.failing: list[tuple[str, frozenset[int], Reach]] = []
        self.passing: dict[frozenset[int], set[str]] = {}
        self.count = 0
        reaches: set[Reach] = set()
        for name in sorted(seen):
            by_chance = constant is not None and constant in map(
                str, seen[name]["right"].get(field, ())
            )
            for features, at, troubles, count, least, most in seen[name]["rows"]:
                if at != stage or not carries(field, features):
                    continue
                kinds, reach = kinds_of(features), Reach(tuple(least), tuple(most))
                if trouble in troubles:
                    self.failing += [(name, kinds, reach)] * (name in failed)
                elif not by_chance:
                    self.passing.setdefault(kinds, set()).add(name)
                    self.count += count
                    reaches.add(reach)
        self._reach = reach_of(reaches)
        self._mtus = {reach.least[MTU] for reach in reaches}

    def causes(self) -> tuple[list[Cause], frozenset[int]]:
        """Those for which there is enough, and what of the failing messages none explains."""
        found, left = separate(
            [kinds | self._beyond(reach) for _, kinds, reach in self.failing],
            [*self.passing],
            preference=PREFERENCE,
        )
        told = [cause for cause in found if self._is_enough(cause)]
        return told, left.union(*(cause.failing for cause in found if cause not in told))

    def cases(self, numbers: frozenset[int]) -> set[str]:
        """The cases of failing messages."""
        return {self.failing[number][0] for number in numbers}

    def limits(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """Lines of a manifest beyond which all of these messages lie that fail."""
        failing = [self.failing[number][2] for number in numbers]
        return lines_of(limits_of(failing, self._reach, mtus=self._mtus))

    def kinds(self, cause: Cause) -> tuple[Kind, ...]:
        """What messages of a cause have in common."""
        found = sorted(number for number in cause.features if isinstance(number, int))
        return tuple(
            KINDS[number] if number < len(KINDS) else self._kind(number, cause) for number in found
        )

    def _kind(self, number: int, cause: Cause) -> Kind:
        bound, passing = BOUNDS[number - len(KINDS)], self._reach
        failing = reach_of(self.failing[each][2] for each in cause.failing)
        assert failing is not None
        assert passing is not None
        limits = lines_of(bound.limits(failing, passing))
        return Kind(lambda _: False, bound.words(failing, passing), limits)

    def _beyond(self, reach: Reach) -> frozenset[int]:
        passing = self._reach
        if passing is None:
            return frozenset()
        return frozenset(
            number
            for number, bound in enumerate(BOUNDS, len(KINDS))
            if bound.is_beyond(reach, passing)
        )

    def _is_enough(self, cause: Cause) -> bool:
        if len(self.cases(cause.failing)) < _FEWEST_CASES:
            return False
        return all(self._without(feature, cause) >= _FEWEST_CASES for feature in cause.features)

    def _without(self, feature: Any, cause: Cause) -> int:
        """The cases that pass with all but that."""
        others = {each for each in cause.features if each != feature}
        alike = (names for kinds, names in self.passing.items() if others <= kinds)
        return len(set[str]().union(*alike))


def of_stop(trouble: str, failed: set[str], seen: Mapping[str, Document]) -> Iterator[Root]:
    """What stops cases: a finding for each kind of message, and one for what is left."""
    evidence = _Evidence(trouble, failed, seen)
    causes, left = evidence.causes()
    if len(causes) > _MOST_CAUSES:
        causes, left = [], frozenset(range(len(evidence.failing)))
    for cause in causes:
        yield Root(
            [trouble],
            evidence.cases(cause.failing),
            [evidence.kinds(cause)],
            has_cause=True,
            passing=evidence.count,
            limits=evidence.limits(cause.failing),
        )
    if left:
        yield Root([trouble], evidence.cases(left))


def of_trouble(trouble: str, failed: set[str], seen: Mapping[str, Document]) -> Root:
    """A field or a rule: one finding, with the kinds of packets that show it if those are few."""
    evidence = _Evidence(trouble, failed, seen)
    causes, left = evidence.causes() if evidence.failing else ([], frozenset[int]())
    names = evidence.cases(frozenset(range(len(evidence.failing))))
    if trouble.startswith(RULE):
        rule = trouble.removeprefix(RULE)
        others = {name for name in failed & seen.keys() if rule in seen[name].get("rules", ())}
        left |= frozenset([-1]) if others - names else frozenset()
        names |= others
    if left or not 0 < len(causes) <= _MOST_CAUSES:
        return Root([trouble], names)
    return Root(
        [trouble],
        names,
        [*map(evidence.kinds, causes)],
        has_cause=True,
        passing=evidence.count,
        limits=evidence.limits(range(len(evidence.failing))),
    )


def _constant(trouble: str, failed: set[str], seen: Mapping[str, Document]) -> str | None:
    """The one value that a field always has."""
    if not trouble.startswith(FIELD):
        return None
    name = trouble.removeprefix(FIELD)
    told: list[Sequence[str]] = [
        seen[case]["values"].get(name, {}).get("got", []) for case in failed & seen.keys()
    ]
    values = {value for each in told for value in each}
    return values.pop() if len(values) == 1 else None
