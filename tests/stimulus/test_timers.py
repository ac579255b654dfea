# SPDX-License-Identifier: BSD-2-Clause
"""A device whose timer runs out amid a message may say so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from random_devices import opener

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.requester.policy import RequesterPolicy, Retransmission
from roceproof.conformance.stimulus.drawing.waiting import HISTORIES, Side, histories_of, steps_of
from roceproof.conformance.stimulus.requester.pace import Pace
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory

CODE, TICK_NS = 3, 16_384
PACKETS = 250  # for 85 us, four times what the timer may take


@contextmanager
def play_of(**policy: int) -> Iterator[Play]:
    """A player of plans with a device that never tries again."""
    habits = RequesterPolicy(retransmission=Retransmission.NONE, **policy)
    source = ModelFactory(components=Components(requester_policy=habits))
    claims = replace(
        source.claims, capabilities=source.claims.capabilities - {Capability.RETRANSMISSION}
    )
    with source.device(CasePlace(name="timers", seed=1)) as target:
        yield Play(Bench(target, claims, seed=1))


@pytest.mark.parametrize("timeout_percent", [150, 390])
def test_a_timeout_amid_a_message_is_right(timeout_percent: int) -> None:
    with play_of(ack_interval=2, timeout_percent=timeout_percent) as play:
        play.connect(key=0, ack_timeout=1, path_mtu=256)
        play.post(key=0, op="WRITE", size=256 * PACKETS)
        play.finish()


def test_a_timer_may_run_while_the_first_packet_is_held_back() -> None:
    with play_of() as play:
        play.connect(key=0, path_mtu=1024, ack_timeout=2)
        play.disturb(tx_stall=99)
        play.post(key=0, size=9217)
        play.until()
        play.finish()


def test_a_timer_may_run_while_its_packet_is_stored_behind_another() -> None:
    pace = Pace()
    pace.posts(4096)
    pace.begun_ns(4174, 13_340)
    assert 9_000 < pace.begun_ns(82, 13_430) <= 10_000


def live(play: Play, histories: list[str]) -> None:
    """Each on a queue pair of its own."""
    spec = {"path_mtu": 256, "ack_timeout": CODE}
    sides = [
        Side(key, {**spec, "local_qpn": 16 + key}, op="SEND", places=16)
        for key in range(len(histories))
    ]
    for step in steps_of(sides, histories, TICK_NS):
        step.apply(play)
    play.finish()


def test_a_healthy_device_lives_through_every_history() -> None:
    with play_of(timeout_percent=150) as play:
        live(play, histories_of(play.bench.claims))


@pytest.mark.parametrize("timeout_percent", [60, 900])
@pytest.mark.parametrize("history", ["p", "pp a", "p n - - p", "pp ap ap ap"])
def test_a_timer_that_is_early_or_late_shows_in_every_history(
    history: str, timeout_percent: int
) -> None:
    with play_of(timeout_percent=timeout_percent) as play, pytest.raises(CaseFailed):
        live(play, [history])


def test_what_is_left_out_for_a_device_that_takes_no_command_amid_work() -> None:
    with play_of() as play:
        assert 0 < len(histories_of(play.bench.claims)) < len(HISTORIES)


@pytest.mark.parametrize("answer", [{"ahead": 1}, {}])
def test_an_answer_may_wait_behind_others_for_longer_than_a_timeout(
    model: ModelFactory, answer: dict[str, int]
) -> None:
    with opener(model)(1, None) as bench:
        play = Play(bench)
        play.connect(key=0, ack_timeout=1)
        play.post(key=0)
        play.until()
        play.answer(key=0, flaw="icrc", bit=5, count=1100)
        play.answer(key=0, **answer)
        play.finish()
