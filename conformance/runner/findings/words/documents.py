# SPDX-License-Identifier: BSD-2-Clause
"""Root findings as documents: what each shows, accuses and rests on, and how to see it again."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from roceproof.conformance.rules.consequences import comes_of
from roceproof.conformance.runner.findings.accused import (
    about_alone,
    accused,
    decided,
    in_common,
    in_doubt,
    in_most,
    is_of_nearly_all,
    none_passes,
    of_the_shortest,
    says_little,
)
from roceproof.conformance.runner.findings.observations import FEATURES, FIELD, RULE
from roceproof.conformance.runner.findings.order import fewest_frames
from roceproof.conformance.runner.findings.root import (
    DECIDES,
    OF_ONE_FIELD,
    STOPS,
    Root,
    family,
    fields_of,
    rule_of_trouble,
)
from roceproof.conformance.runner.findings.unheeded import ASKED, SAME
from roceproof.conformance.runner.findings.words.conditions import (
    Fact,
    behind,
    does_alone,
    done_by,
    fact_of,
    rule_of_doing,
    seen_by,
    told_by,
)
from roceproof.conformance.runner.findings.words.manifest_lines import lines_for
from roceproof.conformance.runner.findings.words.names import named
from roceproof.conformance.runner.findings.words.sentence import sentence, support
from roceproof.conformance.runner.outcomes import SKIPPED
from roceproof.conformance.suite.reporting.divergence import COMPLETES, is_vague
from roceproof.conformance.suite.reporting.failure_site import Kind

Document = dict[str, Any]
_FEW = 3
_ALIVE, _OF_WHAT_LEFT = "LIVE-01", "ICRC-02"
_A_RECEIVE, _RECEIVED = re.compile(r"want +receive 0x"), dict.fromkeys(COMPLETES, "RQ-01")
_LAYERS = {"ETH", "IP", "BTH", "OPC"}
_MOST_BLANK = 0.1
"""Of all that have run; where more show it, every packet may be so."""
_SERVICE = FEATURES.index("service")


def documents(
    found: list[Root], cases: Mapping[str, Document], seen: Mapping[str, Document]
) -> list[Document]:
    """Everything about the findings, for people and machines."""
    facts = [fact_of(root, cases, seen) for root in found]
    done = [does_alone(root, cases, seen) for root in found]
    alone = [each for each, _ in done]
    told = [
        _document(
            root,
            found,
            cases,
            seen,
            fact,
            told_by(root, fact, facts, seen) or done_by(root, alone, seen),
            does,
        )
        for root, fact, does in zip(found, facts, done, strict=True)
    ]
    vague = [
        each
        for root, each in zip(found, told, strict=True)
        if is_vague(each["rules"]) and not (root.says or root.stops)
    ]
    return [*(each for each in told if each not in vague), *vague]


def _document(
    root: Root,
    found: Sequence[Root],
    cases: Mapping[str, Document],
    seen: Mapping[str, Document],
    fact: Fact | None,
    same: str | None,
    does: tuple[frozenset[str], int],
) -> Document:
    """`same` are the words of a fact that several findings may have in common.

    `does` is what its cases do alone, and how many of those that pass do it, too.
    """
    shown = root.teller or min(
        root.cases, key=lambda name: (seen.get(name, {}).get("frames", 0), name)
    )
    stopped = root.stops
    of_troubles = _of_troubles(root, cases, seen)
    is_plain = root.covers or (root.hides and root.rules) or root.troubles[0] == str(Kind.DEATH)
    rules = [] if root.head and not (stopped or is_plain) else [*of_troubles]
    told: list[list[str]] = []
    if not is_plain and (stopped or root.head or not (rules or root.rules)):
        shared = [cases[name] for name in sorted(root.tellers)]
        told = [accused(case) for case in shared]
        rules += of_the_shortest(cases[shown], told) or in_common(shared)
    rules += [rule for rule in of_troubles if rule not in rules]  # told by what a case has said
    any_of = {*rules, *root.rules, *(rule for several in told for rule in several)}
    if not root.head:
        rules += sorted(root.rules.difference(rules))
    because = [fact.rule] if fact and fact.rule else []
    disagree = _disagreed(root, told, cases)
    lives = decided(root.tellers, cases)
    of_lives = lives if stopped and not root.says else []
    lacking = _of_what_lacks(root, told, seen)
    blank = _of_blank_packets(root, cases)
    first = [*because, *_of_a_cause(root, shown, seen), *of_lives, *disagree, *lacking, *blank]
    # what its cases do besides may be why they stop
    is_told = stopped and not (does[0] or disagree or lacking)
    rules = list(dict.fromkeys([*first, *rules]))
    sure = {*first, *of_troubles, *(rules if is_told or root.says or root.covers else ())}
    if fact and fact.rule and fact.what == ASKED:  # what a few have shown besides follows from it
        own = seen_by(root, seen)
        shown_by = Counter(rule for each in own for rule in each.get("rules", ()))
        mostly = {rule for rule in of_troubles if 2 * shown_by[rule] > len(own)}
        rules = [rule for rule in rules if rule in mostly.union(first)]
    lent = [rule for rule in rules if rule not in sure]
    doubt = in_doubt(lent, root.tellers, cases)
    if {*doubt} == {*rules}:
        doing, names = rule_of_doing(does[0]), [each for each in doubt if not says_little(each)]
        order = [*lives, *doubt]
        order = [*order, doing] if is_vague([doing]) and names else [doing, *order]
        rules = doubt = list(filter(None, dict.fromkeys(order)))
    if rules and rules[0] not in sure and root.tellers:
        lead = none_passes(rules[0], root.tellers, cases)
        about = sum(lead in cases[name].get("rules", ()) for name in root.tellers)
        if lead not in rules and 2 * about < len(root.tellers):
            doubt = [lead, *doubt]
        rules = list(dict.fromkeys([lead, *rules]))
    if rules and rules[0] in doubt:
        doubt = list(dict.fromkeys([*lives, *doubt]))
        rules = list(dict.fromkeys([*lives, *rules]))
    behind_another = {rule for rule in rules if rule not in sure and comes_of(rules, rule)}
    rules.sort(key=behind_another.__contains__)
    if not rules and root.troubles[0] == str(Kind.DEATH):
        rules = doubt = about_alone(cases[name] for name in sorted(root.tellers))
    if _is_of_receives(root, cases):  # COMPLETES are a requester's
        rules, doubt = ([_RECEIVED.get(rule, rule) for rule in each] for each in (rules, doubt))
    others = {name for other in found if other is not root for name in other.cases}
    return {
        "sentence": sentence(root, shown, seen, rules, is_plain=fact is not None)
        + behind(fact, does),
        SAME: same,
        "troubles": root.troubles,
        "head": root.head,
        "support": support(root),
        "explained": named(root, cases),
        "manifest": [str(line) for line in lines_for(root, seen)],
        "cases": sorted(cases[name]["case"] for name in root.cases),
        "count": len(root.cases),
        "frames": fewest_frames(root, seen),
        "only": len(root.cases - others),
        "not_reached": sum(cases[name]["outcome"] == "not_reached" for name in root.cases),
        "stops": stopped,
        "streams": seen.get(shown, {}).get("streams", []) if stopped else [],
        "rules": rules,
        "in_doubt": doubt,
        "any_rules": sorted(any_of),
        "representative": {
            "case": cases[shown]["case"],
            "capture": cases[shown].get("capture"),
            "replay": cases[shown].get("replay"),
        },
    }


def _of_what_lacks(
    root: Root, told: Sequence[Sequence[str]], seen: Mapping[str, Document]
) -> list[str]:
    """The rule that what never came is owed by, where its cases are about very different things."""
    if root.has_cause or root.says or root.troubles[0] not in STOPS or len(told) < _FEW:
        return []
    if is_of_nearly_all(told):
        return []
    services = {
        features[_SERVICE]
        for name in root.tellers
        for features, _, troubles, *_ in seen.get(name, {}).get("rows", ())
        if root.troubles[0] in troubles
    }
    completes, of_uc = COMPLETES
    if services == {"UC"}:
        return [of_uc]
    return [_ALIVE if root.troubles[0] == str(Kind.NO_PACKET) else completes]


def _is_of_receives(root: Root, cases: Mapping[str, Document]) -> bool:
    """Whether what never completed are receives, in all cases."""
    heads = [cases[name].get("head") or "" for name in root.tellers]
    return root.troubles[0] == str(Kind.NO_COMPLETION) and all(map(_A_RECEIVE.search, heads))


def _of_blank_packets(root: Root, cases: Mapping[str, Document]) -> list[str]:
    """What a few cases are about in which a packet has no header of its own, of any layer.

    It came of no work, and its fields say nothing: a store gave what it does not hold.
    """
    layers = {family(each.removeprefix(RULE)) for each in root.troubles if each.startswith(RULE)}
    run = sum(case["outcome"] != SKIPPED for case in cases.values())
    if not layers >= _LAYERS or len(root.cases) > _MOST_BLANK * run:
        return []
    return in_most([cases[name].get("rules", ())[:1] for name in sorted(root.tellers)])[:1]


def _of_troubles(
    root: Root, cases: Mapping[str, Document], seen: Mapping[str, Document]
) -> list[str]:
    """The rules that its troubles break; of several of the observer's those that most cases show.

    Behind a packet of another kind all fields are those of other packets, and break nothing.
    """
    if root.troubles[0] in DECIDES:
        rules = [each for each in root.troubles if each.startswith(RULE)]
        first, *others = filter(None, map(rule_of_trouble, [root.troubles[0], *rules]))
        return [first, *(rule for rule in others if not comes_of([first, *others], rule))]
    follows = {FIELD + "payload"} if FIELD + "pad" in root.troubles else set()
    own = [each for each in root.troubles if each not in follows]  # it is as long as its pad says
    rules = [rule for each in own if (rule := rule_of_trouble(each)) is not None]
    shown_by = Counter(rule for name in root.cases for rule in seen.get(name, {}).get("rules", ()))
    causes = [rule for rule in rules if 2 * shown_by[rule] > len(root.cases)] or rules
    observed = {each.removeprefix(RULE) for each in own if each.startswith(RULE)}
    rules = [rule for rule in rules if not comes_of(causes, rule)]
    rules = [each if each in observed else _finer(each, root, cases) for each in rules]
    if fields_of(root.troubles) == {"payload"} and _OF_WHAT_LEFT in rules:
        rules = list(dict.fromkeys([_OF_WHAT_LEFT, *rules]))  # it was right when that was taken
    if root.head or not all(each.startswith(RULE) for each in root.troubles):
        return rules
    told = (
        [*cases[name].get("differed", ()), *seen.get(name, {}).get("rules", ())]
        for name in sorted(root.cases)
    )
    mostly = in_most([[each for each in several if each in rules] for several in told])
    lead = [rule for rule in rules[:1] if _many_differ_first(rule, root, cases)]
    return list(dict.fromkeys([*lead, *mostly])) or rules


def _many_differ_first(rule: str, root: Root, cases: Mapping[str, Document]) -> bool:
    """Whether what a few cases saw first broke it, of a single field."""
    first = [rule in cases[name].get("differed", ())[:1] for name in root.cases]
    return family(rule) in OF_ONE_FIELD and sum(first) >= _FEW


def _finer(rule: str, root: Root, cases: Mapping[str, Document]) -> str:
    """That of the same field by which most cases call what has differed, or else the rule."""
    if family(rule) not in OF_ONE_FIELD:
        return rule
    named = Counter(
        each
        for name in root.cases
        for each in dict.fromkeys(cases[name].get("differed", ()))
        if family(each) == family(rule)
    )
    told, most = next(iter(named.most_common(1)), (rule, 0))
    return told if 2 * most > len(root.cases) else rule


def _disagreed(
    root: Root, told: Sequence[Sequence[str]], cases: Mapping[str, Document]
) -> list[str]:
    """What all cases of work that never ended have seen, where no rule is accused by most."""
    accused_by = Counter(rule for rules in told for rule in dict.fromkeys(rules))
    most = max(accused_by.values(), default=0)
    if not told or root.troubles[0] != str(Kind.NO_COMPLETION) or 2 * most > len(told):
        return []
    differed = {rule for name in root.tellers for rule in cases[name].get("differed", ())}
    return [rule for rule in COMPLETES if rule in differed][:1]


def _of_a_cause(root: Root, shown: str, seen: Mapping[str, Document]) -> Sequence[str]:
    """The rules of why the case that is told has stopped, where that is known."""
    cause = (seen.get(shown, {}).get("stop") or {}).get("cause")
    return cause[1] if cause and root.stops and not root.says else ()
