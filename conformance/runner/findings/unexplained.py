# SPDX-License-Identifier: BSD-2-Clause
"""What of failing cases no finding explains yet, grouped by the first thing that was wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

from roceproof.conformance.runner.findings.root import STOPS, Root, family, fields_of
from roceproof.conformance.runner.findings.signs import follows
from roceproof.conformance.suite.header_displacement import DISPLACED, DISPLACING
from roceproof.conformance.suite.reporting.divergence import VAGUE
from roceproof.conformance.suite.reporting.failure import FIELD_RULES
from roceproof.conformance.suite.reporting.failure_heads import (
    answer_named,
    likeness,
    name_of_wanted,
    refused_with,
    undue,
    wrong_fields,
)
from roceproof.conformance.suite.reporting.failure_site import Kind

Document = dict[str, Any]
_FOLLOWS_PAD = ("pad", "pad bytes", "payload")
_FIELD_OF = {"MSN": "msn", "PSN": "psn"}
"""The field that a family of rules is about."""
_OUTSIDE = ("ip_checksum", "udp_checksum", "frame pad", "arp padding", "trailer", "pad bytes")
"""What of a frame no field of its packet says."""
LENGTHS = frozenset({"field ip_length", "field udp_length"})
"""Where they end a packet too soon nobody finds its ICRC."""
_ALIVE = "LIVE-01"


def unexplained(
    failed: set[str],
    cases: Mapping[str, Document],
    seen: Mapping[str, Document],
    known: Sequence[Root],
) -> list[Root]:
    """A finding for each kind of failure that is left; cases that others explain go to those."""
    groups: dict[str, Root] = {}
    for name in sorted(failed):
        observed = seen.get(name, {})
        explaining = [root for root in known if name in root.cases]
        left = []
        for head, rules in _failures(cases[name], observed):
            root = _explains(head, rules, observed, explaining, known)
            if root is None and not rules and not wrong_fields(head):
                root = _about(cases[name], explaining)
            if root is None:
                left.append((head, rules))
            else:
                root.cases.add(name)
        if not left:
            if not any(name in root.cases for root in known):
                left = [(str(cases[name].get("head", "")) or "failed without a word", ())]
            else:
                continue
        head, rules = left[0]
        kind = (observed.get("stop") or {}).get("kind") or "assertion"
        root = groups.setdefault(likeness(head), Root([kind], set()))
        if not root.head:
            root.head, root.teller = head, name
        root.cases.add(name)
        root.rules |= set(rules)
    return _joined(_without_random(groups, cases))


def explained_by(head: str, rules: Sequence[str], known: Sequence[Root]) -> Root | None:
    """The finding of which a failure outside of these cases is another sign."""
    if followed := _followed(head, known):
        return followed
    for root in known:
        if root.hides or _is_sign_of(head, root) or (rules and all(map(root.accounts_for, rules))):
            return root
    return None


def _is_sign_of(head: str, root: Root) -> bool:
    """Whether it is told alike, follows from it, or shows its wrong fields and more."""
    if not root.head:
        return False
    fields = wrong_fields(root.head) - {"icrc"}
    is_wider = bool(fields) and fields <= wrong_fields(head)
    return _are_alike(root.head, head) or follows(head, root.head) or is_wider


def _failures(case: Document, seen: Document) -> list[tuple[str, Sequence[str]]]:
    """What was wrong besides predicted packets and rules of the observer, the first thing first."""
    if "failures" in seen:
        told = [(str(head), tuple(rules)) for head, rules in seen["failures"]]
    else:
        told = [(str(case.get("head", "")), tuple(case.get("broken", ())))]
    stop = seen.get("stop") or {}
    if told and stop.get("kind") == str(Kind.WRONG_PACKET):
        fields = ", ".join(f"{name}: want {want}, got {got}" for name, want, got in stop["fields"])
        name = name_of_wanted(told[0][0])
        came = answer_named({name: got for name, _, got in stop["fields"]}.get("syndrome", ""))
        is_other = came not in ("", name)
        what = f"{came} came where {name} was due" if is_other else f"{name} came otherwise"
        told[0] = (f"{what}; {fields}" if name else fields, told[0][1])
    return [(head, rules) for head, rules in told if head or rules]


def _explains(
    head: str,
    rules: Sequence[str],
    seen: Document,
    explaining: Sequence[Root],
    known: Sequence[Root],
) -> Root | None:
    """The finding of which a failure is a part."""
    if followed := _followed(head, explaining) or _followed(head, known):
        return followed
    stop = (seen.get("stop") or {}).get("kind")
    for root in explaining:
        if stop in STOPS and stop in root.troubles:
            return root
        if rules and all(map(root.accounts_for, rules)):
            return root
        if root.decides and (not rules or _ALIVE not in rules):
            return root
    return None


def _about(case: Document, explaining: Sequence[Root]) -> Root | None:
    """The finding that breaks, in its packets, a rule that the case is about."""
    about = case.get("rules", ())
    return next((root for root in explaining if any(map(root.accounts_for, about))), None)


def _followed(head: str, known: Sequence[Root]) -> Root | None:
    """The first finding of those that explain all fields that were wrong, if they do.

    A wrong ICRC is explained by another wrong field, or where all ICRCs are wrong; a count of
    packets goes with their PSN, what is behind the payload with the pad, and what is read behind
    BTH with a header more or less.
    """
    alike = likeness(head)
    if brought := next(
        (root for root in known if root.brings and alike.startswith(root.brings)), None
    ):
        return brought
    if alike.startswith(STOPS[1]):  # as a plan says it
        return next((root for root in known if STOPS[1] in root.troubles), None)
    wrong = wrong_fields(head)
    fields: dict[str, Root] = {}
    for root in sorted(known, key=lambda root: -len(root.cases)):
        for name in fields_of(root.troubles):
            fields.setdefault(name, root)
        accused = {family(rule) for rule in root.accuses}
        for name in accused & _FIELD_OF.keys():
            fields.setdefault(_FIELD_OF[name], root)
        for name in _OUTSIDE:
            if FIELD_RULES[name] in root.accuses:
                fields.setdefault(name, root)
        if "PAD" in accused:
            fields |= dict.fromkeys(_FOLLOWS_PAD, root)
        if "field ip_length" in root.troubles:
            fields.setdefault("udp_length", root)
        if not DISPLACING.keys().isdisjoint(fields_of(root.troubles)):
            for name in (*DISPLACED, "udp_length"):
                fields.setdefault(name, root)
        if not LENGTHS.isdisjoint(root.troubles):
            fields.setdefault("icrc", root)
        if "ICRC" in accused and not any(root.causes):
            fields.setdefault("icrc", root)
    if (wrong - {"icrc"}) & fields.keys():
        wrong.discard("icrc")
    if {"psn"} & wrong & fields.keys():
        wrong.discard("ident")
    return fields[min(wrong)] if wrong and wrong <= fields.keys() else None


def _are_alike(one: str, other: str) -> bool:
    refused = refused_with(one)
    if (what := undue(one)) and what == undue(other):
        return True
    return likeness(one) == likeness(other) or bool(refused and refused == refused_with(other))


def _without_random(
    groups: Mapping[str, Root], cases: Mapping[str, Document]
) -> Mapping[str, Root]:
    """Random cases show what others show with the same answer: these say more of why."""
    about = {
        name: [str(rule) for rule in case.get("rules", ["any"])] for name, case in cases.items()
    }
    kept = {
        name: root
        for name, root in groups.items()
        if not all(rule.startswith(VAGUE) for case in root.cases for rule in about[case])
    }
    for name, root in groups.items():
        if name not in kept:
            hosts = (other for other in kept.values() if _are_alike(other.head, root.head))
            if (host := next(hosts, None)) is None:
                kept[name] = root
            else:
                host.take(root)
    return kept


def _joined(groups: Mapping[str, Root]) -> list[Root]:
    """Packets with more wrong fields show the same fault as packets with fewer of them."""
    found: list[tuple[set[str], Root]] = []
    for root in sorted(groups.values(), key=lambda root: len(wrong_fields(root.head))):
        fields = wrong_fields(root.head) - {"icrc"}
        host = next((other for names, other in found if names and names <= fields), None)
        if host is None:
            found.append((fields, root))
        else:
            host.take(root)
    return [root for _, root in found]
