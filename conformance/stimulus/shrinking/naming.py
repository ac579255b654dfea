# SPDX-License-Identifier: BSD-2-Clause
"""The rules that a failing plan accuses: what differed first, and what the small plan still says.

Whatever could be left out of a plan has been, so what it still says is what the device trips over:
a flaw that it must not overlook, a field that it must not look at.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from roceproof.conformance.model.codes import AethType
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.suite.reporting.divergence import (
    COMPLETES,
    differed,
    is_vague,
    says_itself,
)
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.verbs.queue_pair import FULL_ACCESS

_MOST_SAID = 3
"""A plan that says more than that has not been made small."""
_OF_FLAWS = {
    "icrc": "ICRC-12",
    "covered": "ICRC-12",
    "payload": "ICRC-12",
    "checksum": "IP-11",
    "header": "IP-11",
    "fragment": "IP-12",
    "stranger": "GID-02",
    "dst_ip": "GID-05",
    "astray": "GID-05",
    "dst_mac": "LIVE-03",
    "alias": "BTH-11",
    "qpn": "BTH-11",
    "opcode": "BTH-12",
    "service": "BTH-12",
    "tver": "BTH-05",
    "pkey": "BTH-07",
    "member": "BTH-07",
    "marked": "ICRC-13",
    "trailer": "ETH-03",
    "pad": "PAD-06",
    "grown": "PAD-06",
    "short": "BTH-16",
    "cut": "MTU-06",
    "port": "FUZZ-19",
    "damaged": "ETH-09",
    "mac": "ETH-09",
}
_OF_ANSWERS = {
    "brink": "IP-11",
    "ttl": "IP-09",
    "tos": "IP-09",
    "ident": "IP-09",
    "sport": "UDP-07",
    "fecn": "BTH-09",
    "becn": "BTH-09",
    "resv6": "BTH-09",
    "resv7": "BTH-09",
    "pkey": "BTH-07",
    "trailer": "ETH-03",
    "msn": "MSN-08",
    "ahead": "ACK-09",
    "flip": "ACK-09",
}
_OF_REQUESTS = {
    "shift": "RETH-07",
    "key_mask": "RETH-06",
    "more": "RETH-11",
    "bytes": "MTU-06",
    "turned": "OPC-08",
    "stops": "OPC-07",
    "skip": "NAK-01",
    "lost": "NAK-01",
    "early": "NAK-01",
    "twice": "DUP-01",
    "immediate": "IMM-02",
    "kill_mask": "INV-01",
    "compare": "ATOM-04",
    "is_equal": "ATOM-04",
    "compare_mask": "ATOM-04",
}
_OF_DATA = {"twist": "READ-07", "skip": "RTX-19"}
_OF_STEPS = {
    "again": "DUP-01",
    "respond_again": "RTX-19",
    "reread": "DUP-05",
    "late": "QPS-05",
    "raw": "BTH-13",
    "foreign": "LIVE-03",
    "idle": "QPS-01",
    "reset": "QPS-06",
    "restart": "QPS-04",
    "power_on": "QPS-04",
    "reinvalidate": "DUP-01",
    "walk": "QPS-02",
    "fail": "QPS-03",
    "overfill": "QPS-03",
}
_ON_UC = {
    **dict.fromkeys(("OPC-13", "MTU-06", "BTH-13"), "UC-09"),
    **{f"RETH-{number:02}": "UC-09" for number in range(6, 12)},
    **{"OPC-07": "UC-07", "OPC-08": "OPC-10", "NAK-01": "UC-04", "DUP-01": "UC-11"},
}
_ON_UD = {"RETH-06": "UD-02", "MTU-06": "UD-04"}
_OF_SERVICES: Mapping[str, Mapping[str, str]] = {"UC": _ON_UC, "UD": _ON_UD}
"""What rules of RC are where nothing is refused."""
_LIVES = "QPS-"
_SERVICE = re.compile(r"\((UC|UD)\) at rest")
_OF_KINDS: dict[int, str] = {AethType.ACK: "AETH-04", AethType.RNR_NAK: "RNR-05"}


def rules_of_plan(plan: Plan, failure: CaseFailed) -> tuple[str, ...]:
    """Those of a field or of the observer alone; else of the divergence and of what is said.

    That work completed comes of what was heeded, so what is said leads there.
    Where all that is left to be said is how a life ends or begins, that leads: what differs is what
    another rule asks for in any life.
    """
    first = differed(failure)
    if first == failure.rules and not is_vague(first) and first[0] not in COMPLETES:
        return first
    service = _SERVICE.search(str(failure))
    of_the_plan = [rule for step in plan.steps for rule in _said(step)]
    if service is not None:
        of_the_plan = [*_on(service[1], of_the_plan)]
    still = dict.fromkeys(of_the_plan)
    said = tuple(still) if len(still) <= _MOST_SAID else ()
    of_lives = bool(said) and all(rule.startswith(_LIVES) for rule in said)
    if says_itself(first) and first[0] not in COMPLETES and not of_lives:
        return tuple(dict.fromkeys((*first, *said)))
    return tuple(dict.fromkeys((*said, *first)))


def _on(service: str, rules: Sequence[str]) -> Iterator[str]:
    """What these are on queue pairs of that service; nothing, if they do not hold there."""
    there = _OF_SERVICES[service]
    for rule in rules:
        if rule in there:
            yield there[rule]
        elif RULES[rule].services == "all" or service in RULES[rule].services.split():
            yield rule


def _said(step: Step) -> Iterator[str]:
    fields = step.fields
    for flaw in [fields.get("flaw"), *(name for name, _ in fields.get("flaws", ()))]:
        if flaw == "behind":
            yield "NAK-13" if fields.get("syndrome", 0) >= AethType.NAK << 5 else "ACK-10"
        elif flaw in _OF_FLAWS:
            yield _OF_FLAWS[flaw]
    if step.name == "answer":
        yield from _of_fields(fields, _OF_ANSWERS)
        if "flaw" not in fields:
            yield from _of_syndrome(fields.get("syndrome"))
    elif step.name == "respond":
        yield from _of_fields(fields, _OF_DATA)
    elif step.name == "request":
        yield from _of_fields(fields, _OF_REQUESTS)
    elif step.name == "region":
        yield from ["RETH-09"] * ("access" in fields) + ["RETH-10"] * ("is_foreign" in fields)
    elif step.name == "connect":
        yield from ["OPC-13"] * ({*fields.get("access", FULL_ACCESS)} != FULL_ACCESS)
    elif step.name in _OF_STEPS:
        yield _OF_STEPS[step.name]


def _of_fields(fields: Mapping[str, Any], rules: Mapping[str, str]) -> Iterator[str]:
    return (rule for name, rule in rules.items() if name in fields)


def _of_syndrome(syndrome: int | None) -> Iterator[str]:
    """A credit code, an RNR NAK or what is reserved: good ACKs and fatal NAKs are usual."""
    if syndrome is None or syndrome in range(0x60, 0x64):
        return
    yield _OF_KINDS.get(syndrome >> 5, "AETH-05")
