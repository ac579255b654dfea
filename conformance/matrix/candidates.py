# SPDX-License-Identifier: BSD-2-Clause
"""Every mutant of every kind in one form, and the cases that should find each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from roceproof.common.paths import CASES
from roceproof.conformance.matrix.workers import run_session
from roceproof.conformance.mutants.rtl import (
    DEVICES,
    IPV6_MUTANTS,
    MAC_MUTANTS,
    MUTANTS,
    READS_MUTANTS,
    RECOVERY_MUTANTS,
    RESPONDER_MUTANTS,
    VLAN_MUTANTS,
    Mutant,
    load_mutants,
)
from roceproof.conformance.mutants.wire import WireMutant, wire_mutants
from roceproof.conformance.runner.session.items import rules_of
from roceproof.conformance.runner.session.options import session_arguments

FOLDERS = {
    "hdl": MUTANTS,
    "responder": RESPONDER_MUTANTS,
    "mac": MAC_MUTANTS,
    "recovery": RECOVERY_MUTANTS,
    "ipv6": IPV6_MUTANTS,
    "reads": READS_MUTANTS,
    "vlan": VLAN_MUTANTS,
}
"""Of targets: the endpoint, with a responder, behind its MAC, repeating, over IPv6, and so on."""

KINDS = ("rtl", *(target for target in FOLDERS if target != "hdl"), "wire", "model")
"""Of mutants: the first part of an id, in the order in which they are counted."""


def arguments_for(target: str) -> list[str]:
    """What a session of the suite over such devices begins with."""
    if target in FOLDERS:
        return [*session_arguments("hdl"), "--roce-dut", str(DEVICES[FOLDERS[target]])]
    return session_arguments(target)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A mutant, the target that shows it, and what is expected of the suite and of `explain`."""

    name: str
    kind: str  # of KINDS
    target: str  # of FOLDERS, or one of the suite's
    description: str
    expected: tuple[str, ...]
    explained_as: tuple[str, ...]

    @property
    def id(self) -> str:
        """The name with its kind: the same fault may be planted in hardware and on the wire."""
        return f"{self.kind}:{self.name}"


def candidates() -> list[Candidate]:
    """All mutants that prove checks, in the order of their kinds and ids."""
    found = [
        _candidate(mutant, "rtl" if target == "hdl" else target, target)
        for target, folder in FOLDERS.items()
        for mutant in load_mutants(folder).mutants
        if mutant.kind is None
    ]
    found += [_candidate(mutant, mutant.kind, "model") for mutant in wire_mutants().values()]
    return found


def _candidate(mutant: Mutant | WireMutant, kind: str, target: str) -> Candidate:
    return Candidate(
        name=mutant.id,
        kind=kind,
        target=target,
        description=mutant.description,
        expected=mutant.expected,
        explained_as=mutant.explained_as,
    )


@dataclass(frozen=True)
class Cases:
    """The cases that run on a target: their rules by node id, and the smoke suite's."""

    rules: Mapping[str, Sequence[str]]
    smoke: frozenset[str]

    def against(self, candidate: Candidate) -> list[str]:
        """The cases that name an expected rule."""
        wanted = set(candidate.expected)
        return [case for case, rules in self.rules.items() if not wanted.isdisjoint(rules)]


class _Collector:
    def __init__(self) -> None:
        self.rules: dict[str, list[str]] = {}
        self.smoke: set[str] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if item.get_closest_marker("skip") is None:
                path = f"{item.path}::{item.nodeid.partition('::')[2]}"
                self.rules[path] = rules_of(item)
                if item.get_closest_marker("smoke"):
                    self.smoke.add(path)


def cases_of(target: str, options: Sequence[str] = ()) -> Cases:
    collector = _Collector()
    arguments = [*arguments_for(target), *options, str(CASES), "--collect-only"]
    run_session(arguments, collector)
    return Cases(collector.rules, frozenset(collector.smoke))
