# SPDX-License-Identifier: BSD-2-Clause
"""A root finding in one sentence, with its support, one representative and the command for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from textwrap import shorten
from typing import Any, NamedTuple

from roceproof.conformance.rules.consequences import comes_of
from roceproof.conformance.rules.signatures import parts, title
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.runner.findings.accused import accused, in_doubt, in_most
from roceproof.conformance.runner.findings.accused import in_common as rules_in_common
from roceproof.conformance.runner.findings.feature_words import in_words
from roceproof.conformance.runner.findings.manifest_lines import lines_for
from roceproof.conformance.runner.findings.observations import FIELD, RULE
from roceproof.conformance.runner.findings.ports import of_a_foreign_key, of_a_refusal, of_a_repeat
from roceproof.conformance.runner.findings.received import Alone
from roceproof.conformance.runner.findings.root import (
    DECIDES,
    STOPS,
    Root,
    fields_of,
    rule_of_trouble,
)
from roceproof.conformance.runner.findings.swaps import are_swapped
from roceproof.conformance.runner.findings.unheeded import ANSWERS, ASKED, SAME, all_have, in_common
from roceproof.conformance.runner.outcomes import PASSED
from roceproof.conformance.suite.header_displacement import DISPLACING
from roceproof.conformance.suite.reporting.divergence import is_vague
from roceproof.conformance.suite.reporting.failure_heads import in_short
from roceproof.conformance.suite.reporting.failure_site import Kind

Document = dict[str, Any]
_LONGEST = 300
_EXPLAINABLE = ("ICRC-", "PSN-", "OPC-", "IP-05", "IP-06", "IP-07", "BTH-08")
"""Rules for which `explain` has names."""
_MOST_AGREE = 0.8
_ALONE = {
    ANSWERS: "the answers to them, and none that was heeded, have",
    ASKED: "the requests at which it shows, and none that was served rightly, have",
}
_DOES = {"stall": "stall", "gap": "leave gaps in", "lag": "delay", "reset": "reset"}
"""What is done to a stream or the device, by the end of its name in `Target.disturbed`."""
_RARELY = 20
"""One of so many passing cases may do the same."""
_FEWEST = 3
"""Cases, before anything that they do alone is believed to matter."""
_USUAL = 10
"""Cases in which a good request is refused, before a port of the wrapper is looked at for it."""
_OF_NO_BYTES, _NO_BYTES = "RETH-05", "the request had no bytes"
_MOST_FIELDS = 4
"""More are counted in a sentence, and the first is named."""


def documents(
    found: list[Root], cases: Mapping[str, Document], seen: Mapping[str, Document]
) -> list[Document]:
    """Everything about the findings, for people and machines."""
    facts = [_fact(root, cases, seen) for root in found]
    done = [_does_alone(root, cases, seen) for root in found]
    alone = [each for each, _ in done]
    told = [
        _document(
            root,
            found,
            cases,
            seen,
            fact,
            _told_by(root, fact, facts, seen) or _done_by(root, alone, seen),
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


class _Fact(NamedTuple):
    """What the frames have alone at which a finding shows.

    The rule that it accuses by that is empty if nobody can say, and None if cases of one kind show
    it, which may be alike for another reason.
    """

    what: str
    alone: Alone
    rule: str | None
    cases: int


def _fact(root: Root, cases: Mapping[str, Document], seen: Mapping[str, Document]) -> _Fact | None:
    what = ANSWERS if root.troubles[0] == str(Kind.NO_COMPLETION) else ASKED
    if what == ASKED and (root.says or root.stops or fields_of(root.troubles)):
        return None
    common = in_common(what, _seen_by(root, seen), seen.values())
    kinds = {cases[name]["case"].partition("[")[0] for name in root.tellers}
    is_of_one_kind = what == ASKED and len(kinds) == 1
    rule = None if common is None or is_of_one_kind else common.rule
    return common and _Fact(what, common, rule, len(root.cases))


def _told_by(
    root: Root, fact: _Fact | None, facts: Sequence[_Fact | None], seen: Mapping[str, Document]
) -> str | None:
    """The fact of the widest finding that has one, if the requests of this one have it, too."""
    told = [each for each in facts if each and each.rule is not None and each.what == ASKED]
    own = _seen_by(root, seen)
    like = [
        each for each in told if each.alone == (fact and fact.alone) or all_have(each.alone, own)
    ]
    return max(like, key=lambda each: each.cases).alone.words if like else None


def _seen_by(root: Root, seen: Mapping[str, Document]) -> list[Document]:
    return [seen[name] for name in sorted(root.tellers) if name in seen]


def _does_alone(
    root: Root, cases: Mapping[str, Document], seen: Mapping[str, Document]
) -> tuple[frozenset[str], int]:
    """What all its cases have done to streams or the device, and hardly any that has passed.

    With how many of these have.
    """
    told = [set(each.get("disturbed", ())) for each in _seen_by(root, seen)]
    if len(told) < _FEWEST or not (shared := set.intersection(*told)):
        return frozenset(), 0
    passed = [seen[name] for name in seen if cases[name]["outcome"] == PASSED]
    often = Counter(name for each in passed for name in each.get("disturbed", ()))
    usual = {name for name, times in often.items() if _RARELY * times > len(passed)}
    alone = frozenset(shared - usual)
    return alone, max((often[name] for name in alone), default=0)


def _does(alone: frozenset[str]) -> str:
    told = (f"{_DOES[how]} {what}" for what, _, how in (each.rpartition("_") for each in alone))
    return " and ".join(sorted(told))


def _done_by(
    root: Root, done: Iterable[frozenset[str]], seen: Mapping[str, Document]
) -> str | None:
    """What the cases of another finding have done alone, if the cases of this have, too."""
    own = _seen_by(root, seen)
    like = [
        each for each in done if each and all(each <= {*one.get("disturbed", ())} for one in own)
    ]
    return _does(max(like, key=len)) if like and own else None


def _document(
    root: Root,
    found: Sequence[Root],
    cases: Mapping[str, Document],
    seen: Mapping[str, Document],
    fact: _Fact | None,
    same: str | None,
    does: tuple[frozenset[str], int],
) -> Document:
    """`same` are the words of a fact that several findings may have in common.

    `does` is what its cases do alone, and how many of those that pass do it, too.
    """
    alone, others_do = does
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
        rules += rules_in_common(shared)
    rules += [rule for rule in of_troubles if rule not in rules]  # told by what a case has said
    any_of = {*rules, *root.rules, *(rule for several in told for rule in several)}
    if not root.head:
        rules += sorted(root.rules.difference(rules))
    because = [fact.rule] if fact and fact.rule else []
    first = [*because, *_of_a_cause(root, shown, seen)]
    is_told = stopped and not alone  # what its cases do besides may be why they stop
    rules = list(dict.fromkeys([*first, *rules]))
    sure = {*first, *of_troubles, *(rules if is_told or root.says or root.covers else ())}
    if fact and fact.rule and fact.what == ASKED:  # what a few have shown besides follows from it
        told_by = _seen_by(root, seen)
        shown_by = Counter(rule for each in told_by for rule in each.get("rules", ()))
        mostly = {rule for rule in of_troubles if 2 * shown_by[rule] > len(told_by)}
        rules = [rule for rule in rules if rule in mostly.union(first)]
    lent = [rule for rule in rules if rule not in sure]
    others = {name for other in found if other is not root for name in other.cases}
    return {
        "sentence": _sentence(root, shown, seen, rules, is_plain=fact is not None)
        + (f"; {_ALONE[fact.what]} {fact.alone.words}" if fact else "")
        + (
            f"; all of these cases {_does(alone)}, and {others_do or 'none'} of those that pass"
            if alone
            else ""
        ),
        SAME: same,
        "troubles": root.troubles,
        "head": root.head,
        "support": _support(root),
        "explained": _named(root, cases),
        "manifest": [str(line) for line in lines_for(root, seen)],
        "cases": sorted(cases[name]["case"] for name in root.cases),
        "count": len(root.cases),
        "only": len(root.cases - others),
        "not_reached": sum(cases[name]["outcome"] == "not_reached" for name in root.cases),
        "stops": stopped,
        "streams": seen.get(shown, {}).get("streams", []) if stopped else [],
        "rules": rules,
        "in_doubt": in_doubt(lent, root.tellers, cases),
        "any_rules": sorted(any_of),
        "representative": {
            "case": cases[shown]["case"],
            "capture": cases[shown].get("capture"),
            "replay": cases[shown].get("replay"),
        },
    }


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
    own = (each for each in root.troubles if each not in follows)  # it is as long as its pad says
    rules = [rule for each in own if (rule := rule_of_trouble(each)) is not None]
    rules = [rule for rule in rules if not comes_of(rules, rule)]
    if root.head or not all(each.startswith(RULE) for each in root.troubles):
        return rules
    told = (
        [*cases[name].get("differed", ()), *seen.get(name, {}).get("rules", ())]
        for name in sorted(root.cases)
    )
    return in_most([[each for each in several if each in rules] for several in told]) or rules


def _of_a_cause(root: Root, shown: str, seen: Mapping[str, Document]) -> Sequence[str]:
    """The rules of why the case that is told has stopped, where that is known."""
    cause = (seen.get(shown, {}).get("stop") or {}).get("cause")
    return cause[1] if cause and root.stops and not root.says else ()


def _sentence(
    root: Root,
    shown: str,
    seen: Mapping[str, Document],
    rules: Sequence[str],
    *,
    is_plain: bool,
) -> str:
    """What shows, and which port to look at unless that is plain from the frames."""
    verb = "stop" if root.stops else "show"
    if root.says:
        return f"{verb}: {root.says}"
    what = _what(root, shown, seen, next(iter(rules), ""), is_plain=is_plain)
    if not root.has_cause:
        return f"{verb}: {what}"
    kind = ", or ".join(map(in_words, root.causes)) if any(root.causes) else ""
    if root.stops:
        return f"stop at {kind or 'every message'}: {what}"
    of = "packets of " if kind.startswith("messages") else ""
    return f"show in {of}{kind or 'every packet'}: {what}"


def _what(
    root: Root, shown: str, seen: Mapping[str, Document], rule: str, *, is_plain: bool
) -> str:
    trouble = root.troubles[0]
    stopped = (seen.get(shown, {}).get("stop") or {}).get("words")
    if trouble in STOPS and stopped:
        return str(stopped)
    if fields := [each.removeprefix(FIELD) for each in root.troubles if each.startswith(FIELD)]:
        return _of_fields(root, fields, seen)
    if trouble.startswith(RULE) and not root.head:
        return f'{rule} is broken: "{RULES[rule].sentence}"'
    words = in_short(root.head)
    told = shorten(words, _LONGEST, placeholder=" ...") or trouble
    streams = seen.get(shown, {}).get("standing", {})
    is_usual = len(root.cases) >= _USUAL
    where = (
        (rule == _OF_NO_BYTES and _NO_BYTES)
        or (is_usual and of_a_refusal(words, streams))
        or of_a_foreign_key(words, streams)
        or of_a_repeat(words)
    )
    return f"{told}; {where}" if where and streams and not is_plain else told


def _of_fields(root: Root, fields: Sequence[str], seen: Mapping[str, Document]) -> str:
    first = fields[0]
    if first in DISPLACING:
        return DISPLACING[first]
    told = _values(root, first, seen)
    if len(fields) == 1:
        got = {value for each in told for value in each["got"]}
        right = {
            str(each)
            for case in seen.values()
            for known in ("right", "shown")
            for each in case.get(known, {}).get(first, ())
        }
        if len(got) == 1 and len(told) > 1 and right <= got:
            value, want = told[0]["got"][0], told[0]["want"][0]
            return f"{first} is always {value} (want {want} in the first)"
    values = [seen.get(case, {}).get("values", {}) for case in sorted(root.cases)]
    others = [name for name in fields[1:] if are_swapped(first, name, values)]
    if others:
        return f"{first} and {others[0]} are swapped ({_of_one(first, told)})"
    more = fields[1:] if len(fields) <= _MOST_FIELDS else [f"{len(fields) - 1} other fields"]
    also = f"; {' and '.join(more)}, too" if more else ""
    if more and FIELD + first in DECIDES:
        also = f", and with it {' and '.join(more)}"
    return f"{first} is wrong ({_of_one(first, told)} in the first){also}"


def _of_one(name: str, told: Sequence[Document]) -> str:
    return f"want {told[0]['want'][0]}, got {told[0]['got'][0]}"


def _values(root: Root, name: str, seen: Mapping[str, Document]) -> list[Document]:
    return [seen[case]["values"][name] for case in sorted(root.cases) if _is_in(seen, case, name)]


def _is_in(seen: Mapping[str, Document], case: str, name: str) -> bool:
    return name in seen.get(case, {}).get("values", {})


def _support(root: Root) -> str | None:
    if root.has_cause:
        if not root.passing:
            return None
        if root.troubles[0] == str(Kind.NO_COMPLETION):
            return f"none of these completed; {root.passing:,} other messages did"
        if root.stops:
            return f"none of these came whole; {root.passing:,} other messages did"
        return f"none of these is right; {root.passing:,} other packets are"
    if root.troubles[0] in STOPS and not root.says:
        return "with what else these have in common, others pass"
    return None


def _named(root: Root, cases: Mapping[str, Document]) -> str | None:
    """What `explain` makes of most of its cases that it has looked at.

    Of a few frames it leaves open which of several it is; what most of the cases leave open counts.
    """
    if not any(rule.startswith(_EXPLAINABLE) for rule in root.accuses):
        return None
    looked = [names for case in sorted(root.cases) if (names := cases[case].get("explained"))]
    groups = [[name.split("=") for name in names] for names in looked]
    told = Counter(one for each in groups for one in dict.fromkeys(chain.from_iterable(each)))
    [(first, most)] = told.most_common(1) or [("", 0)]
    if not looked or most < _MOST_AGREE * len(looked):
        return None
    open_with_it = [group for each in groups for group in each if first in group]
    others = [one for one in open_with_it[0] if all(one in group for group in open_with_it)]
    return signature_told("=".join(dict.fromkeys([first, *others])))


def signature_told(name: str) -> str | None:
    """What `explain` has found, with those that explain the frames as well; of `S25=S27`."""
    first, *others = name.split("=")
    if not parts(first):
        return None
    also = f" (or {', '.join(others)})" if others else ""
    return f"{first}{also}: {title(first)}"
