# SPDX-License-Identifier: BSD-2-Clause
"""A busy host excuses what it can have delayed, and no more."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import cast

import pytest

from roceproof.conformance.suite.delay import TRIES, Delay, again_where_held_up
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import Patience, Target


class Busy:
    """Of a target what its host has delayed so far."""

    def __init__(self, held_up_ns: int) -> None:
        self.ns = held_up_ns
        self.patience = Patience(1, 1)
        self.now_ns = 0

    def held_up_ns(self) -> int:
        return self.ns


@pytest.mark.parametrize(
    ("before", "after", "measured", "within"),
    [
        (900, 900, 100, 0),  # all of it came earlier in the case
        (900, 930, 100, 30),
        (900, 2000, 100, 100),  # several threads
        (900, 0, 100, 0),  # the device has ended, and its count with it
    ],
)
def test_a_delay_is_of_the_time_measured(
    before: int, after: int, measured: int, within: int
) -> None:
    busy = Busy(before)
    delay = Delay(cast(Target, busy))
    busy.ns = after
    assert delay.within_ns(measured) == within


def test_a_target_that_is_watched_is_as_busy() -> None:
    assert ForwardingTarget(cast(Target, Busy(7))).held_up_ns() == 7


@pytest.mark.parametrize(
    ("held_up", "failures", "runs", "passes"),
    [(50, 1, 2, True), (50, TRIES, TRIES, False), (49, 1, 1, False), (0, 0, 1, True)],
)
def test_a_case_that_failed_on_a_busy_host_is_tried_again_and_no_other(
    held_up: int, failures: int, runs: int, passes: bool
) -> None:
    busy, ran = Busy(0), []

    @again_where_held_up(lambda bench: 50)
    def case(bench: SimpleNamespace, name: str) -> None:
        ran.append(name)
        busy.ns += held_up
        busy.now_ns += 1000
        if len(ran) <= failures:
            raise CaseFailed("late")

    with nullcontext() if passes else pytest.raises(CaseFailed):
        case(SimpleNamespace(target=busy), name="one")
    assert ran == ["one"] * runs
