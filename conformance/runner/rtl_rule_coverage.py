# SPDX-License-Identifier: BSD-2-Clause
"""Which MUST rules of a responder some case decides on RTL of ours, and which it is known not to.

What a case needs shows in its marks; whether the device has each operation that it asks for shows
only on the way. So the cases run, on the reference model held to what the device's manifest
claims, which builds and simulates nothing. One case that passes is enough for a rule: a case all
of whose rules have one is left out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from roceproof.common.paths import CASES, REPOSITORY, RESPONDER_DUT
from roceproof.conformance.rules.open_rules import OPEN_RULES
from roceproof.conformance.rules.table import RULES, Rule, Severity
from roceproof.conformance.runner.session.inner_session import run_inside
from roceproof.conformance.runner.session.items import rules_of
from roceproof.conformance.runner.session.names import short_name
from roceproof.conformance.runner.session.options import session_arguments
from roceproof.conformance.suite.limits.skips import PREFIX
from roceproof.conformance.targets.capability import Capability
from roceproof.dpi.manifest.dut import load_manifest

DEVICES = (RESPONDER_DUT, REPOSITORY / "examples" / "byte_endpoint" / "dut.toml")
"""The second one takes part in connection management."""


class Shown(NamedTuple):
    """Where a rule is decided."""

    device: str
    case: str


Found = dict[str, Shown]
"""By rule."""


def is_owed(rule: Rule) -> bool:
    """Whether a case has to decide it on RTL."""
    return rule.severity is Severity.MUST and "R" in rule.roles


def cases_on_rtl(*, expression: str = "") -> Found:
    """A case of a responder for each rule that one decides; only of those pytest's -k names."""
    found: Found = {}
    for device in DEVICES:
        trial = _Trial(_name(device), found)
        with tempfile.TemporaryDirectory() as captures:
            words = ["--roce-dut", str(device), "--roce-captures", captures, "-k", expression]
            run_inside([*session_arguments("model"), *words, str(CASES)], trial)
    return found


def problems(found: Mapping[str, Shown], rules: Iterable[Rule] = RULES.values()) -> list[str]:
    """Of these rules, those without a case that are not said to be open, and open ones with one."""
    told = list(rules)
    lost = [
        f"{rule.id}: no case decides it on {' or '.join(map(_name, DEVICES))}; "
        "write one, or give the reason in conformance/rules/open_rules.tsv"
        for rule in told
        if is_owed(rule) and rule.id not in found and rule.id not in OPEN_RULES
    ]
    shut = [
        f"{rule.id}: {found[rule.id].case} decides it on {found[rule.id].device}, so that it is "
        "open no longer; remove it from conformance/rules/open_rules.tsv"
        for rule in told
        if rule.id in OPEN_RULES and rule.id in found
    ]
    return lost + shut


def _name(device: Path) -> str:
    return load_manifest(device).name


class _Trial:
    """Runs what may still show a rule."""

    def __init__(self, device: str, found: Found) -> None:
        self._device = device
        self._found = found
        self._rules: dict[str, list[str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if self._left(item) and _is_of_responder(item)]
        self._rules = {item.nodeid: rules_of(item) for item in items}

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if not self._left(item):
            pytest.skip(f"{PREFIX}each of its rules has a case")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            for rule in self._rules[report.nodeid]:
                self._found.setdefault(rule, Shown(self._device, short_name(report.nodeid)))

    def _left(self, item: pytest.Item) -> bool:
        return any(is_owed(RULES[rule]) and rule not in self._found for rule in rules_of(item))


def _is_of_responder(item: pytest.Item) -> bool:
    needed = {each for mark in item.iter_markers("needs") for each in mark.args}
    return Capability.RESPONDER in needed
