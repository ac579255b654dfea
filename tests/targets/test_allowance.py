# SPDX-License-Identifier: BSD-2-Clause
"""No case goes on for ever, and none of a slow but right device is ended for it."""

from __future__ import annotations

import signal

import pytest

from roceproof.conformance.targets.hdl import allowance
from roceproof.conformance.targets.hdl.allowance import Allowance, Pace, within_processor_seconds
from roceproof.conformance.targets.interface import NoEnd

LITTLE = {"frames": 100, "asides": 100, "completions": 100}
ENDLESS = {"frames": 300_000, "asides": 3_000, "completions": 5_000}


@pytest.mark.parametrize("what", ENDLESS)
def test_more_than_was_asked_for_has_no_end(what: str) -> None:
    given = Allowance(100_000, asked=2)
    setattr(given, what, LITTLE[what])
    given.come(5_000)
    setattr(given, what, ENDLESS[what])
    with pytest.raises(NoEnd, match=r"came of the device in 5,000 cycles, and the case has"):
        given.come(5_000)
    given.ask(ENDLESS[what])
    given.come(5_000)  # who asks for much gets much


@pytest.mark.parametrize(("is_short", "waiting"), [(False, "65,537"), (True, "4,097")])
def test_frames_that_nobody_takes_are_not_sent_for_ever_and_answers_ask_for_nothing(
    *, is_short: bool, waiting: str
) -> None:
    given = Allowance(100_000, is_short=is_short)
    with pytest.raises(NoEnd, match=rf"^{waiting} frames wait for the device: rx_tready_o is low"):
        for _ in range(1 << 20):
            given.send(is_answer=True)
    assert given.asked == 0


@pytest.mark.parametrize(("claimed", "most"), [(1_000, 200_000_000), (10_000_000, 20_000_000_000)])
def test_simulated_time_is_bounded_by_what_the_manifest_claims(claimed: int, most: int) -> None:
    Allowance(claimed).come(most)
    with pytest.raises(NoEnd, match="and no end; a case lasts"):
        Allowance(claimed).come(most + 1)


def test_processor_seconds_are_the_last_guard_and_accuse_nobody() -> None:
    with pytest.raises(NoEnd) as caught, within_processor_seconds(0.05):
        while True:
            pass
    assert caught.value.is_late
    with within_processor_seconds(100):
        with within_processor_seconds(50):
            pass
        assert 50 < signal_left() < 101  # the outer guard still watches
    assert signal_left() == 0


def signal_left() -> float:
    return signal.getitimer(signal.ITIMER_VIRTUAL)[0]


def test_patience_shrinks_when_cases_have_hung_to_some_times_what_it_ever_took() -> None:
    pace = Pace()
    assert pace.answer_cycles(1_000_000, 36_000) == 1_000_000
    pace.longest, pace.hung = 50_000, 5
    assert pace.answer_cycles(1_000_000, 36_000) == 1_000_000
    pace.hung = 6
    assert pace.answer_cycles(1_000_000, 36_000) == 200_000
    pace.longest_taken = 10_000  # what is offered to it, it took sooner
    assert pace.taken_cycles(200_000, 1_600) == 40_000
    pace.longest = 900_000  # a slow device keeps its patience
    assert pace.answer_cycles(1_000_000, 36_000) == 1_000_000


@pytest.mark.parametrize(("first_ns", "seconds"), [(10**5, 2), (10**7, 10), (10**8, 20)])
def test_behind_its_first_slice_a_process_waits_no_longer_than_that_explains(
    first_ns: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = iter([0, first_ns])
    monkeypatch.setattr(allowance, "ran_ns", lambda pid: next(ran))
    pace = Pace()
    assert pace.slice_seconds == 20
    with pace.slice_of(1):
        pass
    assert pace.slice_seconds == seconds


def test_a_slice_of_time_may_take_many_times_as_long_as_any_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = iter([0, 10**6] * 5 + [0, 5 * 10**7, 0, 3 * 10**9])
    monkeypatch.setattr(allowance, "ran_ns", lambda pid: next(ran))
    pace = Pace()
    assert pace.slice_seconds == 20
    for _ in range(5):
        with pace.slice_of(1):
            pass
    assert pace.slice_seconds == 2
    with pace.slice_of(1):
        pass
    assert pace.slice_seconds == 10
    pace.has_stood = True
    assert pace.slice_seconds == 1
    pace.hung = 6
    assert pace.slice_seconds == 0.25
    pace.has_stood, pace.hung = False, 0
    with pace.slice_of(1):
        pass
    assert pace.slice_seconds == 20
