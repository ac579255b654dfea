# SPDX-License-Identifier: BSD-2-Clause
"""Each corrupted capture breaks exactly the rules it is named for, and no rule is left out."""

from __future__ import annotations

import corrupted_datagrams
import corrupted_headers
import corrupted_links
import corrupted_requests
import corrupted_responses
import pytest
from scenarios import SCENARIOS, Scenario, broken_rules

from roceproof.conformance.rules.table import RULES

REGISTERED = (
    corrupted_datagrams,
    corrupted_headers,
    corrupted_links,
    corrupted_requests,
    corrupted_responses,
)
NEVER_BY_THEMSELVES = {
    *("VLAN-01", "UC-01", "PFC-04"),
    *("ACK-03", "CNP-03", "CNP-04", "CNP-05", "CM-09"),
}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_corrupted_capture_breaks_exactly_its_rules(scenario: Scenario) -> None:
    assert set(broken_rules(scenario.frames(), **scenario.options)) == scenario.rules


def test_every_rule_that_an_observer_can_see_has_a_capture_that_breaks_it() -> None:
    shown = {rule for scenario in SCENARIOS for rule in scenario.rules}
    observable = {rule.id for rule in RULES.values() if rule.observable}
    assert shown == observable - NEVER_BY_THEMSELVES
