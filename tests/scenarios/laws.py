# SPDX-License-Identifier: BSD-2-Clause
"""Proves of a scenario that its laws hold, and that each of them can fail."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from roceproof.conformance.scenarios.run import run
from roceproof.conformance.scenarios.scenario import AnyScenario, Row

HDL = (
    "daq-many-frames",
    "fpga-icrc",
    "fpga-jumbo",
    "fpga-psn",
    "fpga-twin",
    "light-gaps",
    "wan-loss-frames",
)
"""Those that build a device."""
LIVE = ("light-live",)
"""Those that need a guest."""


def judge(scenario: AnyScenario, folder: Path, *, quick: bool = True) -> None:
    """Play it; then change what was measured until each law has failed."""
    result = run(scenario, quick=quick, folder=folder)
    assert result.checks
    broken = [check for check in result.checks if not check.passed]
    assert broken == [], broken
    failed = [False] * len(result.checks)
    swept = {key for point in scenario.points(quick, 1) for key in point.words}
    for rows in _changed(list(result.rows), swept):
        for number, check in enumerate(scenario.checks(rows)):
            failed[number] |= not check.passed
    unseen = [check.name for check, seen in zip(result.checks, failed, strict=True) if not seen]
    assert unseen == [], unseen


def _changed(rows: list[Row], swept: set[str]) -> Iterator[list[Row]]:
    """One measured column at a time: of all rows, half of them, or one alone, less or more."""
    places = range(len(rows))
    alone = places[:: 1 + len(rows) // 200 * 2]  # odd, so that it meets every word of a sweep
    some = [{*places}, {*places[::2]}, {*places[1::2]}, *({place} for place in alone)]
    numbers = {key for row in rows for key, got in row.items() if type(got) in (int, float)}
    for key in sorted(numbers - swept):
        for factor, more in ((1e-9, 0), (0.2, 0), (3, 10**6)):
            for chosen in some:
                yield [
                    {**row, key: row[key] * factor + more}
                    if number in chosen and key in row
                    else row
                    for number, row in enumerate(rows)
                ]
    words = {key for row in rows for key, got in row.items() if type(got) is str}
    for key, other in product(sorted(words - swept), ("otherwise", "")):
        yield [{**row, key: other} for row in rows]
