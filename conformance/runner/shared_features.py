# SPDX-License-Identifier: BSD-2-Clause
"""What all messages with one trouble share and no other has, if there is evidence enough for it.

A feature is told only if several cases fail with it, and if several pass with all else that is
told but without it. Fewer may differ in anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from roceproof.conformance.runner.kinds import KINDS, carries, kinds_of
from roceproof.conformance.runner.observations import COMPLETION, FIELD, MESSAGE, PACKET, RULE
from roceproof.conformance.runner.root import STOPS, Root
from roceproof.conformance.runner.separation import Cause, separate

Document = dict[str, Any]
_STAGES = {STOPS[0]: MESSAGE, STOPS[1]: COMPLETION}
_FEWEST_CASES = 3
_MOST_CAUSES = 2
"""What shows in more kinds of messages than that depends on something else."""


class _Evidence:
    """Messages with a trouble, each with its case and its kinds, and those without."""

    def __init__(self, trouble: str, failed: set[str], seen: Mapping[str, Document]) -> None:
        stage, field = _STAGES.get(trouble, PACKET), trouble.removeprefix(FIELD)
        constant = _constant(trouble, failed, seen)
        self.failing: list[tuple[str, frozenset[int]]] = []
        self.passing: dict[frozenset[int], set[str]] = {}
        self.count = 0
        for name in sorted(seen):
            by_chance = constant is not None and constant in map(
                str, seen[name]["right"].get(field, ())
            )
            for features, at, troubles, count in seen[name]["rows"]:
                if at != stage or not carries(field, features):
                    continue
                kinds = kinds_of(features)
                if trouble in troubles:
                    self.failing += [(name, kinds)] * (name in failed)
                elif not by_chance:
                    self.passing.setdefault(kinds, set()).add(name)
                    self.count += count

    def causes(self) -> tuple[list[Cause], frozenset[int]]:
        """Those for which there is enough, and what of the failing messages none explains."""
        found, left = separate(
            [kinds for _, kinds in self.failing], [*self.passing], preference=range(len(KINDS))
        )
        told = [cause for cause in found if self._is_enough(cause)]
        return told, left.union(*(cause.failing for cause in found if cause not in told))

    def cases(self, numbers: frozenset[int]) -> set[str]:
        """The cases of failing messages."""
        return {self.failing[number][0] for number in numbers}

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
            [_features(cause)],
            has_cause=True,
            passing=evidence.count,
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
    return Root([trouble], names, [*map(_features, causes)], has_cause=True, passing=evidence.count)


def _features(cause: Cause) -> tuple[int, ...]:
    return tuple(number for number in cause.features if isinstance(number, int))


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
