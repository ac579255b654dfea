# SPDX-License-Identifier: BSD-2-Clause
"""The laws of the scenarios hold, and each of them fails where what it is about is otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from roceproof.conformance.scenarios.catalogue import SCENARIOS
from roceproof.conformance.scenarios.event_model import play
from roceproof.conformance.scenarios.line import efficiency, line_bytes, packets, windowed
from roceproof.conformance.scenarios.run import run
from roceproof.conformance.scenarios.scenario import Row, Scenario

QUICK = ("daq-size", "daq-loss-flags", "light-pause", "radio-fair", "radio-pfc-victim")


def judge(scenario: Scenario) -> None:
    """Play it quickly; then change what was measured until each law has failed."""
    result = run(scenario, quick=True)
    assert [check for check in result.checks if not check.passed] == []
    failed = [False] * len(result.checks)
    swept = {key for point in scenario.points(True, 1) for key in point.words}
    for rows in _changed(list(result.rows), swept):
        for number, check in enumerate(scenario.checks(rows)):
            failed[number] |= not check.passed
    assert [check.name for check, seen in zip(result.checks, failed, strict=True) if not seen] == []


def _changed(rows: list[Row], swept: set[str]) -> Iterator[list[Row]]:
    """One measured column at a time: of all rows, half of them, or one alone, less or more."""
    places = range(len(rows))
    some = [{*places}, {*places[::2]}, {*places[1::2]}, *({place} for place in places)]
    numbers = {key for row in rows for key, got in row.items() if type(got) in (int, float)}
    for key in sorted(numbers - swept):
        for factor, more in ((0, 0), (0.2, 0), (3, 10**6)):
            for chosen in some:
                yield [
                    {**row, key: row[key] * factor + more}
                    if number in chosen and key in row
                    else row
                    for number, row in enumerate(rows)
                ]


@pytest.mark.parametrize("name", QUICK)
def test_laws_hold_and_can_fail(name: str) -> None:
    judge(SCENARIOS[name])


@pytest.mark.whole
@pytest.mark.parametrize("name", sorted(SCENARIOS.keys() - set(QUICK)))
def test_laws_of_larger_scenarios_hold_and_can_fail(name: str) -> None:
    judge(SCENARIOS[name])


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
        with subtests.test(scenario.id):
            first = next(iter(scenario.points(True, 1)))
            assert play(replace(first.network, until=1, since=0)).now <= 1
