# SPDX-License-Identifier: BSD-2-Clause
"""Which rule is tested on which target, and why not where it is not.

Nothing is built, booted or run: the cases are collected once for each target, with its claims.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import CASES
from roceproof.conformance.rules.table import RULES, Rule, Severity
from roceproof.conformance.runner.session.asked import TARGETS
from roceproof.conformance.runner.session.inner_session import run_inside
from roceproof.conformance.runner.session.items import rules_of
from roceproof.conformance.runner.session.names import short_name
from roceproof.conformance.runner.session.options import session_arguments
from roceproof.conformance.suite.limits.skips import PREFIX
from roceproof.conformance.targets.capability import Capability

_ROLES = (Capability.REQUESTER, Capability.RESPONDER)


class Standing(StrEnum):
    """How a rule stands on a target."""

    TESTED = "tested"  # by cases
    OBSERVED = "observed"  # by the observer, in the capture of every case
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not applicable"  # the target does not play that part
    MISSING = "missing"
    NOT_DEMANDED = "not demanded"  # no case, and the rule is no MUST


@dataclass
class Entry:
    """One rule on one target."""

    cases: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def standing(self, rule: Rule) -> Standing:
        """The one word for it."""
        if self.cases:
            return Standing.TESTED
        if rule.observable:
            return Standing.OBSERVED
        if self.skipped:
            is_part = any(role.value in reason for role in _ROLES for reason in self.reasons)
            return Standing.NOT_APPLICABLE if is_part else Standing.SKIPPED
        if rule.severity is Severity.MUST:
            return Standing.MISSING
        return Standing.NOT_DEMANDED

    @property
    def reasons(self) -> list[str]:
        """Why its cases are skipped, each reason once."""
        return list(dict.fromkeys(self.skipped.values()))


Coverage = dict[str, dict[str, Entry]]
"""By target, then by rule."""


class CollectionError(RoceproofError):
    """The cases cannot be collected; the text is pytest's."""


class _Collector:
    def __init__(self) -> None:
        self.entries = {rule: Entry() for rule in RULES}
        self.problems: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.problems.append(str(report.longrepr))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            skip = item.get_closest_marker("skip")
            reason = skip.kwargs["reason"].removeprefix(PREFIX) if skip else None
            name = short_name(item.nodeid)
            for rule in rules_of(item):
                entry = self.entries[rule]
                if reason is None:
                    entry.cases.append(name)
                else:
                    entry.skipped[name] = reason


def coverage_of(targets: Iterable[str] = TARGETS) -> Coverage:
    """Collect the cases for each target."""
    return {target: _collect(target) for target in targets}


def missing(coverage: Coverage) -> list[str]:
    """The MUST rules that some target could show and that no case decides there."""
    return [
        rule.id
        for rule in RULES.values()
        if any(entries[rule.id].standing(rule) is Standing.MISSING for entries in coverage.values())
    ]


def _collect(target: str) -> dict[str, Entry]:
    collector = _Collector()
    arguments = [*session_arguments(target), str(CASES), "--collect-only"]
    if target == "nic":
        arguments += ["--roce-interface", "lo", "--roce-agent", "unused"]
    code = run_inside(arguments, collector)
    if collector.problems or code != pytest.ExitCode.OK:
        raise CollectionError("\n".join(collector.problems) or f"pytest's exit code is {code}")
    return collector.entries
