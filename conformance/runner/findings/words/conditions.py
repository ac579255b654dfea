# SPDX-License-Identifier: BSD-2-Clause
"""What the requests and the cases of a finding have alone, and passing ones have not."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from roceproof.conformance.runner.findings.accused import WHY_IS_FOR_CASES
from roceproof.conformance.runner.findings.received import Alone
from roceproof.conformance.runner.findings.root import Root, fields_of
from roceproof.conformance.runner.findings.unheeded import ANSWERS, ASKED, all_have, in_common
from roceproof.conformance.runner.outcomes import PASSED
from roceproof.conformance.suite.reporting.failure_site import Kind
from roceproof.conformance.targets.interface import RESET_AMID_LIFE

Document = dict[str, Any]
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


class Fact(NamedTuple):
    """What the frames have alone at which a finding shows.

    The rule that it accuses by that is empty if nobody can say, and None if cases of one kind show
    it, which may be alike for another reason, or say by themselves what is broken.
    """

    what: str
    alone: Alone
    rule: str | None
    cases: int


def fact_of(root: Root, cases: Mapping[str, Document], seen: Mapping[str, Document]) -> Fact | None:
    """What its frames have alone, if there is anything."""
    what = ANSWERS if root.troubles[0] == str(Kind.NO_COMPLETION) else ASKED
    if what == ASKED and (root.says or root.stops or fields_of(root.troubles)):
        return None
    common = in_common(what, seen_by(root, seen), seen.values())
    kinds = {cases[name]["case"].partition("[")[0] for name in root.tellers}
    is_of_one_kind = what == ASKED and (len(kinds) == 1 or _say_why(root, cases))
    rule = None if common is None or is_of_one_kind else common.rule
    return common and Fact(what, common, rule, len(root.cases))


def _say_why(root: Root, cases: Mapping[str, Document]) -> bool:
    """Whether nothing was refused that had to be, each time for the reason that all cases name."""
    told = [cases[name] for name in root.tellers]
    is_unrefused = all(WHY_IS_FOR_CASES in each.get("differed", ()) for each in told)
    return is_unrefused and bool(set.intersection(*({*each.get("broken", ())} for each in told)))


def told_by(
    root: Root, fact: Fact | None, facts: Sequence[Fact | None], seen: Mapping[str, Document]
) -> str | None:
    """The fact of the widest finding that has one, if the requests of this one have it, too."""
    told = [each for each in facts if each and each.rule is not None and each.what == ASKED]
    own = seen_by(root, seen)
    like = [
        each for each in told if each.alone == (fact and fact.alone) or all_have(each.alone, own)
    ]
    return max(like, key=lambda each: each.cases).alone.words if like else None


def seen_by(root: Root, seen: Mapping[str, Document]) -> list[Document]:
    """What those of its cases have seen that tell what is broken."""
    return [seen[name] for name in sorted(root.tellers) if name in seen]


def does_alone(
    root: Root, cases: Mapping[str, Document], seen: Mapping[str, Document]
) -> tuple[frozenset[str], int]:
    """What all its cases have done to streams or the device, and hardly any that has passed.

    With how many of these have.
    """
    told = [set(each.get("disturbed", ())) for each in seen_by(root, seen)]
    if len(told) < _FEWEST or not (shared := set.intersection(*told)):
        return frozenset(), 0
    passed = [seen[name] for name in seen if cases[name]["outcome"] == PASSED]
    often = Counter(name for each in passed for name in each.get("disturbed", ()))
    usual = {name for name, times in often.items() if _RARELY * times > len(passed)}
    alone = frozenset(shared - usual)
    return alone, max((often[name] for name in alone), default=0)


def rule_of_doing(alone: frozenset[str]) -> str:
    """That what its cases do alone to streams may not matter; empty if they do nothing to any."""
    if "tx_stall" in alone:
        return "ETH-07"
    return "FUZZ-15" if alone - {RESET_AMID_LIFE} else ""


def _does(alone: frozenset[str]) -> str:
    told = (f"{_DOES[how]} {what}" for what, _, how in (each.rpartition("_") for each in alone))
    return " and ".join(sorted(told))


def done_by(root: Root, done: Iterable[frozenset[str]], seen: Mapping[str, Document]) -> str | None:
    """What the cases of another finding have done alone, if the cases of this have, too."""
    own = seen_by(root, seen)
    like = [
        each for each in done if each and all(each <= {*one.get("disturbed", ())} for one in own)
    ]
    return _does(max(like, key=len)) if like and own else None


def behind(fact: Fact | None, does: tuple[frozenset[str], int]) -> str:
    """What the sentence of a finding says of them at its end."""
    alone, others = does
    told = f"; {_ALONE[fact.what]} {fact.alone.words}" if fact else ""
    if alone:
        told += f"; all of these cases {_does(alone)}, and {others or 'none'} of those that pass"
    return told
