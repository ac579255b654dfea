# SPDX-License-Identifier: BSD-2-Clause
"""What a busy host takes from a machine is not counted, within reason."""

from __future__ import annotations

import pytest

from roceproof.conformance.interop import stopwatch
from roceproof.conformance.interop.stopwatch import LONGEST, Stopwatch

NS = 1_000_000_000


class Times:
    """Of the host."""

    now = 100.0
    guest = own = 7 * NS

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Times:
    times = Times()
    monkeypatch.setattr(stopwatch, "time", times)
    monkeypatch.setattr(stopwatch, "held_up_ns", lambda: times.own)
    return times


def test_time_without_a_processor_is_not_counted(times: Times) -> None:
    watch = Stopwatch(lambda: times.guest)
    times.now += 61
    assert watch.is_over(60)
    times.guest += 2 * NS
    assert not watch.is_over(60)
    assert watch.held_up_seconds() == 2
    times.now += 2
    assert watch.is_over(60)
    times.own += 4 * NS
    assert not watch.is_over(60)


def test_there_is_an_end_on_any_host(times: Times) -> None:
    watch = Stopwatch(lambda: times.guest)
    times.guest += 10_000 * NS
    times.now += LONGEST * 60
    assert not watch.is_over(60)
    times.now += 1
    assert watch.is_over(60)


def test_a_machine_that_has_ended_is_not_waited_for(times: Times) -> None:
    watch = Stopwatch(lambda: times.guest)
    times.guest = 0
    times.now += 61
    assert watch.is_over(60)
