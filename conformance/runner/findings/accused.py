# SPDX-License-Identifier: BSD-2-Clause
"""Which rules a case accuses, and which of them several cases share."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from roceproof.conformance.runner.findings.root import family
from roceproof.conformance.runner.outcomes import PASSED, SKIPPED
from roceproof.conformance.suite.reporting.divergence import COMPLETES, VAGUE, is_vague, says_itself

Document = Mapping[str, Any]
_NEARLY_ALL = 0.8
WHY_IS_FOR_CASES = "NAK-07"
"""Nothing was refused that had to be: for which of the reasons, cases say."""
OF_MUCH = (*VAGUE, *COMPLETES, "LIVE-", "ACK-", "NAK-", "RETH-12", "PSN-12", "QPS-")
"""Rules that very different faults break."""
_UNANSWERED, _ALIVE = "ACK-01", "LIVE-01"
NOTHING = "got nothing"
"""In the head of what lacks something."""
_SEEN = ("RQ-", "RTX-07")
"""Rules that a case cannot see broken for another reason, but where nothing comes."""
_LIVES = "QPS-"
_NOT_DUE = "NAK-02"
"""A sequence NAK came for no gap: cases about PSNs know more."""
_FEW = 3
"""Of rules of which none is shared by half the cases more say nothing."""
_REFUSALS = {"NAK", "RNR"}
"""Families of which each tells when the other's answer does not come."""


def accused(case: Document) -> list[str]:
    """What a case accuses: what differed and its kin, where that names a rule by itself.

    Of several rules that it is about, it accuses those that what differed names. A case that was
    not reached may know no more than that the device lives no longer.
    """
    broken, differed = case.get("broken", ()), case.get("differed", ())
    if differed and all(map(says_little, broken)):
        return list(differed)
    of_psns = _NOT_DUE in differed and any(family(rule) == "PSN" for rule in broken)
    if of_psns or not says_itself(differed):
        named = [rule for rule in broken if rule in differed and not rule.startswith(OF_MUCH)]
        about = sorted(broken, key=lambda r: (r.startswith(OF_MUCH), r not in differed))
        return named or about
    kin = {*map(family, differed)}
    kin |= _REFUSALS if kin & _REFUSALS else set()
    own = [rule for rule in broken if family(rule) in kin and rule not in COMPLETES]
    return list(dict.fromkeys([*own, *differed]))


def in_common(cases: Sequence[Document]) -> list[str]:
    """What these cases accuse; if they are about many things, what most of them saw first.

    Where that are rules of very different faults, one that half the cases are about goes before.
    """
    told = [accused(case) for case in cases]
    told = [rules for rules in told if not is_vague(rules)] or told
    rules = in_most(told)
    if rules and rules[0].startswith(OF_MUCH):
        about = ({*accused(case)}.intersection(case.get("rules", ())) for case in cases)
        finer = Counter(rule for each in about for rule in each)
        half = [rule for rule in sorted(finer) if 2 * finer[rule] >= len(cases)]
        by_all = set.intersection(*({*case.get("broken", ())} for case in cases))
        shared = [rule for rule in sorted(by_all) if not rule.startswith(OF_MUCH)]
        shared = shared if len(cases) > 1 or len(shared) == 1 else []
        lead = [*(rule for rule in half if not rule.startswith(OF_MUCH)), *shared][:1]
        rules = list(dict.fromkeys([*lead, *rules]))
    if any(2 * sum(rule in each for each in told) > len(told) for rule in rules):
        return rules
    first = Counter(rule for case in cases for rule in case.get("differed", ())[:1])
    rule, most = next(iter(first.most_common(1)), ("", 0))
    is_said = not is_vague([rule]) and rule != WHY_IS_FOR_CASES
    return [rule] if is_said and 2 * most > len(cases) > 1 else rules[:_FEW]


def is_of_nearly_all(told: Sequence[Sequence[str]]) -> bool:
    """Whether these cases accuse one rule that says something."""
    most = max((count for rule, count in _cases(told).items() if not is_vague([rule])), default=0)
    return most >= _NEARLY_ALL * len(told)


def of_the_shortest(case: Document, told: Sequence[Sequence[str]]) -> list[str]:
    """The one rule that the shortest case is about, where no half of the cases agree on any.

    `told` is what each of them accuses.
    """
    if len(told) < 2 or 2 * max(_cases(told).values(), default=0) >= len(told):
        return []
    own = list(case.get("broken", ()))
    return own if len(own) == 1 and not case.get("differed") and not is_vague(own) else []


def about_alone(cases: Iterable[Document]) -> list[str]:
    """The one thing that all these cases are about, but that the device lives, if it is one."""
    shared = set.intersection(*({*case.get("broken", ())} for case in cases)) - {_ALIVE}
    return [*shared] if len(shared) == 1 else []


def in_doubt(rules: Iterable[str], failing: Set[str], cases: Mapping[str, Document]) -> list[str]:
    """Those of the rules that what has run does not carry.

    It carries a rule that nearly all of a finding's cases accuse, if what differed does not name
    another, and not more of the cases that are about it have passed: one that is about several
    rules fails for any of them.
    """
    told = _clear([accused(cases[name]) for name in failing])
    is_unanswered = all(_came_to_nothing(cases[name]) for name in failing)
    found = []
    for rule in rules:
        passing = sum(case["outcome"] == PASSED for case in cases.values() if _is_about(case, rule))
        shown = sum(_is_about(cases[name], rule) for name in failing)
        is_shared = sum(rule in each for each in told) >= _NEARLY_ALL * len(told)
        is_lent = 2 * sum(_names_another(cases[name], rule) for name in failing) > len(failing)
        is_seen = is_shared and rule.startswith(_SEEN) and not is_unanswered
        if not is_seen and (not (is_shared and shown) or is_lent or passing > shown):
            found.append(rule)
    return found


def none_passes(first: str, failing: Set[str], cases: Mapping[str, Document]) -> str:
    """A finer rule than the first of which every case fails here, while others of that one pass.

    A case with one cause may stop at what its own rule says of a packet that is not there. It is
    of the first one's family, or half the cases are about it. What came says some rules broken
    whatever a case is about: where it does in all cases there is no finer one.
    """
    says_so = all(first in cases[name].get("differed", ()) for name in failing)
    is_said = first not in COMPLETES and says_itself([first]) and says_so
    if is_said or not first.startswith(OF_MUCH):
        return first
    run = [case for case in cases.values() if case["outcome"] != SKIPPED]
    about = Counter(rule for case in run for rule in {*case.get("rules", ())})
    shown = Counter(rule for name in failing for rule in {*cases[name].get("rules", ())})
    finer = [
        rule
        for rule in sorted(shown)
        if about[rule] == shown[rule] > shown[first]
        if family(rule) == family(first)
        or (2 * shown[rule] >= len(failing) and not rule.startswith(OF_MUCH))
    ]
    return max(finer, key=lambda rule: shown[rule], default=first)


def decided(failing: Set[str], cases: Mapping[str, Document]) -> list[str]:
    """The rule of lives and queue pairs that all of a finding's cases name first.

    What differs is what another rule asks for in any life, and never names it by itself.
    """
    first = {tuple(cases[name].get("rules", ()))[:1] for name in failing}
    return [rule for (rule,) in filter(None, first) if len(first) == 1 and rule.startswith(_LIVES)]


def says_little(rule: str) -> bool:
    """Whether it is broken by whatever harms a device."""
    return rule.startswith((*VAGUE, "LIVE-"))


def by_certainty(finding: Document) -> tuple[list[str], list[str]]:
    """The rules that a finding accuses, and those of which it is not sure."""
    doubt = finding.get("in_doubt", ())
    sure = [rule for rule in finding["rules"] if rule not in doubt]
    return sure, [rule for rule in finding["rules"] if rule in doubt]


def _came_to_nothing(case: Document) -> bool:
    return NOTHING in case.get("head", "") or _UNANSWERED in case.get("differed", ())


def _names_another(case: Document, rule: str) -> bool:
    """Whether what differed first says by itself which rule is broken, and says another."""
    differed = case.get("differed", ())
    return rule not in differed and says_itself(differed)


def _is_about(case: Document, rule: str) -> bool:
    return rule in case.get("rules", ())


def in_most(told: Sequence[Sequence[str]]) -> list[str]:
    """The fewest rules of which nearly each of these cases accuses one, the most common first.

    All of them have one cause, so that a rule that one case alone is about says little of it.
    """
    told = _clear(told)
    found: list[str] = []
    left = [rules for rules in told if rules]
    while left and (not found or len(left) > (1 - _NEARLY_ALL) * len(told)):
        counts = _cases(left)
        places = {rule: min(r.index(rule) for r in left if rule in r) for rule in counts}
        found.append(
            min(counts, key=lambda r: (is_vague([r]), -counts[r], r.startswith(OF_MUCH), places[r]))
        )
        left = [rules for rules in left if found[-1] not in rules]
    return found


def _clear(told: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Without those that name rules of very different faults alone, where most share another."""
    clear = [rules for rules in told if not all(rule.startswith(OF_MUCH) for rule in rules)]
    return clear if 2 * max(_cases(clear).values(), default=0) > len(told) else told


def _cases(told: Iterable[Sequence[str]]) -> Counter[str]:
    """How many of these cases accuse each rule."""
    return Counter(rule for rules in told for rule in dict.fromkeys(rules))
