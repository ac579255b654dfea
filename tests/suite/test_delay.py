# SPDX-License-Identifier: BSD-2-Clause
"""A busy host excuses what it can have delayed, and no more."""

from __future__ import annotations

from typing import cast

import pytest

from roceproof.conformance.suite.delay import Delay
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import Patience, Target


class Busy:
    """Of a target what its host has delayed so far."""

    def __init__(self, held_up_ns: int) -> None:
        self.ns = held_up_ns
        self.patience = Patience(1, 1)

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
