# SPDX-License-Identifier: BSD-2-Clause
"""All scenarios that come along, by their ids."""

from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.conformance.scenarios import daq, light, radio, sharing, wan
from roceproof.conformance.scenarios.frames import exchange, fpga, gaps, live, many, multicast, once
from roceproof.conformance.scenarios.hosts import blast, solicited, verbs
from roceproof.conformance.scenarios.own import own_scenario
from roceproof.conformance.scenarios.scenario import AnyScenario

SCENARIOS: dict[str, AnyScenario] = {
    scenario.id: scenario
    for scenario in (
        *wan.SCENARIOS,
        *once.SCENARIOS,
        *sharing.SCENARIOS,
        *daq.SCENARIOS,
        *exchange.SCENARIOS,
        *many.SCENARIOS,
        *solicited.SCENARIOS,
        *fpga.SCENARIOS,
        *light.SCENARIOS,
        *gaps.SCENARIOS,
        *live.SCENARIOS,
        *radio.SCENARIOS,
        *multicast.SCENARIOS,
        *verbs.SCENARIOS,
        *blast.SCENARIOS,
    )
}


def scenario_of(name: str) -> AnyScenario:
    """The scenario of that id, or in the TOML file of that name."""
    if name in SCENARIOS:
        return SCENARIOS[name]
    if name.endswith(".toml"):
        return own_scenario(Path(name))
    raise RoceproofError(f"{name}: no such scenario; roceproof scenario list names them")
