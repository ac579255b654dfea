# SPDX-License-Identifier: BSD-2-Clause
"""The few things that are wrong with a device, found in what all cases of a run have seen of it.

First comes what is true of every case (`whole_run`). Then each trouble, which is what may be wrong
with a packet or message: it never came, it never completed, a field, a rule that the observer
knows. A trouble is one finding, however many cases show it; the features that all its messages
share and no other has are told with it (`shared_features`). What is wrong in the same packets, or
follows from another finding, is a part of that. What is left of a case is grouped by the first
thing that was wrong (`unexplained`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from roceproof.conformance.rules.consequences import comes_of
from roceproof.conformance.runner.findings.accused import OF_MUCH, in_common
from roceproof.conformance.runner.findings.hang import standstill
from roceproof.conformance.runner.findings.heeded import of_temptations
from roceproof.conformance.runner.findings.observations import PACKET, RULE
from roceproof.conformance.runner.findings.order import in_order
from roceproof.conformance.runner.findings.ports import LANES
from roceproof.conformance.runner.findings.root import (
    DECIDES,
    OF_ONE_FIELD,
    STOPS,
    Root,
    family,
    fields_of,
)
from roceproof.conformance.runner.findings.shared_features import of_stop, of_trouble
from roceproof.conformance.runner.findings.signs import with_signs
from roceproof.conformance.runner.findings.swaps import are_swapped
from roceproof.conformance.runner.findings.unexplained import LENGTHS, unexplained
from roceproof.conformance.runner.findings.whole_run import Fact, facts, in_all, of
from roceproof.conformance.runner.outcomes import FAILING, HUNG
from roceproof.conformance.suite.reporting.failure import (
    FIELD_RULES,
    OF_EVERY_PACKET,
    STRAY,
    STRAY_COMPLETION,
    STRAY_RECEIVE,
)
from roceproof.conformance.suite.reporting.failure_heads import (
    HEEDED,
    WITHOUT_A_PAUSE,
    harms_memory,
    refused_with,
    undue,
)
from roceproof.conformance.targets.ping import WRONGLY
from roceproof.dpi.session.streams import Standing

Document = dict[str, Any]
_TOGETHER = 0.9
"""Of the packets with a trouble this share has another, too, if that explains it."""
_NOT_ANSWERED = "LIVE-01"
_STRAYS = {STRAY: "BTH-10", STRAY_COMPLETION: "QPS-06", STRAY_RECEIVE: "RQ-01"}
_BETWEEN_ADDRESSES = "IP-08"
_COUNT = "MSN"
"""Rules of the one counter that a queue pair answers with."""
_OWN_ADDRESSES = {"src_mac", "src_ip"}
_BY_LENGTH = {"payload", "pad", "icrc"}
"""Fields that are found by the lengths of a packet."""
_TELLS = {"a sequence NAK": "NAK-02"}
"""What the observer says of an answer that was not due."""
_PSN, _PLAIN_PSN, _SOME_SAY_WHY = "PSN", FIELD_RULES["psn"], 5
"""One of so many cases is enough that says why."""
_FEWEST = 3
"""Cases with packets that are right, before it is said that only such a fault harms others."""


def roots(cases: Mapping[str, Document], seen: Mapping[str, Document]) -> list[Root]:
    """All findings, in the order in which they are told."""
    failed = {name for name, case in cases.items() if case["outcome"] in FAILING}
    found = [*_of_all(failed, cases, seen)]
    hidden = {name for root in found if root.hides for name in root.cases}
    left = {name: each for name, each in seen.items() if name not in hidden}
    found += _strays(failed, left)
    troubles, packets = _troubles(failed, left), _packets(failed, left)
    for stop in (each for each in troubles if each in STOPS):
        found += [root for root in of_stop(stop, failed, left) if not _is_told(root, found)]
    for trouble in (each for each in troubles if each not in STOPS):
        root = of_trouble(trouble, failed, left)
        stray = next((other for other in found if _is_of_strays(root, other)), None)
        if stray is not None:
            stray.take(root)
            continue
        together = [other for other in found if _goes_with(root, other, packets, left)]
        if together:
            together[0].take(root)
        else:
            found.append(root)
    _unreached(found)
    found += unexplained(failed - hidden, cases, left, found)
    found = of_temptations(_of_one_thing(found), cases, seen)
    found = _of_undue(_of_gaps(with_signs(_of_one_rule(found, cases))))
    return in_order(found, cases, seen)


def _of_gaps(found: list[Root]) -> list[Root]:
    """Where only frames without a pause are known to harm memory, other bytes come of that."""
    cause = next((root for root in found if WITHOUT_A_PAUSE in root.head), None)
    if cause is None:
        return found
    parts = [each for each in found if each is not cause and harms_memory(each.head)]
    for part in parts:
        cause.cases |= part.cases
    return [root for root in found if root not in parts]


def _of_undue(found: list[Root]) -> list[Root]:
    """Answers of one kind that were not due are one finding, with the rule that tells of them.

    With good requests that are refused goes whatever else is refused with the same code.
    """
    in_words = [each for each in found if each.head and not (each.says or each.stops)]
    kinds = {undue(each.head) for each in in_words} - {""}
    left = list(found)
    for kind in sorted(kinds):
        alike = [each for each in in_words if undue(each.head) == kind]
        codes = {refused_with(each.head) for each in alike} - {""}
        host = max(alike, key=lambda each: len(each.cases))
        for each in found:
            is_told = each in in_words and refused_with(each.head) in codes
            is_told |= not each.head and each.accuses == {_TELLS.get(kind)}
            if each is not host and (each in alike or is_told):
                host.take(each)
                left.remove(each)
    return left


def _of_all(
    failed: set[str], cases: Mapping[str, Document], seen: Mapping[str, Document]
) -> Iterable[Root]:
    ran = [name for name, each in seen.items() if each.get("standing")]
    standings = {name: _standing_of(seen[name]) for name in ran}
    asked = {name: each["lost"] for name, each in seen.items() if each.get("lost") is not None}
    hidden: set[str] = set()
    in_vain = {
        name
        for name in failed & standings.keys()
        if HUNG in cases[name] or not standings[name].keys().isdisjoint(STOPS)
    }
    found = [fact for fact in facts(standings) if fact.cases & failed]
    if in_vain and not found:
        stops = (root for stop in STOPS for root in of_stop(stop, failed, seen))
        caused = {name for root in stops if root.has_cause for name in root.cases}
        found = standstill(standings, in_vain=in_vain, lost=asked, caused=caused)
    for fact in found:
        # Cases that have failed without this device have done so with others of its kind.
        idle = {name for name in ran if not _used(standings[name])}
        hidden = failed & (fact.cases | idle)
        says, rules = in_all(fact, ran), {fact.breaks} - {""}
        if (cause := _cause_in(hidden, seen)) is not None:
            says, rules = f"{says}; {cause[0]}", set(cause[1])
        brings = fact.brings
        yield Root([fact.trouble], hidden, says=says, hides=True, brings=brings, rules=rules)
    is_lost = bool(asked) and all(asked.values()) and bool(failed & asked.keys() - hidden)
    if is_lost and any(_answers_nobody(seen[name], standings.get(name, {})) for name in asked):
        lost = "ARP" if "ARP" in asked.values() else next(iter(asked.values()))
        is_wrong = lost.startswith(WRONGLY)
        never = lost if is_wrong else f"{lost} was never answered"
        says = in_all(Fact(never, frozenset(asked)), [*asked])
        if not is_wrong and all(of(standings.get(name, {}), "rx").beats for name in asked):
            says += f", though frames are taken: {LANES}"
        yield Root([RULE + _NOT_ANSWERED], failed & asked.keys(), says=says)


def _answers_nobody(case: Document, streams: Mapping[str, Standing]) -> bool:
    """Whether a case shows no more than that: no answer of another kind, and nothing before it."""
    is_first = [accused for _, accused in case.get("failures", ())][:1] == [[_NOT_ANSWERED]]
    return is_first or not of(streams, "left").beats or bool(of(streams, "wr").beats)


def _cause_in(names: set[str], seen: Mapping[str, Document]) -> Sequence[Any] | None:
    """What all of these that know why they have stopped say of it, words and rules."""
    stops = (seen[name].get("stop") or {} for name in sorted(names & seen.keys()))
    causes = [stop["cause"] for stop in stops if "cause" in stop]
    return causes[0] if causes and all(each == causes[0] for each in causes) else None


def _strays(failed: set[str], seen: Mapping[str, Document]) -> Iterable[Root]:
    """Packets and completions of nobody, and what was heeded and had to be dropped.

    What came of them in their cases is theirs.
    """
    told: dict[tuple[str, str], dict[str, str]] = {}
    for name in sorted(failed & seen.keys()):
        for head, accused in seen[name].get("failures", ()):
            kinds = [(words, rule) for words, rule in _STRAYS.items() if words in head]
            kinds += [(words, rule) for words in HEEDED if words in head for rule in accused[:1]]
            for kind in kinds:
                told.setdefault(kind, {})[name] = head
    for (_, rule), heads in sorted(told.items()):
        rules = {rule for name in heads for rule in seen[name].get("rules", ())}
        teller, first = next(iter(heads.items()))
        yield Root([RULE + rule], {*heads}, head=first, teller=teller, rules=rules, covers=True)


def _used(streams: Mapping[str, Standing]) -> bool:
    """Whether a case had any use for its device."""
    return any(streams[name].beats or streams[name].waits for name in ("qpc", "wr"))


def _standing_of(seen: Document) -> dict[str, Standing]:
    """The streams of a case; what it waited for stands with them."""
    found = {name: Standing(*each) for name, each in seen["standing"].items()}
    if stop := seen.get("stop"):
        found[stop["kind"]] = Standing(1)
    return found


def _of_one_thing(found: list[Root]) -> list[Root]:
    """Rules about the same field that are broken in no case in which another of them is not."""
    kept: list[Root] = []
    for root in sorted(found, key=lambda root: (-len(root.cases), not root.head)):
        host = next((other for other in kept if _is_part(root, other)), None)
        if host is None:
            kept.append(root)
        else:
            host.take(root)
    return kept


def _of_one_rule(found: list[Root], cases: Mapping[str, Document]) -> list[Root]:
    """Other words of cases that accuse the same rule first, if it is one of a single behaviour.

    What the observer tells of that rule alone goes with them, or of another of that field.
    """
    kept: dict[str, Root] = {}
    others: list[Root] = []
    for root in sorted(found, key=lambda root: -len(root.cases)):
        rule = ""
        if root.head and not (root.says or root.stops or root.covers):
            rule = next(iter(in_common([cases[name] for name in sorted(root.cases)])), "")
        elif _is_of_one_family(root.troubles):
            rule = _differed_first(root, cases)
            root.troubles = list(dict.fromkeys([RULE + rule, *root.troubles]))
        if not rule or rule.startswith(OF_MUCH):
            others.append(root)
        elif rule in kept:
            kept[rule].take(root)
        else:
            kept[rule] = root
    return [*others, *kept.values()]


def _is_of_one_family(troubles: Sequence[str]) -> bool:
    """Whether all that is wrong are rules of the observer, of one family."""
    families = {family(each.removeprefix(RULE)) for each in troubles if each.startswith(RULE)}
    return len(families) == 1 and all(each.startswith(RULE) for each in troubles)


def _differed_first(root: Root, cases: Mapping[str, Document]) -> str:
    """The rule that the observer tells, or the one about the same field that most cases saw.

    Of a PSN that is wrong many cases know no more than that; where others say why, that is it.
    """
    rule = root.troubles[0].removeprefix(RULE)
    if family(rule) not in OF_ONE_FIELD:
        return rule
    first = Counter(each for name in root.cases for each in cases[name].get("differed", ())[:1])
    plain = first.pop(_PLAIN_PSN, 0)
    seen, most = next(iter(first.most_common(1)), (rule, 0))
    if 2 * most > len(root.cases) and comes_of([seen], rule):
        return seen
    share = _SOME_SAY_WHY if plain and most >= _FEWEST else 2
    if family(seen) == family(rule) and share * most > len(root.cases):
        return seen
    return _PLAIN_PSN if 2 * plain > len(root.cases) and family(rule) == _PSN else rule


def _is_part(root: Root, other: Root) -> bool:
    if root.says or root.stops or other.says or other.stops or not root.accuses:
        return False
    if root.cases <= other.cases:
        is_shown = bool(other.head) and not root.head  # as a rule what is there in words
        return is_shown or all(map(other.accounts_for, root.accuses))
    kin = {family(rule) for rule in root.accuses | other.accuses}
    if kin == {_COUNT}:
        return True
    return len(kin) == 1 and kin <= OF_ONE_FIELD and bool(root.cases & other.cases)


def _unreached(found: list[Root]) -> None:
    """A device that says otherwise who it is cannot be reached, nor be heard to answer."""
    strange = [root for root in found if fields_of(root.troubles) & _OWN_ADDRESSES]
    lost = [root for root in found if root.says and not root.hides]
    if strange and lost:
        strange[0].take(lost[0])
        found.remove(lost[0])


def _is_told(root: Root, found: Sequence[Root]) -> bool:
    return any((other.says or other.covers) and root.cases <= other.cases for other in found)


def _troubles(failed: set[str], seen: Mapping[str, Document]) -> list[str]:
    names = {
        trouble
        for case in failed & seen.keys()
        for _, _, troubles, *_ in seen[case]["rows"]
        for trouble in troubles
    }
    names |= {RULE + rule for case in failed & seen.keys() for rule in seen[case].get("rules", ())}
    return sorted(
        names,
        key=lambda name: (name not in STOPS, name.startswith(RULE), name not in DECIDES, name),
    )


def _packets(failed: set[str], seen: Mapping[str, Document]) -> Mapping[tuple[str, ...], int]:
    """How many packets of failing cases have just these troubles."""
    counts: Counter[tuple[str, ...]] = Counter()
    for name in failed & seen.keys():
        for _, _, troubles, count, *_ in seen[name]["rows"]:
            counts[tuple(troubles)] += count
    return counts


def _goes_with(
    root: Root, other: Root, packets: Mapping[tuple[str, ...], int], seen: Mapping[str, Document]
) -> bool:
    """Whether a trouble is a part of a finding: of the same packets, or what that brings along."""
    if other.stops or other.says:
        return False
    mine, theirs = set(root.troubles), set(other.troubles)
    decides = not theirs.isdisjoint(DECIDES)
    if decides:
        theirs |= {RULE + rule for rule in other.accuses}
    counts: Counter[tuple[bool, bool]] = Counter()
    for troubles, count in packets.items():
        if troubles:
            counts[not mine.isdisjoint(troubles), not theirs.isdisjoint(troubles)] += count
    both, alone = counts[True, True], max(counts[True, False], counts[False, True])
    is_apart = bool(fields_of(root.troubles) & OF_EVERY_PACKET)
    if both and both >= _TOGETHER * (both + alone) and not is_apart:
        return True
    if decides and both and not is_apart:
        beside = both >= _TOGETHER * (both + counts[True, False])
        behind = bool(fields_of(root.troubles)) and root.cases <= other.cases
        if (beside or behind) and _is_right_elsewhere(seen):
            return True
        if beside and fields_of(root.troubles) <= _BY_LENGTH and not LENGTHS.isdisjoint(theirs):
            return True
    accused = root.accuses
    if accused and (
        (accused <= other.accuses and not other.covers)
        or (root.cases <= other.cases and all(map(other.accounts_for, accused)))
    ):
        return True
    told = [seen[case]["values"] for case in sorted(root.cases & other.cases)]
    return any(
        are_swapped(one, two, told)
        for one in fields_of(root.troubles)
        for two in fields_of(other.troubles)
    )


def _is_of_strays(root: Root, other: Root) -> bool:
    """Whether what the observer says of addresses is that packets go to a QPN that nobody has."""
    is_stray = other.covers and other.troubles == [RULE + _STRAYS[STRAY]]
    shared = len(root.cases & other.cases)
    return (
        is_stray and root.accuses == {_BETWEEN_ADDRESSES} and shared >= _TOGETHER * len(root.cases)
    )


def _is_right_elsewhere(seen: Mapping[str, Document]) -> bool:
    """Whether several cases have packets in which nothing is wrong."""
    whole = [
        name
        for name, each in seen.items()
        if any(at == PACKET and not troubles for _, at, troubles, *_ in each["rows"])
    ]
    return len(whole) >= _FEWEST
