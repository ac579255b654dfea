# SPDX-License-Identifier: BSD-2-Clause
"""Which rules of a requester and of a responder some case decides on RTL of ours, and which none.

What a case needs shows in its marks; whether the device has each operation that it asks for shows
only on the way. So the cases run, on the reference model held to what the device's manifest
claims, which builds and simulates nothing. One case that passes is enough for a rule: a case all
of whose rules have one is left out. A case that only a simulation can show counts by its marks.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pytest

from roceproof.common.paths import (
    CASES,
    IPV6_DUT,
    READS_DUT,
    RECOVERY_DUT,
    REPOSITORY,
    RESPONDER_DUT,
    VLAN_DUT,
    XGMII_DUT,
)
from roceproof.conformance.rules.open_rules import OPEN_RULES, Duty
from roceproof.conformance.rules.table import RULES, Rule, Severity
from roceproof.conformance.runner.session.inner_session import run_inside
from roceproof.conformance.runner.session.items import rules_of
from roceproof.conformance.runner.session.names import short_name
from roceproof.conformance.runner.session.options import session_arguments
from roceproof.conformance.suite.limits.skips import PREFIX
from roceproof.conformance.targets.capability import Capability
from roceproof.dpi.manifest.dut import load_manifest

DEVICES = (
    RESPONDER_DUT,
    RECOVERY_DUT,
    IPV6_DUT,
    VLAN_DUT,
    READS_DUT,
    XGMII_DUT,
    REPOSITORY / "examples" / "byte_endpoint" / "dut.toml",
)
"""All of ours that claim something of their own; the last takes part in connection management."""

PARTS = {"T": Capability.REQUESTER, "R": Capability.RESPONDER}
"""What a device claims that plays the part of a letter in the table of rules."""

_ONLY_SIMULATED = f"{PREFIX}only hdl can show it"


class Shown(NamedTuple):
    """Where a rule is decided."""

    device: str
    case: str


Found = dict[Duty, Shown]


def duties_of(rule: Rule) -> list[Duty]:
    """The parts whose keeping it a case has to decide on RTL."""
    is_owed = rule.severity is not Severity.INFO
    return [Duty(role, rule.id) for role in PARTS if is_owed and role in rule.roles]


def cases_on_rtl(*, expression: str = "") -> Found:
    """A case for each duty that one decides; only of those cases that pytest's -k names."""
    found: Found = {}
    for device in DEVICES:
        trial = _Trial(load_manifest(device).name, found)
        with tempfile.TemporaryDirectory() as captures:
            words = ["--roce-dut", str(device), "--roce-captures", captures, "-k", expression]
            run_inside([*session_arguments("model"), *words, str(CASES)], trial)
    return found


def problems(found: Mapping[Duty, Shown], rules: Iterable[Rule] = RULES.values()) -> list[str]:
    """Of these rules, those without a case that are not said to be open, and open ones with one."""
    told = [duty for rule in rules for duty in duties_of(rule)]
    lost = [
        f"{duty}: no case decides it on RTL of ours (rtl/*.toml); "
        "write one, or give the reason in conformance/rules/open_rules.tsv"
        for duty in told
        if duty not in found and duty not in OPEN_RULES
    ]
    shut = [
        f"{duty}: {found[duty].case} decides it on {found[duty].device}, so that it is "
        "open no longer; remove it from conformance/rules/open_rules.tsv"
        for duty in told
        if duty in OPEN_RULES and duty in found
    ]
    return lost + shut


class _Trial:
    """Runs what may still show a rule."""

    def __init__(self, device: str, found: Found) -> None:
        self._device = device
        self._found = found
        self._duties: dict[str, list[Duty]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._duties = {item.nodeid: _duties_shown_by(item) for item in items}
        items[:] = [item for item in items if self._left(item)]

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if not self._left(item):
            pytest.skip(f"{PREFIX}each of its rules has a case")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if (report.when == "call" and report.passed) or _ONLY_SIMULATED in str(report.longrepr):
            for duty in self._duties[report.nodeid]:
                self._found.setdefault(duty, Shown(self._device, short_name(report.nodeid)))

    def _left(self, item: pytest.Item) -> bool:
        return any(duty not in self._found for duty in self._duties[item.nodeid])


def _duties_shown_by(item: pytest.Item) -> list[Duty]:
    """Of the parts that the device plays in it, unless it cannot run on RTL."""
    if any("hdl" not in mark.args for mark in item.iter_markers("targets")):
        return []
    needed = {each for mark in item.iter_markers("needs") for each in mark.args}
    owed = [duty for rule in rules_of(item) for duty in duties_of(RULES[rule])]
    return [duty for duty in owed if PARTS[duty.role] in needed]
