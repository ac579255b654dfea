# SPDX-License-Identifier: BSD-2-Clause
"""Of MSNs that contradict each other both observers accuse the few, wherever these stand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from roce_check import RoceCheck

sys.path.insert(0, str(Path(__file__).parents[1] / "conformance"))

from healthy_capture import SEND, Sender, ack, answer, frames_of
from scenarios import findings_of

from roceproof.conformance.wire.codec import Packet

BEFORE = 40
"""Messages that nobody saw."""
COUNT = 6


@pytest.fixture(scope="module")
def check(build: Path, tmp_path_factory: pytest.TempPathFactory) -> RoceCheck:
    return RoceCheck(build / "roce-check", tmp_path_factory.mktemp("msn"))


def told(check: RoceCheck, packets: list[Packet]) -> list[tuple[int, str]]:
    """What both say: frame and rule."""
    frames = frames_of(packets)
    in_python = sorted((each.frame, each.rule.id) for each in findings_of(frames))
    assert [place[:2] for place in check.frames(frames).places] == in_python
    return in_python


def sent() -> list[Packet]:
    sender = Sender(psn=100)
    return [packet for _ in range(COUNT) for packet in sender.message(SEND, 4)]


def acks(place: int, by: int) -> list[Packet]:
    """One ACK for each message, of which one counts otherwise."""
    return [ack(100 + n, BEFORE + n + 1 + (by if n == place else 0)) for n in range(COUNT)]


@pytest.mark.parametrize("by", [1, 2, 500, -1, -30])
@pytest.mark.parametrize("place", range(COUNT))
def test_a_lone_wrong_msn_is_told_and_no_other(check: RoceCheck, place: int, by: int) -> None:
    in_turn = [each for pair in zip(sent(), acks(place, by), strict=True) for each in pair]
    assert told(check, in_turn) == [(2 * place + 2, "MSN-02")]


@pytest.mark.parametrize("by", [-1, -30, 500])
@pytest.mark.parametrize("place", range(COUNT))
def test_so_it_is_where_all_is_sent_first(check: RoceCheck, place: int, by: int) -> None:
    assert told(check, [*sent(), *acks(place, by)]) == [(COUNT + place + 1, "MSN-02")]


@pytest.mark.parametrize("place", range(COUNT))
def test_a_responder_may_count_more_than_it_acknowledges(check: RoceCheck, place: int) -> None:
    ahead = min(2, COUNT - 1 - place)
    assert told(check, [*sent(), *acks(place, ahead)]) == []


@pytest.mark.parametrize("by", [500, -30])
@pytest.mark.parametrize("place", range(1, COUNT))
def test_so_it_is_without_the_requests(check: RoceCheck, place: int, by: int) -> None:
    assert told(check, acks(place, by)) == [(place + 1, "MSN-02")]


def test_of_the_first_without_the_requests_the_next_two_tell(check: RoceCheck) -> None:
    assert told(check, acks(0, 500)) == [(1, "MSN-02")]


def test_two_that_contradict_each_other_are_told_at_the_second(check: RoceCheck) -> None:
    in_turn = [each for pair in zip(sent(), acks(0, 1), strict=True) for each in pair]
    assert told(check, in_turn[:4]) == [(4, "MSN-02")]


def test_an_msn_that_skips_is_told_once(check: RoceCheck) -> None:
    late = [ack(100 + n, BEFORE + n + 1 + (n > 2)) for n in range(COUNT)]
    in_turn = [each for pair in zip(sent(), late, strict=True) for each in pair]
    assert told(check, in_turn)[0] == (8, "MSN-02")


def test_a_wrong_msn_in_front_of_a_read_accuses_none_of_its_responses(check: RoceCheck) -> None:
    sender = Sender(psn=99)
    packets = [*sender.message(SEND, 4), ack(99, 1), sender.read(2 * 256 + 5)]
    packets += [answer(0x0D, 100, 9, 256), answer(0x0E, 101, 2, 256), answer(0x0F, 102, 2, 5)]
    packets += [*sender.message(SEND, 4), ack(103, 3)]
    assert told(check, packets) == [(4, "MSN-02")]
