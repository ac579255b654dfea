# SPDX-License-Identifier: BSD-2-Clause
"""Each spoilt capture breaks exactly the rules it is named for, and no rule is left out."""

from __future__ import annotations

import pytest
import spoilt_datagrams
import spoilt_headers
import spoilt_links
import spoilt_requests
import spoilt_responses
from scenarios import SCENARIOS, Scenario, broken_rules

from roceproof.conformance.rules.table import RULES

REGISTERED = (
    spoilt_datagrams,
    spoilt_headers,
    spoilt_links,
    spoilt_requests,
    spoilt_responses,
)
NEVER_BY_THEMSELVES = {
    *("VLAN-01", "UC-01", "PFC-04"),
    *("ACK-03", "CNP-03", "CNP-04", "CNP-05", "CNP-10", "CM-09"),
}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_spoilt_capture_breaks_exactly_its_rules(scenario: Scenario) -> None:
    assert set(broken_rules(scenario.frames(), **scenario.options)) == scenario.rules


def test_every_rule_that_an_observer_can_see_has_a_capture_that_breaks_it() -> None:
    shown = {rule for scenario in SCENARIOS for rule in scenario.rules}
    observable = {rule.id for rule in RULES.values() if rule.observable}
    assert shown == observable - NEVER_BY_THEMSELVES
