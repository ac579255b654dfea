# SPDX-License-Identifier: BSD-2-Clause
"""What random plans have found of the endpoint that sends again what is lost, or of its judge."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from random_devices import opener

from roceproof.common.paths import RECOVERY_DUT
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.dpi.manifest.dut import load_manifest

pytestmark = pytest.mark.sim

RNR, SEQUENCE_ERROR, ACCESS_ERROR = 0x23, 0x60, 0x62


@pytest.fixture(scope="module")
def endpoint() -> HdlFactory:
    return HdlFactory(load_manifest(RECOVERY_DUT), data_width=64)


@pytest.fixture
def play(endpoint: HdlFactory) -> Iterator[Play]:
    with opener(endpoint)(1, None) as bench:
        found = Play(bench)
        yield found
        found.finish()


@pytest.mark.parametrize(("before", "service"), [("idle", "UC"), ("connect", "UC")])
def test_a_queue_pair_of_another_service_has_another_judge(
    play: Play, before: str, service: str
) -> None:
    getattr(play, before)(key=0)
    play.connect(key=0, service=service)


def test_a_copy_that_leaves_behind_its_acknowledgement_starts_no_timer(play: Play) -> None:
    play.connect(key=10, ack_timeout=2)
    play.post(key=10)
    play.wait(ns=444)
    play.answer(key=10, syndrome=SEQUENCE_ERROR)
    play.answer(key=10)


def test_what_waits_for_its_payload_is_withheld_in_an_rnr_wait(play: Play) -> None:
    play.connect(key=0, path_mtu=4096)
    play.post(key=0, size=5000, count=2)
    play.until()
    play.answer(key=0, syndrome=RNR)
    play.disturb(payload_gap=90)
    play.until()
    play.until()


def test_the_end_in_an_rnr_wait_lets_nothing_out(play: Play) -> None:
    play.connect(key=0)
    play.post(key=0, count=9)
    play.until()
    play.answer(key=0, syndrome=RNR)
    play.until(frames=12)
    play.until()
    play.answer(key=0, syndrome=ACCESS_ERROR)


def test_who_is_slowed_down_by_notifications_is_not_accused(play: Play) -> None:
    for key, service in enumerate(("RC", "UC")):
        play.connect(key=key, service=service, path_mtu=4096)
        play.post(key=key, size=20_000, count=2)
        play.until()
        play.notify(key=key, count=4)
    play.until(frames=8)
    play.answer(key=0, oldest=1, syndrome=SEQUENCE_ERROR)
    play.notify(key=0, count=4)
    play.post(key=0, op="READ", size=9000)
