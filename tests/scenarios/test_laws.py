# SPDX-License-Identifier: BSD-2-Clause
"""The laws of the scenarios hold, and each of them fails where what it is about is otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from laws import HDL, LIVE, judge

from roceproof.conformance.scenarios.catalogue import SCENARIOS
from roceproof.conformance.scenarios.event_model import play
from roceproof.conformance.scenarios.line import efficiency, line_bytes, packets, windowed
from roceproof.conformance.scenarios.run import run
from roceproof.conformance.scenarios.scenario import Scenario

QUICK = (
    "daq-loss-flags",
    "daq-size",
    "daq-solicited",
    "fpga-rate",
    "light-pause",
    "radio-fair",
    "radio-pfc-victim",
    "verbs-push-pull",
)


@pytest.mark.parametrize("name", QUICK)
def test_laws_hold_and_can_fail(name: str, tmp_path: Path) -> None:
    judge(SCENARIOS[name], tmp_path)


@pytest.mark.whole
@pytest.mark.parametrize("name", sorted(SCENARIOS.keys() - {*QUICK, *HDL, *LIVE}))
def test_laws_of_larger_scenarios_hold_and_can_fail(name: str, tmp_path: Path) -> None:
    judge(SCENARIOS[name], tmp_path)


def test_a_result_says_the_same_however_many_play_it() -> None:
    one, two = (run(SCENARIOS["daq-starve"], quick=True, jobs=jobs) for jobs in (1, 3))
    assert one.document() == two.document()


def test_line_time_is_charged_as_a_switch_sees_it() -> None:
    assert packets(1, 1024) == packets(1024, 1024) == packets(0, 1024) == 1
    assert line_bytes(4096, 4096) == 4096 + 58 + 4 + 20 + 16
    assert line_bytes(4097, 4096, immediate=True) == 4100 + 2 * 82 + 16 + 4
    assert round(efficiency(1 << 30, 4096), 4) == 0.9804
    assert windowed(1e9, 1.0, size=1000, depth=1, mtu=1024) == pytest.approx(8000, rel=1e-3)


def test_networks_of_all_scenarios_are_read(subtests) -> None:
    for scenario in SCENARIOS.values():
        if not isinstance(scenario, Scenario):
            continue
        with subtests.test(scenario.id):
            first = next(iter(scenario.points(True, 1)))
            assert play(replace(first.network, until=1, since=0)).now <= 1
