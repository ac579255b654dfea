# SPDX-License-Identifier: BSD-2-Clause
"""Findings that say little of their cause, told behind a more certain one that may be the same.

A fault that one rule names shows in other ways, too: work whose requests are numbered wrongly never
completes, messages for which a wrong receive is used are refused. Such findings tell what was seen,
and no rule for sure; it is the certain one that is to be mended first.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from roceproof.conformance.rules.consequences import comes_of
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.runner.findings.accused import NOTHING, OF_MUCH, by_certainty
from roceproof.conformance.runner.findings.observations import FIELD, RULE
from roceproof.conformance.runner.findings.order import is_far_longer
from roceproof.conformance.runner.findings.received import AROUND
from roceproof.conformance.runner.findings.root import DEAD, STREAM
from roceproof.conformance.runner.findings.unheeded import SAME
from roceproof.conformance.suite.memory import LATE
from roceproof.conformance.suite.reporting.divergence import COMPLETES, is_vague, says_itself
from roceproof.conformance.suite.reporting.failure_heads import wrong_fields

Document = dict[str, Any]
MAY_BE = "may_be"
_OF_ALL = (STREAM, DEAD, f"{RULE}LIVE-01")
"""Troubles behind which nothing else is seen."""

_MANY, _MORE = 10, 3
_OF_AN_ANSWER = ("syndrome", "opcode")
"""Fields by which one answer is another."""
_OWN = ("CNP-", "CM-")
"""Rules of exchanges beside all messages."""


class _Says(IntEnum):
    """How much a finding says of its cause."""

    WHAT_WAS_SEEN = 0
    PERHAPS = 1
    FOR_SURE = 2


def with_kin(findings: Sequence[Document]) -> list[Document]:
    """The findings in their order, but each right behind the one that it may be a sign of.

    `may_be` of such a finding is the number of the other in the list, which counts from 1; else it
    is None. What may be a sign of something else accuses nothing for sure.
    """
    hosts = [_host(number, findings) for number in range(len(findings))]
    hosts = [hosts[host] for host in hosts]  # which may say no more than perhaps itself
    order = sorted(range(len(findings)), key=lambda each: (hosts[each], each != hosts[each], each))
    place = {number: at for at, number in enumerate(order, start=1)}
    return [
        {**findings[each], MAY_BE: None}
        if hosts[each] == each
        else {**findings[each], MAY_BE: place[hosts[each]], "in_doubt": findings[each]["rules"]}
        for each in order
    ]


def _host(number: int, findings: Sequence[Document]) -> int:
    """The place of the finding that says most of those that say more about the same half.

    It may also follow from what another is sure of, or accuse the same as one in front of it. What
    its cases alone do or ask for, and those of others, makes it a sign of the widest of these.
    """
    finding = findings[number]
    says, halves = _says(finding), _halves(finding)
    same = finding.get(SAME)
    if same and (alike := [place for place, each in enumerate(findings) if each.get(SAME) == same]):
        return max(alike, key=lambda place: (findings[place]["count"], -place))
    rules = finding["rules"]
    others = [
        place
        for place, each in enumerate(findings)
        if (place < number and rules and each["rules"] == rules)
        or (_says(each) > says and halves & _halves(each) and _may_host(each, finding))
        or _follows(finding, each)
    ]
    return max(
        others, key=lambda place: (_says(findings[place]), findings[place]["count"]), default=number
    )


def _may_host(finding: Document, other: Document) -> bool:
    """Whether it comes of no stop itself, nor is outdone by what accuses in many cases for each.

    What a device has sent wrongly is not outdone so, however few cases show it. But what a far
    shorter case shows comes of nothing that takes long.
    """
    is_sent = finding["troubles"][0].startswith((FIELD, RULE)) or any(
        not field.startswith(_OF_AN_ANSWER) for field in wrong_fields(finding["head"])
    )
    is_certain = _says(finding) is _Says.FOR_SURE and (is_sent or not other.get("stops"))
    is_outdone = not is_certain and bool(other["rules"]) and _is_far_wider(other, finding)
    if not is_sent and _names(other["rules"]):
        is_outdone |= other["count"] >= _MORE * finding["count"]
    is_outdone |= is_far_longer(finding.get("frames", 0), other.get("frames", 0))
    return not (is_outdone or _comes_of_a_stop(finding, other))


def _comes_of_a_stop(finding: Document, other: Document) -> bool:
    """Whether nothing came, and nothing comes, or all stops, in many of the other's for each."""
    nothing_comes = other.get("stops") or NOTHING in other["head"]
    return bool(nothing_comes) and _is_far_wider(other, finding) and NOTHING in finding["head"]


def _is_far_wider(finding: Document, other: Document) -> bool:
    return bool(finding["count"] >= _MANY * other["count"])


def _follows(finding: Document, other: Document) -> bool:
    """Whether all that it is sure of may have come of what the other is sure of, or stops."""
    if _comes_of_a_stop(finding, other):
        return True
    (sure, _), (causes, _) = by_certainty(finding), by_certainty(other)
    return bool(sure) and all(comes_of(causes, rule) for rule in sure)


def _says(finding: Document) -> _Says:
    first = finding["troubles"][0]
    is_told = first in _OF_ALL or first.startswith(FIELD) or LATE in finding["head"]
    if is_told or _names(by_certainty(finding)[0]):
        return _Says.FOR_SURE
    return _Says.PERHAPS if _names(finding["rules"]) else _Says.WHAT_WAS_SEEN


def _names(rules: Sequence[str]) -> bool:
    """Whether some rule of these is broken by one kind of fault alone, or said by what came."""
    said = (rule for rule in rules if rule not in COMPLETES and says_itself([rule]))
    return any(said) or any(not rule.startswith(OF_MUCH) for rule in rules)


def _halves(finding: Document) -> set[str]:
    """Requester (T), responder (R) or both, of which its rules speak."""
    sure, in_doubt = by_certainty(finding)
    rules = sure or in_doubt
    if is_vague(rules):
        return {"T", "R"}
    found: set[str] = set()
    for rule in rules:
        roles = {*RULES[rule].roles} & {"T", "R"}
        if rule.startswith(AROUND):  # either half lacks what is dropped
            roles = {"T", "R"} if "R" in roles and not rule.startswith(_OWN) else set()
        found |= roles
    return found
