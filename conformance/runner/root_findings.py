# SPDX-License-Identifier: BSD-2-Clause
"""The few things that are wrong with a device, found in what all cases of a run have seen of it.

A trouble is what may be wrong with a packet or message: it never came, it never completed, a
field, a rule that the observer knows. For each, the search looks for the smallest set of features
that all which have it share and no other has (`separation`). Troubles of the same cause are one
finding. What has no cause is grouped by the first thing that was wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from roceproof.conformance.runner.kinds import KINDS, kinds_of
from roceproof.conformance.runner.observations import COMPLETION, FIELD, MESSAGE, PACKET, RULE
from roceproof.conformance.runner.outcomes import FAILING
from roceproof.conformance.runner.separation import separate
from roceproof.conformance.suite.failure import FIELD_RULES
from roceproof.conformance.suite.stop import Kind

STOPS = (str(Kind.NO_PACKET), str(Kind.NO_COMPLETION))
_STAGES = {STOPS[0]: MESSAGE, STOPS[1]: COMPLETION}
_FEWEST_CASES = 3
"""A cause that fewer cases share is a guess."""
_DIGITS = re.compile(r"\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b|\b[0-9a-f]{8,}\b|0x[0-9a-f]+|\d+(\.\d+)*")
_WRONG_FIELD = re.compile(r"(?:^|[;,] )([a-z][a-z_ ]*): want ")
_DEATH, _PATH = "the device died: ", re.compile(r"/\S+")
_ONLY_BYTES = "its fields are right, its bytes wrong"
_PLACE = re.compile(r"^\S+\.py:\d+: [^;]*; |\bqp\d+ (?=\()|; then: .*")
"""Where in a case, on which queue pair and in which storm: not what was wrong."""

Document = dict[str, Any]


@dataclass
class Root:
    """One finding: its troubles, the cases that show it, and what they share."""

    troubles: list[str]
    cases: set[str]
    causes: list[tuple[int, ...]] = field(default_factory=list)
    has_cause: bool = False
    """Nothing that passed contradicts the causes; no features mean that nothing has passed."""
    failing: int = 0
    passing: int = 0
    head: str = ""

    @property
    def stops(self) -> bool:
        """Whether a case goes no further because of it."""
        return self.troubles[0] in STOPS or self.troubles[0] == str(Kind.DEATH)


def roots(cases: Mapping[str, Document], seen: Mapping[str, Document]) -> list[Root]:
    """All findings, what stops cases first, then what most cases show."""
    failed = {name for name, case in cases.items() if case["outcome"] in FAILING}
    found: list[Root] = []
    for trouble in _troubles(failed, seen):
        found += _joined(list(_of_trouble(trouble, failed, seen)))
    merged = _merged(found)
    merged += _rest(failed, cases, seen, merged)
    return sorted(merged, key=lambda root: (not root.stops, -len(root.cases), root.troubles))


def _troubles(failed: set[str], seen: Mapping[str, Document]) -> list[str]:
    names = {
        trouble
        for case in failed & seen.keys()
        for _, _, troubles, _ in seen[case]["rows"]
        for trouble in troubles
    }
    return sorted(names, key=lambda name: (name not in STOPS, name.startswith(RULE), name))


def _of_trouble(trouble: str, failed: set[str], seen: Mapping[str, Document]) -> Iterator[Root]:
    stage = _STAGES.get(trouble, PACKET)
    constant = _constant(trouble, failed, seen)
    failing: list[tuple[str, frozenset[int]]] = []
    passing: dict[frozenset[int], int] = {}
    for name in sorted(seen):
        is_by_chance = constant is not None and constant in map(
            str, seen[name]["right"].get(trouble.removeprefix(FIELD), ())
        )
        for features, at, troubles, count in seen[name]["rows"]:
            if at != stage:
                continue
            kinds = kinds_of(features)
            if trouble in troubles:
                failing += [(name, kinds)] * (name in failed)
            elif not is_by_chance:
                passing[kinds] = passing.get(kinds, 0) + count
    causes, left = separate(
        [kinds for _, kinds in failing], list(passing), preference=range(len(KINDS))
    )
    for cause in causes:
        names = {failing[number][0] for number in cause.failing}
        if len(names) < _FEWEST_CASES:
            left |= cause.failing
            continue
        features = tuple(number for number in cause.features if isinstance(number, int))
        yield Root(
            [trouble],
            names,
            [features],
            has_cause=True,
            failing=len(cause.failing),
            passing=sum(passing.values()),
        )
    if left:
        names = {failing[number][0] for number in left}
        yield Root([trouble], names, failing=len(left), passing=sum(passing.values()))


def _joined(several: list[Root]) -> list[Root]:
    """A field or rule that is wrong in more than one kind of packet is one finding all the same."""
    caused = [root for root in several if root.has_cause]
    if len(caused) < 2 or caused[0].stops:
        return several
    first = caused[0]
    for root in caused[1:]:
        first.cases |= root.cases
        first.causes += root.causes
        first.failing += root.failing
    return [first, *(root for root in several if not root.has_cause)]


def _constant(trouble: str, failed: set[str], seen: Mapping[str, Document]) -> str | None:
    """The one value that a field always has."""
    if not trouble.startswith(FIELD):
        return None
    name = trouble.removeprefix(FIELD)
    told = [seen[case]["values"].get(name, {}).get("got", []) for case in failed & seen.keys()]
    values = {value for each in told for value in each}
    return values.pop() if len(values) == 1 else None


def _merged(found: Sequence[Root]) -> list[Root]:
    """Troubles with the same cause, of which one shows in no case without the other, are one."""
    merged: list[Root] = []
    for root in found:
        for other in merged:
            alike = root.has_cause and other.has_cause and root.causes == other.causes
            if alike and (root.cases <= other.cases or other.cases <= root.cases):
                other.troubles += root.troubles
                other.cases |= root.cases
                break
            if not root.has_cause and root.cases <= other.cases and _kin(root, other):
                other.troubles += root.troubles
                break
        else:
            merged.append(root)
    return merged


def _kin(root: Root, other: Root) -> bool:
    return not _families(root.troubles).isdisjoint(_families(other.troubles))


def _families(troubles: Sequence[str]) -> set[str]:
    return {_family(rule) for trouble in troubles if (rule := rule_of_trouble(trouble))}


def rule_of_trouble(trouble: str) -> str | None:
    """The rule that it breaks by itself."""
    if trouble.startswith(RULE):
        return trouble.removeprefix(RULE)
    return FIELD_RULES.get(trouble.removeprefix(FIELD))


def _family(rule: str) -> str:
    return rule.partition("-")[0]


def _rest(
    failed: set[str],
    cases: Mapping[str, Document],
    seen: Mapping[str, Document],
    known: Sequence[Root],
) -> list[Root]:
    """Failing cases that no finding explains, by the first thing that was wrong in each."""
    groups: dict[str, Root] = {}
    for name in sorted(failed):
        explained = [root for root in known if name in root.cases]
        stop = (seen.get(name, {}).get("stop") or {}).get("kind")
        broken = {_family(rule) for rule in cases[name].get("broken", ())}
        families = {family for root in explained for family in _families(root.troubles)}
        is_stopped = stop in STOPS and any(stop in root.troubles for root in explained)
        head = _first_wrong(cases[name], seen.get(name, {}))
        if explained and (is_stopped or broken <= families):
            continue
        if followed := _followed(head, explained or known):
            followed.cases.add(name)
            continue
        root = groups.setdefault(_likeness(head), Root([stop or "assertion"], set()))
        root.head = root.head or head
        root.cases.add(name)
    return list(groups.values())


def _followed(head: str, known: Sequence[Root]) -> Root | None:
    """The first finding of those that explain all fields that were wrong, if they do.

    A wrong ICRC is explained by another wrong field, or where all ICRCs are wrong; what is behind
    the payload goes with the pad.
    """
    wrong = set(_WRONG_FIELD.findall(head))
    fields: dict[str, Root] = {}
    for root in known:
        for trouble in root.troubles:
            if trouble.startswith(FIELD):
                fields.setdefault(trouble.removeprefix(FIELD), root)
        families = _families(root.troubles)
        if "PAD" in families:
            fields |= dict.fromkeys(("pad", "pad bytes", "payload"), root)
        if "field ip_length" in root.troubles:
            fields.setdefault("udp_length", root)
        if "ICRC" in families and not any(root.causes):
            fields.setdefault("icrc", root)
    if (wrong - {"icrc"}) & fields.keys():
        wrong.discard("icrc")
    return fields[min(wrong)] if wrong and wrong <= fields.keys() else None


def _likeness(head: str) -> str:
    """What is alike in heads of the same trouble: a death, the fields that are wrong, the words."""
    _, is_death, words = head.partition(_DEATH)
    if is_death:
        return _DEATH + _DIGITS.sub("#", _PATH.sub("", words))
    if fields := _WRONG_FIELD.findall(head):
        return ", ".join(sorted(set(fields)))
    return _ONLY_BYTES if _ONLY_BYTES in head else _DIGITS.sub("#", without_place(head))


def without_place(head: str) -> str:
    """What was wrong, without where and when."""
    return _PLACE.sub("", head)


def _first_wrong(case: Document, seen: Document) -> str:
    """The first thing that was wrong, in words that are alike for what is alike."""
    stop = seen.get("stop") or {}
    if stop.get("kind") == str(Kind.WRONG_PACKET):
        return ", ".join(f"{name}: want {want}, got {got}" for name, want, got in stop["fields"])
    return str(case.get("head", "")) or "failed without a word"
