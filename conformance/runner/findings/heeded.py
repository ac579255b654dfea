# SPDX-License-Identifier: BSD-2-Clause
"""A device that lacks a check of what it receives trips over every frame that the check would drop.

Whatever it then does, now and later, is one fault: cases that sent such frames fail in many words,
few of them pass, and one of them is about the check.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from roceproof.conformance.runner.findings.observations import RULE
from roceproof.conformance.runner.findings.root import Root, fields_of

Document = Mapping[str, Any]
_WORDS = {
    "ETH-09": "the MAC's mark of damage, rx_tuser_i",
    "ICRC-14": "a wrong ICRC",
    "IP-11": "a wrong IPv4 header checksum",
    "GID-05": "the IP address of another station",
    "GID-02": "the IP address of another peer",
    "BTH-05": "another transport header version",
    "BTH-07": "another partition key",
    "BTH-11": "a destination QPN that no queue pair has",
    "BTH-12": "an opcode of another service",
    "BTH-16": "no room for the headers of their opcode",
    "IP-12": "the mark of an IPv4 fragment",
    "IP-13": "another IP length than they have",
    "UDP-09": "another UDP length than they have",
}
_ALSO_ABOUT = {"ICRC-14": {"ICRC-12", "ICRC-15", "ICRC-20", "ICRC-21", "FUZZ-01", "NAK-16"}}
_FEWEST, _MOST = 3, 2 / 3


def of_temptations(
    found: Sequence[Root], cases: Mapping[str, Document], seen: Mapping[str, Document]
) -> list[Root]:
    """The findings, with those as one that only frames without a check have brought about."""
    left = list(found)
    for rule, words in _WORDS.items():
        about = {name for root in left for name in root.cases if _is_about(cases[name], rule)}
        tempted = about | {name for name, seen_of in seen.items() if _has_tried(seen_of, rule)}
        parts = [each for each in left if _is_in_words(each) and each.cases <= tempted]
        failing = {name for root in parts for name in root.cases}
        if failing & about and len(failing) >= max(_FEWEST, _MOST * len(tempted)):
            says = f"frames are heeded that have {words}"
            one = Root([RULE + rule], failing, head=says, teller=min(failing & about), covers=True)
            left = [one, *(root for root in left if root not in parts)]
    return left


def _has_tried(seen: Document, rule: str) -> bool:
    return rule in seen.get("tempted", ())


def _is_in_words(root: Root) -> bool:
    return not (fields_of(root.troubles) or root.says or root.stops)


def _is_about(case: Document, rule: str) -> bool:
    return not {rule, *_ALSO_ABOUT.get(rule, ())}.isdisjoint(case.get("broken", ()))
